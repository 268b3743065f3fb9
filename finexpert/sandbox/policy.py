"""Early refusal of scripts that cannot work in the sandbox, in words that help to write a better one.

    >>> refusals("import os")[0]
    'line 1: `import os` is not allowed; the frames are variables already, and pandas, numpy, scipy, ... can be imported'
    >>> refusals("answer = float(gdp.query('value > 0')['value'].mean())")
    []

This is a courtesy, never the boundary: it is easily evaded, and everything it refuses is denied by the operating
system as well.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

_words = str.split

IMPORTABLE = frozenset(
    _words("""
    pandas numpy scipy sklearn statsmodels matplotlib mpl_toolkits datetime math cmath statistics collections
    itertools functools re json decimal fractions calendar typing dataclasses operator random string zoneinfo
    warnings dateutil time textwrap copy numbers enum bisect heapq contextlib abc __future__
""")
)

_BUILTINS = {
    "open": "no file can be opened; the frames are variables already",
    "eval": "write the expression itself",
    "exec": "write the statements themselves",
    "compile": "write the statements themselves",
    "__import__": "use an import statement",
    "input": "nobody answers; everything that is needed is in the frames",
    "breakpoint": "there is no debugger",
    "exit": "set `answer` and let the script end",
    "quit": "set `answer` and let the script end",
}

_DUNDERS = frozenset(
    _words("""
    __class__ __base__ __bases__ __mro__ __subclasses__ __globals__ __builtins__ __dict__ __code__ __closure__
    __loader__ __spec__ __getattribute__ __reduce__ __reduce_ex__ __self__ __func__ __module__ __import__
""")
)

_WRITERS = frozenset(
    _words("to_pickle to_parquet to_excel to_hdf to_sql to_feather to_clipboard to_stata to_gbq to_orc to_xml")
)
_WRITERS_WITH_PATH = frozenset(_words("to_csv to_json to_html to_latex to_markdown to_string"))
_NUMPY_FILES = frozenset(
    _words("load save savez savez_compressed savetxt loadtxt genfromtxt fromfile memmap DataSource")
)
_SYSTEM = frozenset(_words("os sys subprocess builtins ctypes importlib shutil socket"))


def _bound(tree: ast.AST) -> set[str]:
    """Every name that the script sets itself: `open = df["open"]` is a column, not the builtin."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return names | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _modules(tree: ast.AST) -> set[str]:
    """The names that stand for modules."""
    names = {"pd", "np", "plt", "dt", "math", "stats"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return names


def _import(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    wanted = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
    for name in wanted:
        if name.split(".")[0] not in IMPORTABLE:
            words = f"import {name}" if isinstance(node, ast.Import) else f"from {name} import"
            yield f"`{words}` is not allowed; the frames are variables already, and pandas, numpy, scipy, ... can be imported"


def _call(node: ast.Call, bound: set[str]) -> Iterator[str]:
    called = node.func
    if isinstance(called, ast.Name) and called.id in _BUILTINS and called.id not in bound:
        yield f"`{called.id}` is not allowed; {_BUILTINS[called.id]}"
    if not isinstance(called, ast.Attribute):
        return
    name = called.attr
    if name in _WRITERS or (
        name in _WRITERS_WITH_PATH and (node.args or any(key.arg in ("path_or_buf", "buf") for key in node.keywords))
    ):
        yield f"`{name}` writes a file, which is not possible; set `answer` to the DataFrame itself"
    if name == "savefig":
        yield "`savefig` is not needed and cannot write a file; leave the figure open and it is returned"


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _attribute(node: ast.Attribute, modules: set[str]) -> Iterator[str]:
    name, root = node.attr, _root(node)
    of_module = isinstance(root, ast.Name) and root.id in modules
    if name in _DUNDERS:
        yield f"`{name}` is not allowed; use the object's ordinary methods, or type() and isinstance()"
    elif of_module and name in _SYSTEM:
        yield f"`{ast.unparse(node)}` is not allowed; the script has no access to the system"
    elif of_module and name.startswith("read_"):
        yield f"`{name}` reads a file, which is not possible; the frames are variables already"
    elif isinstance(root, ast.Name) and root.id in ("np", "numpy") and name in _NUMPY_FILES:
        yield f"`{ast.unparse(node)}` reads or writes a file, which is not possible; the frames are variables already"


def refusals(code: str, parse: Callable[[str], ast.AST] = ast.parse) -> list[str]:
    """Why the script is refused, one sentence a place, in order; empty if it is not.

    Raises SyntaxError if it is no Python.
    """
    tree = parse(code)
    bound, modules = _bound(tree), _modules(tree)
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            reasons = _import(node)
        elif isinstance(node, ast.Call):
            reasons = _call(node, bound)
        elif isinstance(node, ast.Attribute):
            reasons = _attribute(node, modules)
        else:
            continue
        found += [(node.lineno, reason) for reason in reasons]
    return [f"line {line}: {reason}" for line, reason in sorted(found)]
