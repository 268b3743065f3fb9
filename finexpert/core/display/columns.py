"""A column of a table as texts: numbers that stand under each other have the same decimals, years have no comma.

>>> written(pd.Series([1.5, 1234567.25])), written(pd.Series([2021, 2022], name="fiscal_year")), written(pd.Series([171.2345678, None]))
(['1.50', '1,234,567.25'], ['2021', '2022'], ['171.235', None])

What was recorded with up to four decimals is shown as it is; what was computed is rounded to six digits, or two decimals. Every door
shows a table by these texts; its files hold all digits.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import Any, Literal

import pandas as pd

from finexpert.core.display.cells import shown

Kind = Literal["number", "date", "words"]

_MOST_DECIMALS = 6
_RECORDED_DECIMALS = 4
_DIGITS = 6
_LEAST_DIGITS = 4
# Sums of doubles differ from the sum of what was recorded by less than this part of it.
_NOISE = 1e-13


def written(part: pd.Series, whole: pd.Series | None = None) -> list[str | None]:
    """The values of a part of a column; what is missing is None. The `whole` column says how many decimals there are."""
    whole = part if whole is None else whole
    number = kind(whole) == "number"
    decimals = _decimals(whole) if number else 0
    plain = number and _years(whole)
    return [None if missing(value) else _cell(value, decimals, plain) for value in part]


def rows(part: pd.DataFrame, whole: pd.DataFrame | None = None) -> list[list[str]]:
    """The rows of a table; what is missing is empty."""
    whole = part if whole is None else whole
    columns = [written(part.iloc[:, at], whole.iloc[:, at]) for at in range(part.shape[1])]
    return [[text or "" for text in row] for row in zip(*columns, strict=True)]


def kind(column: pd.Series) -> Kind:
    if pd.api.types.is_bool_dtype(column):
        return "words"
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    known = [value for value in column.head(50) if not missing(value)]
    if known and all(isinstance(value, dt.date) for value in known):
        return "date"
    numbers = (int, float)
    return "number" if known and all(isinstance(v, numbers) and not isinstance(v, bool) for v in known) else "words"


def missing(value: Any) -> bool:
    return value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _cell(value: Any, decimals: int, plain: bool = False) -> str:
    """A value as text; one that the decimals of its column would hide has its own.

    >>> _cell(1234567.25, 2), _cell(True, 0), _cell(2017, 0, plain=True), _cell(float("inf"), 0, plain=True)
    ('1,234,567.25', 'yes', '2017', 'inf')
    """
    value = value.item() if hasattr(value, "item") else value
    if plain and isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return str(int(value))
    if isinstance(value, float) and math.isfinite(value) and (value == 0 or abs(value) >= 10.0 ** (1 - decimals)):
        return f"{value + 0.0:,.{decimals}f}"
    return shown(value)


def _decimals(column: pd.Series) -> int:
    """How many decimals a column has.

    >>> _decimals(pd.Series([1.5, 2.25])), _decimals(pd.Series([1.0, 2.0])), _decimals(pd.Series([1 / 3]))
    (2, 0, 6)
    >>> _decimals(pd.Series([569623912.9499990])), _decimals(pd.Series([12345.678912345, 0.5])), _decimals(pd.Series([1.234e-05]))
    (2, 2, 8)
    """
    known = pd.to_numeric(column.dropna(), errors="coerce").dropna().astype(float)
    known = known[known.abs() < float("inf")]
    if known.empty:
        return 0
    least = (known.abs() * _NOISE).clip(lower=0.5 * 10.0**-_MOST_DECIMALS)
    for digits in range(_RECORDED_DECIMALS + 1):
        if bool(((known - known.round(digits)).abs() < least).all()):
            return digits
    before = math.floor(math.log10(float(known.abs().max()))) + 1
    return max(2, _DIGITS - before) if before > 0 else min(10, max(_MOST_DECIMALS, _LEAST_DIGITS - before))


def _years(column: pd.Series) -> bool:
    """Whether whole numbers are years or keys, which have no comma.

    >>> _years(pd.Series([2016, 2017], name="fiscal_year")), _years(pd.Series([2016, 2017], name="count"))
    (True, False)
    >>> _years(pd.Series([100234, 7], name="client_id")), _years(pd.Series([2016.0, None], name="year"))
    (True, True)
    """
    named = str(column.name).lower()
    known = column.dropna()
    if known.empty or not bool((known == known.round()).all()):
        return False
    if named == "id" or named.endswith("_id"):
        return True
    return ("year" in named or named == "fy") and bool(((known >= 1000) & (known < 3000)).all())
