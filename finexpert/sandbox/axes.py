"""Large numbers on the axes of a chart: 500M, where matplotlib writes 5.0 and 1e8 above the axis.

An axis that the script gave labels of its own is left as it is.
"""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, ScalarFormatter

_LARGE = 1e6
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"))


def shorten(figure: Figure) -> None:
    """Write the numbers of axes that reach a million with M, B or T."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            # Dates, categories and logarithms have formatters of their own.
            plain = type(axis.get_major_formatter()) is ScalarFormatter
            if plain and axis.get_scale() == "linear" and max(map(abs, axis.get_view_interval())) >= _LARGE:
                axis.set_major_formatter(FuncFormatter(lambda value, _: compact(value)))


def compact(value: float) -> str:
    """
    >>> compact(5e8), compact(-2.5e9), compact(0.0), compact(250000.0), compact(1e12)
    ('500M', '-2.5B', '0', '250,000', '1T')
    """
    for size, letter in _UNITS:
        if abs(value) >= size:
            return f"{value / size:,.6g}{letter}"
    return f"{value:,.6g}"
