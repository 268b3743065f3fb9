"""What the code of an exported answer may say: names and attributes from a list, and nothing that is not on it.

    check("answer = gdp['value'].pct_change().max()", ["gdp"], ["value"])
    check("getattr(pd.io.common, 'o' + 's').system('x')", [], [])   ->   RecordError: line 1: `getattr` is not allowed

In the sandbox the operating system says what a script can do, so its code may be anything. An exported script is run by whoever reads it, with
nothing around it: here the code itself must be harmless, whoever wrote the record. What is refused can still be computed with `replay`.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.answers.export import allowed, conditions
from finexpert.core import syntax
from finexpert.errors import QueryError, RecordError
from finexpert.warehouse.isolated import select_rules

_HIDDEN = re.compile(r"__\w+__")


def check(code: str, frames: Collection[str], columns: Collection[str]) -> None:
    """Raises RecordError for code that may not stand in an exported script; it names the line and the word.

    >>> check("answer = float(gdp.value.mean() + np.log(2))", ["gdp"], ["value"])
    >>> check("answer = np.lib.format.os", [], [])
    Traceback (most recent call last):
    finexpert.errors.RecordError: line 1: `np.lib` is not allowed in an exported script: compute the answer again with `finexpert replay`
    """
    try:
        tree = syntax.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RecordError("the record's code is no Python: it cannot be exported") from None
    for name in frames:
        check_name(name)
    for line, word in _refusals(tree, frames, columns):
        raise RecordError(
            f"line {line}: `{word}` is not allowed in an exported script: compute the answer again with `finexpert replay`"
        )


def check_select(select: str, dialect: str, columns: Mapping[str, Sequence[str]]) -> None:
    """Raises RecordError for anything but one SELECT that reads these tables.

    >>> check_select("SELECT max(value) FROM cpi", "duckdb", {"cpi": ["value"]})
    >>> check_select("COPY cpi TO 'cpi.csv'", "duckdb", {"cpi": ["value"]})
    Traceback (most recent call last):
    finexpert.errors.RecordError: the record holds no SELECT over these tables: a COPY statement is not allowed: write exactly one SELECT
    """
    try:
        if dialect == "duckdb":
            with duckdb.connect(config={"python_enable_replacements": "false"}) as connection:
                select_rules.check_select(select, connection, columns, growth_rules=False)
        else:
            statements = sqlglot.parse(select, read=dialect)
            if len(statements) != 1 or not isinstance(statements[0], exp.Query):
                raise QueryError("it is no single SELECT")
    except (QueryError, SqlglotError, RecursionError) as error:
        raise RecordError(f"the record holds no SELECT over these tables: {error}") from error


def check_name(name: str) -> None:
    """Raises RecordError for a name that a frame of a script cannot have."""
    if (
        not (name.isidentifier() and name.isascii())
        or keyword.iskeyword(name)
        or name in allowed.RESERVED
        or hasattr(builtins, name)
        or name.startswith("_")
    ):
        raise RecordError(f"a frame of the record is called {name[:40]!r}, which is no name of a frame: it was changed")


def _refusals(tree: ast.AST, frames: Collection[str], columns: Collection[str]) -> Iterator[tuple[int, str]]:
    rules = _Rules(tree, frames, columns)
    for node in ast.walk(tree):
        if word := rules.refused(node):
            yield getattr(node, "lineno", 1), word


class _Rules:
    """The rules over one tree: which names stand for modules, which are the script's own."""

    def __init__(self, tree: ast.AST, frames: Collection[str], columns: Collection[str]) -> None:
        self._modules = dict(allowed.PREDEFINED) | _imported(tree)
        self._own = _bound(tree) | set(frames)
        self._columns = set(columns) | {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        } | {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}  # fmt: skip
        self._functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)} | {
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        # A module is named only to take something of it: whatever else is done with it could hand it on.
        self._called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        self._roots = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}

    def refused(self, node: ast.AST) -> str | None:
        """The word for which a node is refused; None if it may stand."""
        match node:
            case ast.Import():
                return next((f"import {one.name}" for one in node.names if one.name not in allowed.importable()), None)
            case ast.ImportFrom():
                return self._import_from(node)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.FunctionDef(name=name):
                return name if name.startswith("__") or name in self._modules else None
            case ast.ClassDef(name=name):
                # What stands in a class is an attribute whose name nobody asks for, such as __array_interface__: an address in memory.
                return f"class {name}"
            case ast.Constant(value=str() as text):
                return next(iter(_HIDDEN.findall(text)), None)
        return None

    def _import_from(self, node: ast.ImportFrom) -> str | None:
        module = node.module or ""
        if node.level or module not in allowed.LISTED:
            return next(
                (
                    f"from {module} import {one.name}"
                    for one in node.names
                    if f"{module}.{one.name}" not in allowed.LISTED
                ),
                None,
            )
        return next((one.name for one in node.names if not allowed.of_module(module, one.name)), None)

    def _name(self, node: ast.Name) -> str | None:
        if node.id in allowed.DANGEROUS:
            return node.id
        if isinstance(node.ctx, ast.Store):
            taken = self._modules.keys() | allowed.BUILTINS | {"query", "connection"}
            return node.id if node.id in taken or node.id.startswith("__") else None
        if node.id in self._modules:
            return None if id(node) in self._roots else node.id
        known = node.id in self._own or node.id in allowed.BUILTINS or node.id in allowed.EXCEPTIONS
        return None if known and not (node.id.startswith("__") and node.id != "__name__") else node.id

    def _attribute(self, node: ast.Attribute) -> str | None:
        words = _chain(node)
        of_module = bool(words) and words[0] in self._modules
        # `w = pd.DataFrame.to_csv` is a way to write a file as much as `df.to_csv` is.
        handed_on = node.attr in allowed.CALLED and id(node) not in self._called
        if handed_on or (of_module and not isinstance(node.ctx, ast.Load)):
            return ast.unparse(node)[:60]
        if of_module:
            return None if id(node) in self._roots else self._of_module(words)
        listed = node.attr in allowed.attributes() or node.attr in self._columns or node.attr in self._own
        hidden = node.attr.startswith("_") or node.attr.startswith(("read_", "print_"))
        return ast.unparse(node)[:60] if hidden or node.attr in allowed.NEVER or not listed else None

    def _of_module(self, words: list[str]) -> str | None:
        """Along `np.linalg.norm`: modules of the list, then one attribute of theirs, then attributes of values."""
        module, place = self._modules[words[0]], 1
        while place < len(words) and allowed.is_module(f"{module}.{words[place]}"):
            module, place = f"{module}.{words[place]}", place + 1
        taken = words[place : place + 1]
        # At its end it must be of a module, and no module itself: that could be handed on.
        if not taken or module not in allowed.LISTED or not allowed.of_module(module, taken[0]):
            return ".".join(words[: place + 1])
        hidden = [one for one in words[place + 1 :] if one in allowed.NEVER or one not in allowed.attributes()]
        return ".".join(words) if hidden else None

    def _call(self, node: ast.Call) -> str | None:
        if self._keywords(node):
            return ast.unparse(node.func)[:60]
        if isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) != 1:
            return "type"
        if not isinstance(node.func, ast.Attribute):
            return None
        name = node.func.attr
        if name in allowed.WRITERS and (node.args or any(one.arg is None for one in node.keywords)):
            return name
        if name in allowed.DRAWN and (
            len(node.args) > allowed.MOST_DRAWN or any(isinstance(one, ast.Starred) for one in node.args)
        ):
            return name
        if name == "query":
            return conditions.refused(node)
        if name in allowed.BY_NAME:
            given = [*node.args[:1], *(one.value for one in node.keywords if one.arg not in allowed.PLAIN_ARGUMENTS)]
            return None if all(self._is_function(one) for one in given) else name
        return None

    def _keywords(self, node: ast.Call) -> bool:
        """Whether a call has a keyword of the list, or keywords that nobody can read here."""
        for one in node.keywords:
            if one.arg is not None:
                names: list[object] = [one.arg]
            elif isinstance(one.value, ast.Dict):
                names = [key.value if isinstance(key, ast.Constant) else None for key in one.value.keys]
            else:
                own = isinstance(node.func, ast.Name) and node.func.id in self._functions
                names = [] if own or getattr(node.func, "attr", "") == "assign" else [None]
            if any(name is None or name in allowed.KEYWORDS for name in names):
                return True
        return False

    def _is_function(self, node: ast.expr) -> bool:
        """What may be given where a method's name or a function is meant; a text must be the name of a harmless method."""
        match node:
            case ast.Constant(value=str() as text):
                return (
                    (text in allowed.attributes() or text in self._columns)
                    and text not in allowed.NEVER | allowed.CALLED | {"plot"}
                    and not text.startswith("_")
                )
            case ast.Constant() | ast.Lambda() | ast.UnaryOp(operand=ast.Constant()):
                return True
            case ast.Attribute():
                return _chain(node)[:1] != [] and _chain(node)[0] in self._modules
            case ast.Call(func=ast.Attribute() as called):
                return (
                    _chain(called)[:1] == ["pd"]
                    and called.attr == "NamedAgg"
                    and all(self._is_function(one.value) for one in node.keywords)
                )
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return all(self._is_function(one) for one in parts)
            case ast.Dict(values=parts, keys=keys):
                return None not in keys and all(self._is_function(one) for one in parts)
            case ast.Name(id=name):
                return name in self._functions or (name in allowed.BUILTINS and name not in self._own)
        return False


def _chain(node: ast.expr) -> list[str]:
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return [node.id, *reversed(words)] if isinstance(node, ast.Name) else []


def _bound(tree: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    return names | {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _imported(tree: ast.AST) -> dict[str, str]:
    """The names that stand for modules, with the modules; none of the list for a name that stands for two."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            name, module = alias.asname or alias.name.partition(".")[0], alias.name
            if isinstance(node, ast.ImportFrom):
                module = f"{node.module}.{alias.name}"
            elif not alias.asname:
                module = name
            if isinstance(node, ast.Import) or module in allowed.LISTED or name in allowed.PREDEFINED:
                same = found.get(name, allowed.PREDEFINED.get(name, module)) == module
                found[name] = module if same else ""
    return found
