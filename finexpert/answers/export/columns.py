"""Columns that a script reads as attributes: in an exported script they are read as columns and as nothing else.

    as_columns("answer = df.net_sales.max()")   ->   "answer = column_of(df, 'net_sales').max()"

`df.env` is a column where there is one of this name, else whatever else stands behind it. A name that is not on the list of
attributes is asked for as a column.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from finexpert.answers.export import allowed
from finexpert.answers.export.rules import chain, modules_of
from finexpert.core.syntax import parse

NAME = "column_of"
SOURCE = f'''def {NAME}(value: Any, name: str) -> Any:
    """A column, or the field of a row, by its name; never another attribute."""
    fields = getattr(type(value), "_fields", ())
    return tuple.__getitem__(value, fields.index(name)) if name in fields else value[name]'''


def as_columns(code: str) -> str:
    """The code with every attribute that is not of the list read as a column; as it is where there is none.

    >>> as_columns("answer = df.sales.sum()  # all")
    "answer = column_of(df, 'sales').sum()  # all"
    """
    tree = parse(code)
    modules = modules_of(tree)
    found = [node for node in ast.walk(tree) if _is_column(node, modules)]
    if not found:
        return code
    kept = _replaced(code, found)
    changed = ast.unparse(_Columns(modules).visit(tree))
    try:
        same = ast.dump(ast.parse(kept)) == ast.dump(ast.parse(changed))
    except SyntaxError:
        same = False
    # Within an f-string older Pythons do not know where a part stands: then the comments go.
    return kept if same else changed


def _is_column(node: ast.AST, modules: Collection[str]) -> bool:
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return False
    return node.attr not in allowed.attributes() | {"format"} and (not chain(node) or chain(node)[0] not in modules)


def _replaced(code: str, found: list[ast.AST]) -> str:
    """The code with `x.name` as `column_of(x, 'name')` at these places, and all else as it is written."""
    lines = [line.encode() for line in code.splitlines(keepends=True)]
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    edits: list[tuple[int, int, bytes]] = []
    for node in found:
        assert isinstance(node, ast.Attribute) and node.end_lineno and node.end_col_offset is not None  # noqa: PT018
        end = starts[node.end_lineno - 1] + node.end_col_offset
        start = starts[node.lineno - 1] + node.col_offset
        edits.append((end - len(node.attr.encode()) - 1, end, f", {node.attr!r})".encode()))
        edits.append((start, start, f"{NAME}(".encode()))
    whole = b"".join(lines)
    for start, end, text in sorted(edits, reverse=True):
        whole = whole[:start] + text + whole[end:]
    return whole.decode(errors="replace")


class _Columns(ast.NodeTransformer):
    """The same change on the tree."""

    def __init__(self, modules: Collection[str]) -> None:
        self._modules = modules

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A call in the place of a column."""
        column = _is_column(node, self._modules)
        self.generic_visit(node)
        return ast.Call(ast.Name(NAME, ast.Load()), [node.value, ast.Constant(node.attr)], []) if column else node
