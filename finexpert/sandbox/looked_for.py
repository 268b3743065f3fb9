"""Texts that a script looks for among the cells of its frames, and whether any cell was ever one.

    budget[budget.version.str.contains("approved")]     the versions are 'Draft' and 'Final': it was looked for, and never met

Whoever wrote the script saw no cell. Where a text meets nothing, what follows rests on a branch for the rest, or on no row. A script is
followed while it runs: what it compares and what came of it pass through a `Watch`, which changes neither.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

TESTED, MET = "_tested_", "_met_"
_WORD = re.compile(r"[^\W\d_]{3,}")
# A pattern for numbers takes a text apart, and picks out no row.
_NUMBERS = re.compile(r"\\d|\[0-9|\[1-9")
_NONE = frozenset(("nan", "none", "null", "nat", "n/a"))
_METHODS = frozenset(("contains", "startswith", "endswith", "match", "fullmatch", "isin", "eq"))
_SEARCHES = frozenset(("search", "match", "fullmatch", "findall"))
_DEEPEST = 6
_SAMPLE = 50
_MOST_CELLS = 200_000


@dataclass(frozen=True)
class Site:
    """A comparison with texts: one of a `group` has to be true, as of those joined by `or`."""

    node: ast.expr = field(repr=False)
    tested: ast.expr = field(repr=False)
    texts: tuple[str, ...]
    group: int

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word.casefold() for text in self.texts for word in _WORD.findall(text)) - _NONE


@dataclass(frozen=True)
class Unmet:
    """Texts that no cell of a column was, and the line on which they are looked for."""

    texts: tuple[str, ...]
    line: int
    frame: str
    column: str


def sites(tree: ast.Module) -> list[Site]:
    """The comparisons of a script that pick out what they name, in order.

    >>> [site.texts for site in sites(ast.parse("a = df[df.x.isin(['due', 'open'])]\\nb = [v for v in c if v != 'paid' and 'late' in v]"))]
    [('due', 'open'), ('late',)]

    What leaves rows out looks for nothing: a file without total rows is as good.

    >>> sites(ast.parse("total = df.x.str.contains('total')\\nanswer = df[~total].y.sum()"))
    []
    """
    return _Reading(tree).sites()


class _Reading:
    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.loads: dict[str, list[ast.expr]] = {}
        stores: dict[str, list[ast.AST]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    self.loads.setdefault(node.id, []).append(node)
                else:
                    stores.setdefault(node.id, []).append(self.above[node])
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and (name := _column(node)):
                self.loads.setdefault(name, []).append(node)
        # A list of texts with a name of its own.
        self.named = {
            name: set_by[0].value
            for name, set_by in stores.items()
            if len(set_by) == 1 and isinstance(set_by[0], ast.Assign)
        }

    def sites(self) -> list[Site]:
        found = []
        for node in ast.walk(self.tree):
            tested, said = _compared(node) if isinstance(node, ast.Compare | ast.Call) else (None, None)
            if tested is None or said is None or not isinstance(node, ast.expr):
                continue
            texts = _texts(self.named.get(said.id) if isinstance(said, ast.Name) else said)
            site = Site(node, tested, texts, id(self._top(node)))
            if site.words and not any(map(_NUMBERS.search, texts)) and not self._leaves_out(node):
                found.append(site)
        return found

    def _top(self, node: ast.AST) -> ast.AST:
        """The largest part around a comparison of which one branch has to hold."""
        while (above := self.above.get(node)) is not None:
            both = isinstance(above, ast.BoolOp) and isinstance(above.op, ast.And)
            both |= isinstance(above, ast.BinOp) and isinstance(above.op, ast.BitAnd)
            if both or (isinstance(above, ast.If) and node is not above.test and [node] != above.orelse):
                return node
            if isinstance(node, ast.stmt) and not isinstance(above, ast.If):
                return node
            node = above
        return node

    def _leaves_out(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether what a comparison gives is used to leave rows out alone."""
        while (above := self.above.get(node)) is not None and depth < _DEEPEST:
            if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not | ast.Invert):
                return True
            if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and above.func.attr == "drop":
                return True
            if isinstance(above, ast.If) and node is above.test:
                return isinstance(above.body[0], ast.Continue) and not above.orelse
            name = ""
            if isinstance(above, ast.Assign):
                target = above.targets[0]
                name = target.id if isinstance(target, ast.Name) else _column(target)
            elif isinstance(above, ast.FunctionDef):
                name = above.name
            if isinstance(above, ast.stmt) and not isinstance(above, ast.Return | ast.Expr | ast.For):
                uses = self.loads.get(name, [])
                return bool(uses) and all(self._leaves_out(use, depth + 1) for use in uses)
            node = above
        return False


def _column(node: ast.AST) -> str:
    """The name of a column that a subscript reads or sets, as no variable can be called."""
    named = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    return f"[{node.slice.value}]" if named and isinstance(node.slice.value, str) else ""  # type: ignore[attr-defined]


def _compared(node: ast.Compare | ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """What is tested and what it is compared with, as `df.x` and `['a', 'b']` of df.x.isin(['a', 'b'])."""
    if isinstance(node, ast.Compare):
        if len(node.ops) != 1:
            return None, None
        left, right = node.left, node.comparators[0]
        if isinstance(node.ops[0], ast.Eq):
            return (right, left) if isinstance(left, ast.Constant) else (left, right)
        if isinstance(node.ops[0], ast.In):
            return (right, left) if isinstance(left, ast.Constant) else (left, right)
        return None, None
    function = node.func
    if not isinstance(function, ast.Attribute) or not node.args:
        return None, None
    holder = function.value
    if function.attr in _SEARCHES and isinstance(holder, ast.Name) and holder.id == "re" and len(node.args) > 1:
        return node.args[1], node.args[0]
    if function.attr not in _METHODS:
        return None, None
    inner = holder.value if isinstance(holder, ast.Attribute) and holder.attr == "str" else holder
    return inner, node.args[0]


def _texts(node: ast.AST | None) -> tuple[str, ...]:
    if isinstance(node, ast.Constant):
        return (node.value,) if isinstance(node.value, str) else ()
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and node.elts:
        said = [each.value for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return tuple(said) if len(said) == len(node.elts) else ()
    return ()


def watched(code: str) -> tuple[ast.Module, list[Site]]:
    """The tree of a script whose comparisons pass through a `Watch`, and the comparisons as they were."""
    tree, plain = ast.parse(code), sites(ast.parse(code))
    tested = {id(site.tested): (TESTED, number) for number, site in enumerate(sites(tree))}
    met = {id(site.node): (MET, number) for number, site in enumerate(sites(tree))}

    class Passing(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            keys = [said[id(node)] for said in (tested, met) if id(node) in said]
            made = self.generic_visit(node)
            for name, number in keys:
                call = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(number), made], [])  # type: ignore[list-item]
                made = ast.copy_location(call, made)
            return made

    Passing().visit(tree)
    return ast.fix_missing_locations(tree), plain


class Watch:
    """What a script's comparisons looked at and met, over the cells of its frames. Changes no value, and raises nothing."""

    def __init__(self, frames: Mapping[str, pd.DataFrame], found: list[Site]) -> None:
        self._found = found
        self._looked: dict[int, tuple[str, str]] = {}
        self._met: set[int] = set()
        self._cells: dict[str, tuple[str, str]] = {}
        for place, column in _columns_of_texts(frames) if found else ():
            for cell in column:
                if isinstance(cell, str) and len(self._cells) < _MOST_CELLS:
                    self._cells.setdefault(cell.strip().casefold(), place)

    @property
    def names(self) -> dict[str, Callable[[int, Any], Any]]:
        return {TESTED: self._tested, MET: self._judged}

    def _tested(self, number: int, value: Any) -> Any:
        if number not in self._looked:
            for text in _some_texts(value):
                if (place := self._cells.get(text.strip().casefold())) is not None:
                    self._looked[number] = place
                    break
        return value

    def _judged(self, number: int, result: Any) -> Any:
        if number not in self._met:
            try:
                held = (
                    bool(np.any(pd.Series(result).fillna(False).astype(bool))) if _is_listed(result) else bool(result)
                )
            except (TypeError, ValueError):
                held = True
            if held:
                self._met.add(number)
        return result

    def unmet(self) -> list[list[Any]]:
        """Number of the comparison, frame and column of each that looked at cells and, with all of its group, met none."""
        held = {self._found[number].group for number in self._met}
        return [
            [number, *place] for number, place in sorted(self._looked.items()) if self._found[number].group not in held
        ]


def _is_listed(value: Any) -> bool:
    return isinstance(value, pd.Series | pd.Index | np.ndarray | list)


def _some_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, pd.Series | pd.Index | np.ndarray | pd.Categorical):
        if isinstance(value, np.ndarray) and value.ndim != 1:
            return
        yield from (each for each in list(value[:_SAMPLE]) if isinstance(each, str))


def _columns_of_texts(frames: Mapping[str, pd.DataFrame]) -> Iterator[tuple[tuple[str, str], Any]]:
    for name, frame in frames.items():
        for place, column in enumerate(frame.columns):
            cells = frame.iloc[:, place]
            if not (pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_datetime64_any_dtype(cells)):
                # A cell may also hold a list, which is no text and cannot be told apart by value.
                with contextlib.suppress(TypeError):
                    yield (name, str(column)), cells.dropna().unique()
