"""What the code of an exported answer may name: modules and what may be taken of them, built-in names, attributes of values.

    of_module("numpy", "log"), of_module("numpy", "load")   ->   True, False

Whatever is on no list is refused; `finexpert.answers.export.code` looks at the code.
"""

from __future__ import annotations

import builtins
import functools
import types

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
MODULES = {
    "pandas": "eval set_option reset_option option_context options describe_option ExcelWriter ExcelFile HDFStore show_versions test",
    "pandas.tseries.offsets": "", "pandas.offsets": "", "pandas.api.types": "", "pandas.errors": "",
    "numpy": "load save savez savez_compressed savetxt loadtxt genfromtxt fromfile fromregex memmap DataSource info show_config test "
             "set_printoptions seterrcall require get_include show_runtime setbufsize",
    "numpy.random": "", "numpy.linalg": "", "numpy.fft": "", "numpy.ma": "",
    "scipy.stats": "", "scipy.optimize": "", "scipy.interpolate": "", "scipy.special": "", "scipy.linalg": "", "scipy.signal": "",
    "matplotlib.pyplot": "savefig imsave imread rcParams rc rc_file rc_context rcdefaults style switch_backend install_repl_displayhook "
                         "setp show_config connect disconnect ginput waitforbuttonpress get_plot_commands xkcd rcParamsDefault rcParamsOrig "
                         "backend_registry FigureManagerBase FigureCanvasBase get_current_fig_manager new_figure_manager",
    "matplotlib.dates": "", "matplotlib.ticker": "",
    "datetime": "", "math": "", "cmath": "", "statistics": "", "itertools": "", "fractions": "", "calendar": "", "bisect": "", "heapq": "",
    "decimal": "", "numbers": "", "random": "", "re": "", "textwrap": "", "zoneinfo": "", "collections": "", "collections.abc": "",
    "json": "load dump", "time": "", "operator": "attrgetter methodcaller call", "dateutil.relativedelta": "", "string": "Formatter",
    "__future__": "",
}  # fmt: skip
# Of these nothing else: the rest sets attributes by name, makes classes, or looks names up.
ONLY = {
    "functools": "cache cmp_to_key lru_cache partial reduce", "typing": "Any Optional Union", "copy": "copy deepcopy",
    "warnings": "catch_warnings filterwarnings simplefilter warn",
}  # fmt: skip
LISTED = frozenset((*MODULES, *ONLY))
BUILTINS = frozenset(
    _split(
        "abs all any bool bytes chr complex dict divmod enumerate filter float format frozenset hash int isinstance issubclass iter len list"
        " map max min next object ord pow print property range repr reversed round set slice sorted staticmethod classmethod str sum"
        " super tuple type zip callable True False None NotImplemented Ellipsis __name__"
    )
)
DANGEROUS = frozenset(
    name for name, one in vars(builtins).items() if callable(one) and not isinstance(one, type)
) - BUILTINS | frozenset(_split("memoryview bytearray __import__ __builtins__ __loader__ __spec__ quit exit help"))
EXCEPTIONS = frozenset(
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
)
# Of values, whatever they are: what writes, reads, runs text, or leads out of them.
NEVER = frozenset(
    _split(
        "eval exec system popen pipe to_pickle to_parquet to_excel to_hdf to_sql to_feather to_clipboard to_stata to_gbq to_orc to_xml"
        " to_iceberg tofile dump dumps savefig save load loads canvas ctypes plotting mro register set_backend print_figure print_png print_to_buffer"
        " get_field vformat savez savetxt tostring_rgb gi_frame cr_frame ag_frame tb_frame f_globals f_locals f_back f_builtins info_axes"
        " set_picker draw_artist figimage add_callback pchanged"
    )
)
WRITERS = frozenset(_split("to_csv to_json to_html to_latex to_markdown to_string"))
# They take the name of a method as a text, or a function.
BY_NAME = frozenset(_split("agg aggregate apply transform pipe"))
# Behind some arguments comes the name of a module that draws, which is imported.
DRAWN = frozenset(_split("hist boxplot"))
MOST_DRAWN = 4
# What they are given is looked at, so they must be called where they are named.
CALLED = BY_NAME | WRITERS | DRAWN | {"query"}
# Keywords that name a module, a file, or another program.
KEYWORDS = frozenset(_split("backend engine path_or_buf buf path fname usetex"))
# With these as well as the method: no text can be a method's name.
PLAIN_ARGUMENTS = frozenset(_split("axis raw args result_type by_row skipna include_groups"))


@functools.cache
def importable() -> frozenset[str]:
    """Modules of the list, and the packages above them, of which nothing but these modules can be taken."""
    return frozenset(name for full in LISTED for name in (full, full.rpartition(".")[0]) if name)


@functools.cache
def is_module(name: str) -> bool:
    return any(full == name or full.startswith(f"{name}.") for full in LISTED)


@functools.cache
def of_module(module: str, name: str) -> bool:
    """Whether a name may be taken of a module: it is public, it is no module itself, and it is not named among the exceptions."""
    import importlib

    if name.startswith(("_", "read_")) or name in NEVER or name in MODULES.get(module, "").split():
        return False
    if module in ONLY:
        return name in ONLY[module].split()
    package, _, last = module.rpartition(".")
    try:
        whole = importlib.import_module(module)
    except ImportError:  # a name for a module that stands elsewhere
        whole = getattr(importlib.import_module(package), last)
    return hasattr(whole, name) and not isinstance(getattr(whole, name), types.ModuleType)


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
