"""One page of the rows of an answer, sorted by their values, numbers with up to six decimals.

page_of("a1", data, sort=1, down=True).rows[0]      ["2020-04-01", "14.8"]
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from finexpert.core.display.cells import shown

ROWS = 100
_MOST_DECIMALS = 6

Kind = Literal["number", "date", "words"]
Order = Literal["ascending", "descending", ""]


@dataclass(frozen=True)
class Heading:
    name: str
    kind: Kind
    order: Order


@dataclass(frozen=True)
class TablePage:
    """`first` and `last` count rows from 1; `sort` is the number of a column, -1 for the order in which the rows came."""

    answer: str
    caption: str
    columns: list[Heading]
    rows: list[list[str | None]]
    first: int
    last: int
    total: int
    page: int
    sort: int
    down: bool


def page_of(
    answer: str, data: pd.DataFrame, *, page: int = 1, sort: int = -1, down: bool = False, caption: str = ""
) -> TablePage:
    """The rows of a page; what lies outside of the table is taken to be its first page, and its own order."""
    sort = sort if 0 <= sort < data.shape[1] else -1
    pages = max(1, math.ceil(len(data) / ROWS))
    page = page if 1 <= page <= pages else 1
    kinds = [_kind(data.iloc[:, at]) for at in range(data.shape[1])]
    ordered = data if sort < 0 else data.iloc[_order(data.iloc[:, sort], down)]
    start = (page - 1) * ROWS
    part = ordered.iloc[start : start + ROWS]
    written = [_written(part.iloc[:, at], data.iloc[:, at], kind) for at, kind in enumerate(kinds)]
    columns = [
        Heading(str(name), kind, ("descending" if down else "ascending") if at == sort else "")
        for at, (name, kind) in enumerate(zip(data.columns, kinds, strict=True))
    ]
    rows = [list(row) for row in zip(*written, strict=True)]
    last = start + len(part)
    return TablePage(answer, caption, columns, rows, min(start + 1, last), last, len(data), page, sort, down)


def _order(column: pd.Series, down: bool) -> list[int]:
    """The places of the rows, sorted; what is missing comes last both ways, and equal rows stay in their order."""
    try:
        ranks = column.rank(method="dense", na_option="keep")
    except TypeError:  # values of several types have no order but that of their texts
        ranks = column.map(lambda value: None if _missing(value) else str(value)).rank(method="dense")
    return (
        (-ranks if down else ranks).reset_index(drop=True).sort_values(kind="stable", na_position="last").index.tolist()
    )


def _kind(column: pd.Series) -> Kind:
    if pd.api.types.is_bool_dtype(column):
        return "words"
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    known = [value for value in column.head(50) if not _missing(value)]
    if known and all(isinstance(value, dt.date) for value in known):
        return "date"
    numbers = (int, float)
    return "number" if known and all(isinstance(v, numbers) and not isinstance(v, bool) for v in known) else "words"


def _missing(value: Any) -> bool:
    return value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _written(part: pd.Series, whole: pd.Series, kind: Kind) -> list[str | None]:
    decimals = _decimals(whole) if kind == "number" else 0
    plain = kind == "number" and _years(whole)
    return [None if _missing(value) else _cell(value, decimals, plain) for value in part]


def _cell(value: Any, decimals: int, plain: bool = False) -> str:
    """A value as text; numbers of a column have the same decimals, but for those that they would hide.

    >>> _cell(1234567.25, 2), _cell(True, 0), _cell(2017, 0, plain=True), _cell(1.5e-9, 6)
    ('1,234,567.25', 'yes', '2017', '0.0000000015')
    """
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, int) and not isinstance(value, bool) and plain:
        return str(value)
    if isinstance(value, float) and math.isfinite(value) and (value == 0 or abs(value) >= 10.0 ** (1 - _MOST_DECIMALS)):
        return f"{value + 0.0:,.{decimals}f}"
    return shown(value)


def _decimals(column: pd.Series) -> int:
    """How many decimals show all numbers of a column, at most six.

    >>> _decimals(pd.Series([1.5, 2.25])), _decimals(pd.Series([1.0, 2.0])), _decimals(pd.Series([1 / 3]))
    (2, 0, 6)
    """
    known = column.dropna().astype(float)
    known = known[known.abs() < float("inf")]
    least = 0.5 * 10.0**-_MOST_DECIMALS
    return next(
        (digits for digits in range(_MOST_DECIMALS) if bool(((known - known.round(digits)).abs() < least).all())),
        _MOST_DECIMALS,
    )


def _years(column: pd.Series) -> bool:
    """Whether whole numbers are years, which have no comma.

    >>> _years(pd.Series([2016, 2017], name="fiscal_year")), _years(pd.Series([2016, 2017], name="count"))
    (True, False)
    """
    named = str(column.name).lower()
    known = column.dropna()
    return ("year" in named or named in ("fy", "id")) and bool(((known >= 1000) & (known < 3000)).all())
