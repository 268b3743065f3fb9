"""What the code of an exported answer may name: modules and what may be taken of them, built-in names, attributes of values.

    of_module("numpy", "log"), of_module("numpy", "load")   ->   True, False

Whatever is on no list is refused; `finexpert.answers.export.rules` looks at the code.
"""

from __future__ import annotations

import ast
import builtins
import functools
from pathlib import Path

_split = str.split


def _read_modules() -> dict[str, frozenset[str]]:
    """The lines of `modules.txt`: the name of a module, and below it, indented, what it may give."""
    found: dict[str, frozenset[str]] = {}
    module = ""
    for line in Path(__file__).with_name("modules.txt").read_text(encoding="utf-8").splitlines():
        if line and line[0] not in "# ":
            module = line
        elif line[:1] == " ":
            found[module] = found.get(module, frozenset()) | frozenset(line.split())
    return found


# Variables of every script, and the modules that they stand for.
PREDEFINED = {
    "pd": "pandas",
    "np": "numpy",
    "plt": "matplotlib.pyplot",
    "dt": "datetime",
    "math": "math",
    "stats": "scipy.stats",
}
# What an exported script has for itself while the model's own lines run.
AROUND = frozenset(("column_of", "reach_again", "annotations", "Any"))
RESERVED = frozenset((*PREDEFINED, "answer", "period", "random", "shut_in", *AROUND))
# By module, what may be taken of it; of a module, no other module is reached unless it stands here too.
MODULES = _read_modules()
LISTED = frozenset(MODULES)
BUILTINS = frozenset(
    _split(
        "abs all any bool bytes chr complex dict divmod enumerate filter float format frozenset hash int isinstance issubclass iter len list"
        " map max min next object ord pow print range repr reversed round set slice sorted str sum"
        " tuple type zip callable True False None NotImplemented Ellipsis __name__"
    )
)
DANGEROUS = frozenset(
    name for name, one in vars(builtins).items() if callable(one) and not isinstance(one, type)
) - BUILTINS | frozenset(
    _split(
        "memoryview bytearray property super staticmethod classmethod __import__ __builtins__ __loader__ __spec__ quit exit help"
    )
)
EXCEPTIONS = frozenset(
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
)
# Of values, whatever they are: what writes, reads, runs text, or leads out of them.
NEVER = frozenset(
    _split(
        "eval exec system popen pipe to_pickle to_parquet to_excel to_hdf to_sql to_feather to_clipboard to_stata to_gbq to_orc to_xml"
        " to_iceberg tofile dump dumps savefig save load loads canvas ctypes plotting mro register set_backend print_figure print_png print_to_buffer"
        " get_field vformat savez savetxt tostring_rgb gi_frame cr_frame ag_frame tb_frame f_globals f_locals f_back f_builtins info_axes"
        " set_picker draw_artist figimage add_callback pchanged style type resize setflags setfield getfield data format_map bit_generator to_xarray"
        " newbyteorder byteswap"
    )
)
WRITERS = frozenset(_split("to_csv to_json to_html to_latex to_markdown to_string"))
# They take the name of a method as a text, or a function.
BY_NAME = frozenset(_split("agg aggregate apply transform pipe"))
# Theirs stands behind their first three arguments, or in `aggfunc`.
TABLES_BY_NAME = frozenset(_split("pivot_table crosstab"))
# Behind some arguments comes the name of a module that draws, which is imported.
DRAWN = frozenset(_split("hist boxplot"))
MOST_DRAWN = 4
# What they are given is looked at, so they must be called where they are named.
CALLED = BY_NAME | TABLES_BY_NAME | WRITERS | DRAWN | {"query"}
# What may be set on a value.
SET = frozenset(_split("columns index name names"))
# They make a value over memory that is not theirs: they stand in `isinstance`, in comparisons and as annotations alone.
ONLY_COMPARED = frozenset(_split("type np.ndarray"))
# Keywords that name a module, a file, or another program.
KEYWORDS = frozenset(
    _split("backend engine path_or_buf buf path fname usetex font fontproperties font_properties title_fontproperties")
)
# With these as well as the method: no text can be a method's name.
PLAIN_ARGUMENTS = frozenset(_split("axis raw args result_type by_row skipna include_groups"))
# What a script is made of; a pattern of `match` takes attributes that nobody reads as such.
SYNTAX = (
    *(ast.Module, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.With, ast.withitem, ast.Try),
    *(ast.ExceptHandler, ast.Raise, ast.Assert, ast.Pass, ast.Break, ast.Continue, ast.Return, ast.Delete, ast.FunctionDef, ast.Lambda),
    *(ast.arguments, ast.arg, ast.keyword, ast.Import, ast.ImportFrom, ast.alias, ast.Global, ast.Nonlocal, ast.BoolOp, ast.NamedExpr),
    *(ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
    *(ast.Yield, ast.Compare, ast.Call, ast.FormattedValue, ast.JoinedStr, ast.Constant, ast.Attribute, ast.Subscript, ast.Starred),
    *(ast.Name, ast.List, ast.Tuple, ast.Slice, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)  # fmt: skip


@functools.cache
def importable() -> frozenset[str]:
    """Modules of the list, and the packages above them, of which nothing but these modules can be taken."""
    return frozenset(name for full in LISTED for name in (full, full.rpartition(".")[0]) if name)


@functools.cache
def is_module(name: str) -> bool:
    return any(full == name or full.startswith(f"{name}.") for full in LISTED)


def of_module(module: str, name: str) -> bool:
    """Whether a name may be taken of a module."""
    return name in MODULES.get(module, ())


@functools.cache
def attributes() -> frozenset[str]:
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
