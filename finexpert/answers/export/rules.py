"""The rules of an exported script, node by node of its tree.

refusals(ast.parse("answer = np.load('x')"), [], [])   ->   (1, "np.load")
"""

from __future__ import annotations

import ast
import builtins
import re
import string
from collections.abc import Collection, Iterator

from finexpert.answers.export import allowed, conditions

_HIDDEN = re.compile(r"__\w+__")
_FIRST_BY_NAME = 3


def refusals(tree: ast.AST, frames: Collection[str], columns: Collection[str]) -> Iterator[tuple[int, str]]:
    """The lines with the words for which they are refused."""
    rules = _Rules(tree, frames, columns)
    for node in ast.walk(tree):
        if word := rules.refused(node):
            yield getattr(node, "lineno", 1), word


class _Rules:
    """The rules over one tree: which names stand for modules, which are the script's own."""

    def __init__(self, tree: ast.AST, frames: Collection[str], columns: Collection[str]) -> None:
        self._modules = modules_of(tree)
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
        self._above = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def refused(self, node: ast.AST) -> str | None:
        """The word for which a node is refused; None if it may stand."""
        if not isinstance(node, allowed.SYNTAX):
            return f"class {node.name}" if isinstance(node, ast.ClassDef) else type(node).__name__.lower()
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
            case ast.FunctionDef(name=name) | ast.ExceptHandler(name=str() as name) | ast.arg(arg=name):
                return self._binding(name)
            case ast.alias(asname=str() as name):
                return name if name.startswith("__") or name in allowed.AROUND else None
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
        if not isinstance(node.ctx, ast.Load):
            return self._binding(node.id)
        if node.id in allowed.ONLY_COMPARED and not self._is_compared(node):
            return node.id
        if node.id in self._modules:
            return None if id(node) in self._roots else node.id
        known = node.id in self._own or node.id in allowed.BUILTINS or node.id in allowed.EXCEPTIONS
        return None if known and not (node.id.startswith("__") and node.id != "__name__") else node.id

    def _binding(self, name: str) -> str | None:
        """What a script calls its own: no module, nothing of Python's, nothing that stands around it."""
        taken = self._modules.keys() | allowed.AROUND | set(dir(builtins))
        return name if name in taken or name.startswith("__") else None

    def _is_compared(self, node: ast.expr) -> bool:
        """Whether a class is but compared, or said, and so nothing can be made of it; `type` is called with one value."""
        at: ast.AST = node
        if isinstance(node, ast.Name):
            at = self._above[id(node)]
            if not (isinstance(at, ast.Call) and at.func is node and len(at.args) == 1 and not at.keywords):
                return False
        above = self._above[id(at)]
        while isinstance(above, ast.Tuple | ast.BinOp | ast.Subscript):
            at, above = above, self._above[id(above)]
        match above:
            case ast.Compare() | ast.FormattedValue() | ast.arg() | ast.AnnAssign(annotation=ast.expr()):
                return not (isinstance(above, ast.AnnAssign) and above.annotation is not at)
            case ast.FunctionDef():
                return above.returns is at
            case ast.Call(func=ast.Name(id=name)):
                return name in ("isinstance", "issubclass", "str", "repr") and at in above.args
        return False

    def _attribute(self, node: ast.Attribute) -> str | None:
        words = chain(node)
        of_module = bool(words) and words[0] in self._modules
        if node.attr == "format":
            return None if _is_plain_format(node.value) else ast.unparse(node)[:60]
        # `w = pd.DataFrame.to_csv` is a way to write a file as much as `df.to_csv` is.
        handed_on = node.attr in allowed.CALLED and id(node) not in self._called
        compared = ".".join(words) in allowed.ONLY_COMPARED and not self._is_compared(node)
        set_badly = not isinstance(node.ctx, ast.Load) and (of_module or node.attr not in allowed.SET)
        if handed_on or compared or set_badly:
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
        if not isinstance(node.func, ast.Attribute):
            return None
        name = node.func.attr
        if name in allowed.WRITERS and (node.args or any(one.arg is None for one in node.keywords)):
            return name
        if name in allowed.DRAWN and (
            len(node.args) > allowed.MOST_DRAWN or any(isinstance(one, ast.Starred) for one in node.args)
        ):
            return name
        if name in allowed.TABLES_BY_NAME:
            given = [*node.args[_FIRST_BY_NAME:], *(one.value for one in node.keywords if one.arg == "aggfunc")]
            starred = any(isinstance(one, ast.Starred) for one in node.args)
            return name if starred or not all(self._is_function(one) for one in given) else None
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
                return chain(node)[:1] != [] and chain(node)[0] in self._modules
            case ast.Call(func=ast.Attribute() as called):
                return (
                    chain(called)[:1] == ["pd"]
                    and called.attr == "NamedAgg"
                    and len(node.args) + len(node.keywords) <= len(("column", "aggfunc"))
                    and all(self._is_function(one) for one in (*node.args[1:], *(one.value for one in node.keywords)))
                )
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return all(self._is_function(one) for one in parts)
            case ast.Dict(values=parts, keys=keys):
                return None not in keys and all(self._is_function(one) for one in parts)
            case ast.Name(id=name):
                return name in self._functions or (name in allowed.BUILTINS and name not in self._own)
        return False


def _is_plain_format(text: ast.expr) -> bool:
    """Whether a text that is filled in is spelled out and names no attribute, as `{0.name}` would."""
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        return False
    try:
        parts = list(string.Formatter().parse(text.value))
    except ValueError:
        return False
    return not any(set(".[") & set(field or "") or "{" in (form or "") for _, field, form, _ in parts)


def chain(node: ast.expr) -> list[str]:
    """The words of `a.b.c`; none where it begins with anything but a name."""
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


def modules_of(tree: ast.AST) -> dict[str, str]:
    """The names that stand for modules, with the modules; none of the list for a name that stands for two."""
    found = dict(allowed.PREDEFINED)
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            name, module = alias.asname or alias.name.partition(".")[0], alias.name
            if isinstance(node, ast.ImportFrom):
                module = f"{node.module}.{alias.name}"
            elif not alias.asname:
                module = name
            if isinstance(node, ast.Import) or module in allowed.LISTED or name in allowed.PREDEFINED:
                same = found.get(name, module) == module
                found[name] = module if same else ""
    return found
