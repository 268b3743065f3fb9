"""What the code of an exported answer may say: names and attributes from a list, and nothing that is not on it.

    check("answer = gdp['value'].pct_change().max()", ["gdp"], ["value"])
    check("getattr(pd.io.common, 'o' + 's').system('x')", [], [])   ->   RecordError: line 1: `getattr` is not allowed

In the sandbox the operating system says what a script can do, so its code may be anything. An exported script is run by whoever reads it, with
nothing around it: here the code itself must be harmless, whoever wrote the record. What is refused can still be computed with `replay`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import keyword
import types
from collections.abc import Collection, Iterator, Mapping, Sequence

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.core import syntax
from finexpert.errors import QueryError, RecordError
from finexpert.warehouse.isolated import select_rules

_split = str.split
# Variables of every script, and the modules that they stand for.
PREDEFINED = {
    "pd": "pandas",
    "np": "numpy",
    "plt": "matplotlib.pyplot",
    "dt": "datetime",
    "math": "math",
    "stats": "scipy.stats",
}
RESERVED = frozenset(
    (*PREDEFINED, "answer", "period", "connection", "query", "duckdb", "pa", "pc", "random", "print",
     "database", "schema", "tables", "sqlalchemy", "plain", "is_date")
)  # fmt: skip
# Modules with the attributes that may not be taken of them; of a module, no other module is reached unless it stands here too.
_MODULES = {
    "pandas": "eval set_option reset_option option_context options describe_option ExcelWriter ExcelFile HDFStore show_versions test",
    "pandas.tseries.offsets": "", "pandas.offsets": "", "pandas.api.types": "", "pandas.errors": "",
    "numpy": "load save savez savez_compressed savetxt loadtxt genfromtxt fromfile fromregex memmap DataSource info show_config test "
             "set_printoptions seterrcall require get_include show_runtime setbufsize",
    "numpy.random": "", "numpy.linalg": "", "numpy.fft": "", "numpy.ma": "",
    "scipy.stats": "", "scipy.optimize": "", "scipy.interpolate": "", "scipy.special": "", "scipy.linalg": "", "scipy.signal": "",
    "matplotlib.pyplot": "savefig imsave imread rcParams rc rc_file rc_context rcdefaults style switch_backend install_repl_displayhook "
                         "setp show_config connect disconnect ginput waitforbuttonpress get_plot_commands xkcd",
    "matplotlib.dates": "", "matplotlib.ticker": "",
    "datetime": "", "math": "", "cmath": "", "statistics": "", "itertools": "", "fractions": "", "calendar": "", "bisect": "", "heapq": "",
    "decimal": "", "numbers": "", "random": "", "re": "", "textwrap": "", "zoneinfo": "", "collections": "", "collections.abc": "",
    "functools": "singledispatch singledispatchmethod", "json": "load dump", "time": "", "operator": "attrgetter methodcaller",
    "dateutil.relativedelta": "", "typing": "get_type_hints ForwardRef evaluate_forward_ref", "dataclasses": "make_dataclass", "enum": "",
    "string": "Formatter", "warnings": "", "__future__": "", "copy": "",
}  # fmt: skip
_BUILTINS = frozenset(
    _split(
        "abs all any bool bytes chr complex dict divmod enumerate filter float format frozenset hash int isinstance issubclass iter len list"
        " map max min next object ord pow print property range repr reversed round set slice sorted staticmethod classmethod str sum"
        " super tuple type zip callable True False None NotImplemented Ellipsis __name__"
    )
)
_DANGEROUS = frozenset(
    name for name, one in vars(builtins).items() if callable(one) and not isinstance(one, type)
) - _BUILTINS | frozenset(_split("memoryview bytearray __import__ __builtins__ __loader__ __spec__ quit exit help"))
_EXCEPTIONS = frozenset(
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
)
# Of values, whatever they are: what writes, reads, runs text, or leads out of them.
_NEVER = frozenset(
    _split(
        "eval exec system popen pipe to_pickle to_parquet to_excel to_hdf to_sql to_feather to_clipboard to_stata to_gbq to_orc to_xml"
        " to_iceberg tofile dump dumps savefig save load loads canvas ctypes plotting mro register set_backend print_figure print_png print_to_buffer"
        " get_field vformat savez savetxt tostring_rgb gi_frame cr_frame ag_frame tb_frame f_globals f_locals f_back f_builtins info_axes"
        " set_picker draw_artist figimage add_callback pchanged"
    )
)
_WRITERS = frozenset(_split("to_csv to_json to_html to_latex to_markdown to_string"))
# They take the name of a method as a text, or a function.
_BY_NAME = frozenset(_split("agg aggregate apply transform pipe"))
# What they are given is looked at, so they must be called where they are named.
_CALLED = _BY_NAME | _WRITERS | {"query"}
# With these as well as the method: no text can be a method's name.
_PLAIN_ARGUMENTS = frozenset(_split("axis raw args result_type by_row skipna include_groups"))
_DUNDERS = frozenset(_split("__init__ __call__ __repr__ __str__ __eq__ __lt__ __post_init__ __hash__ __len__ __iter__"))


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
        or name in RESERVED
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
        self._modules = dict(PREDEFINED) | _imported(tree)
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
                return next((f"import {one.name}" for one in node.names if one.name not in _importable()), None)
            case ast.ImportFrom():
                return self._import_from(node)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                hidden = name.startswith("__") and name not in _DUNDERS
                return name if hidden or name in self._modules else None
        return None

    def _import_from(self, node: ast.ImportFrom) -> str | None:
        module = node.module or ""
        if node.level or module not in _MODULES:
            return next(
                (f"from {module} import {one.name}" for one in node.names if f"{module}.{one.name}" not in _MODULES),
                None,
            )
        return next((one.name for one in node.names if not _of_module(module, one.name)), None)

    def _name(self, node: ast.Name) -> str | None:
        if node.id in _DANGEROUS:
            return node.id
        if isinstance(node.ctx, ast.Store):
            return node.id if node.id in self._modules or node.id in _BUILTINS | {"query", "connection"} else None
        if node.id in self._modules:
            return None if id(node) in self._roots else node.id
        known = node.id in self._own or node.id in _BUILTINS or node.id in _EXCEPTIONS
        return None if known and not (node.id.startswith("__") and node.id != "__name__") else node.id

    def _attribute(self, node: ast.Attribute) -> str | None:
        words = _chain(node)
        if words and words[0] in self._modules:
            return None if id(node) in self._roots else self._of_module(words)
        if node.attr in _CALLED and id(node) not in self._called:
            return ast.unparse(node)[:60]
        allowed = node.attr in _attributes() or node.attr in self._columns or node.attr in self._own
        hidden = node.attr.startswith("_") or node.attr.startswith(("read_", "print_"))
        return ast.unparse(node)[:60] if hidden or node.attr in _NEVER or not allowed else None

    def _of_module(self, words: list[str]) -> str | None:
        """Along `np.linalg.norm`: modules of the list, then one attribute of theirs, then attributes of values."""
        module, place = self._modules[words[0]], 1
        while place < len(words) and _is_module(f"{module}.{words[place]}"):
            module, place = f"{module}.{words[place]}", place + 1
        taken = words[place : place + 1]
        # At its end it must be of a module, and no module itself: that could be handed on.
        if not taken or module not in _MODULES or not _of_module(module, taken[0]):
            return ".".join(words[: place + 1])
        hidden = [one for one in words[place + 1 :] if one in _NEVER or one not in _attributes()]
        return ".".join(words) if hidden else None

    def _call(self, node: ast.Call) -> str | None:
        if any(one.arg in ("backend", "engine", "path_or_buf", "buf", "path", "fname") for one in node.keywords):
            return ast.unparse(node.func)[:60]
        if isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) != 1:
            return "type"
        if not isinstance(node.func, ast.Attribute):
            return None
        name = node.func.attr
        if name in _WRITERS and (node.args or any(one.arg is None for one in node.keywords)):
            return name
        if name == "query":
            return self._query(node)
        if name in _BY_NAME:
            given = [*node.args[:1], *(one.value for one in node.keywords if one.arg not in _PLAIN_ARGUMENTS)]
            return None if all(self._is_function(one) for one in given) else name
        return None

    def _query(self, node: ast.Call) -> str | None:
        """A condition in a text is code like any other."""
        if (
            len(node.args) != 1
            or not isinstance(node.args[0], ast.Constant)
            or any(one.arg is None for one in node.keywords)
        ):
            return "query"
        text = str(node.args[0].value)
        try:
            inner = ast.parse(_unquoted(text), mode="eval")
        except SyntaxError:
            return "query"
        return next(
            (f"query({text[:40]!r})" for one in ast.walk(inner) if isinstance(one, ast.Call | ast.Attribute)), None
        )

    def _is_function(self, node: ast.expr) -> bool:
        """What may be given where a method's name or a function is meant; a text must be the name of a harmless method."""
        match node:
            case ast.Constant(value=str() as text):
                return (
                    (text in _attributes() or text in self._columns)
                    and text not in _NEVER | _WRITERS
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
                return name in self._functions or (name in _BUILTINS and name not in self._own)
        return False


def _unquoted(text: str) -> str:
    """A condition of pandas as Python: a column in backticks and a variable behind @ are names.

    >>> _unquoted("`net sales` > @least")
    'quoted > least'
    """
    parts = text.split("`")
    return "quoted".join(parts[::2]).replace("@", "")


def _chain(node: ast.expr) -> list[str]:
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return [node.id, *reversed(words)] if isinstance(node, ast.Name) else []


def _bound(tree: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    return names | {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _imported(tree: ast.AST) -> dict[str, str]:
    """The names that stand for modules, with the modules."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                found[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if f"{node.module}.{alias.name}" in _MODULES:
                    found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


@functools.cache
def _importable() -> frozenset[str]:
    """Modules of the list, and the packages above them, of which nothing but these modules can be taken."""
    return frozenset(name for full in _MODULES for name in (full, full.rpartition(".")[0]) if name)


@functools.cache
def _is_module(name: str) -> bool:
    return any(full == name or full.startswith(f"{name}.") for full in _MODULES)


@functools.cache
def _of_module(module: str, name: str) -> bool:
    """Whether a name may be taken of a module: it is public, it is no module itself, and it is not named among the exceptions."""
    import importlib

    if name.startswith(("_", "read_")) or name in _NEVER or name in _MODULES[module].split():
        return False
    package, _, last = module.rpartition(".")
    try:
        whole = importlib.import_module(module)
    except ImportError:  # a name for a module that stands elsewhere
        whole = getattr(importlib.import_module(package), last)
    return hasattr(whole, name) and not isinstance(getattr(whole, name), types.ModuleType)


@functools.cache
def _attributes() -> frozenset[str]:
    """The attributes of the values that scripts work with."""
    import collections
    import datetime
    import decimal
    import fractions
    import re

    import matplotlib.axes
    import matplotlib.figure
    import numpy as np
    import pandas as pd
    from pandas.core.groupby import DataFrameGroupBy, SeriesGroupBy
    from pandas.core.indexes.accessors import DatetimeProperties, PeriodProperties, TimedeltaProperties
    from pandas.core.resample import Resampler
    from pandas.core.strings.accessor import StringMethods
    from pandas.core.window import Expanding, ExponentialMovingWindow, Rolling
    from scipy import optimize, stats

    kinds = (
        *(pd.DataFrame, pd.Series, pd.Index, pd.MultiIndex, pd.DatetimeIndex, pd.PeriodIndex, pd.TimedeltaIndex, pd.IntervalIndex),
        *(pd.Timestamp, pd.Timedelta, pd.Period, pd.Interval, pd.Categorical, pd.DateOffset, pd.RangeIndex, pd.CategoricalIndex),
        *(DataFrameGroupBy, SeriesGroupBy, Resampler, Rolling, Expanding, ExponentialMovingWindow, StringMethods),
        *(DatetimeProperties, PeriodProperties, TimedeltaProperties, pd.DataFrame.plot, np.ndarray, np.float64, np.int64, np.datetime64),
        *(np.random.Generator, np.ufunc, str, bytes, int, float, complex, list, tuple, dict, set, frozenset, range, slice),
        *(decimal.Decimal, fractions.Fraction, datetime.date, datetime.datetime, datetime.timedelta, datetime.time),
        *(collections.Counter, collections.deque, collections.defaultdict, collections.OrderedDict, re.Match, re.Pattern),
        *(matplotlib.axes.Axes, matplotlib.figure.Figure, optimize.OptimizeResult, stats.rv_continuous, stats.rv_discrete, BaseException),
    )  # fmt: skip
    names = {name for kind in kinds for name in dir(kind)}
    results = _split(
        "slope intercept rvalue pvalue stderr statistic correlation x fun success coefficients cat dt str plot sparse iloc loc at iat"
        " root nit message params resid bse tvalues conf_int predict summary cache xaxis yaxis spines name names"
    )
    return frozenset(name for name in names if not name.startswith("_")) | frozenset(results)
