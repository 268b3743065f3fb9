"""What is missing in tables that meet: years that were asked for and have no row, and cells that a join left empty.

    gaps("... in each year from 2020 to 2022", rows of 2021 and 2022)      ["there is no row for 2020"]

A join drops what one side lacks without a word; these words are for the person.
"""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import sqlglot
from sqlglot.errors import SqlglotError

from finexpert.core.answers import AnswerFormat

_NAMES = ("year", "years", "fiscal_year", "calendar_year")
_YEAR = r"(?<![\d.,$])((?:19|20)\d\d)(?![\d%])"
_SPAN = re.compile(
    rf"between\s+{_YEAR}\s+and\s+{_YEAR}|{_YEAR}\s*(?:to|through|until|[-\u2013])\s*{_YEAR}", re.IGNORECASE
)
_LIST = re.compile(rf"{_YEAR}(?:,\s*{_YEAR})*,?\s+and\s+{_YEAR}", re.IGNORECASE)
_LONGEST = 100
_IN_A_NAME = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_BEFORE = re.compile(r"(?:^|_)(?:prior|previous|before|preceding)(?:_|$)|(?:^|_)last_(?:year|quarter)")


def of_years(wanted: AnswerFormat | None, select: str) -> AnswerFormat | None:
    """The format of a list, whose items are years where the SELECT's one column is called so."""
    if wanted is None or wanted.kind != "list" or wanted.items is not None:
        return wanted
    try:
        columns = [each.alias_or_name.lower() for each in sqlglot.parse_one(select, read="duckdb").selects]  # type: ignore[attr-defined]
    except (SqlglotError, AttributeError):
        return wanted
    return wanted.model_copy(update={"items": "year"}) if len(columns) == 1 and columns[0] in _NAMES else wanted


def years_asked(text: str) -> set[int]:
    """The years of spans and lists in a text; a year alone may be of a filing, or of prices.

    >>> sorted(years_asked("in 2016, 2017 and 2018, in 2020 dollars"))
    [2016, 2017, 2018]
    >>> sorted(years_asked("between 2019 and 2021")), sorted(years_asked("from 2021 to 2022 and in 2024"))
    ([2019, 2020, 2021], [2021, 2022])
    """
    found: set[int] = set()
    for span in _SPAN.finditer(text):
        first, last = (int(year) for year in span.groups() if year)
        found |= set(range(first, last + 1)) if last - first < _LONGEST else set()
    for each in _LIST.finditer(_SPAN.sub(" ", text)):
        found |= {int(year) for year in re.findall(_YEAR, each[0])}
    return found


def gaps(text: str, value: Any, of: str = "") -> list[str]:
    """The years that a text asks for and a table by years does not have; `of` names the table.

    >>> gaps("sales in each year from 2020 to 2022", pd.DataFrame({"year": [2021, 2022]}), "revenue")
    ['there is no row of revenue for 2020']
    """
    missing = years_missing(text, value)
    whose = f" of {of}" if of else ""
    return [f"there is no row{whose} for {', '.join(map(str, missing))}"] if missing else []


def years_missing(text: str, value: Any) -> list[int]:
    """The years that a text asks for and a table by years does not have.

    >>> years_missing("sales in each year from 2020 to 2022", pd.DataFrame({"year": [2021]}))
    [2020, 2022]
    """
    there = _years_of(value)
    return [] if there is None else sorted(years_asked(text) - there)


def ends_early(text: str, value: Any) -> bool:
    """Whether a table by years has all years of a text from its first row to its last, and none outside of them.

    >>> ends_early("each year from 2019 to 2022", pd.DataFrame({"year": [2020, 2021]}))
    True
    >>> ends_early("recessions from 2000 to 2022", pd.DataFrame({"year": [2001, 2008, 2020]}))
    False
    """
    there = _years_of(value)
    inner = {year for year in years_asked(text) if there and min(there) <= year <= max(there)}
    return bool(there) and inner <= there  # type: ignore[operator]


def _years_of(value: Any) -> set[int] | None:
    """The years of the rows, and those that a column is called by: `sales_2019` beside 2020, `sales_before`; None where the table is not
    one by years.

    >>> sorted(_years_of(pd.DataFrame({"year": [2020], "sales_2020": [2.0], "sales_2019": [1.0], "sales_2018": [None]})) or ())
    [2019, 2020]
    """
    if not isinstance(value, pd.DataFrame):
        return None
    column = next((name for name in value.columns if str(name).lower() in _NAMES), None)
    if column is None or not pd.api.types.is_numeric_dtype(value[column]):
        return None
    there = {int(year) for year in value[column].dropna()}
    held = [str(name).lower() for name in value.columns if bool(value[name].notna().any())]
    named = {int(year) for name in held for year in _IN_A_NAME.findall(name)}
    before = {year - 1 for year in there} if any(map(_BEFORE.search, held)) else set()
    return there | named | before


def holes(value: Any) -> list[str]:
    """The columns of a table in which cells are empty.

    >>> holes(pd.DataFrame({"company": ["A", "B"], "sales": [1.0, None]}))
    ['1 row has no sales']
    """
    return [f"{n} {'row has' if n == 1 else 'rows have'} no {name}" for name, n in empty_columns(value).items()]


def empty_columns(value: Any) -> dict[str, int]:
    """How many cells of each column of a table are empty; columns without one are left out.

    >>> empty_columns(pd.DataFrame({"company": ["A", "B"], "sales": [1.0, None]}))
    {'sales': 1}
    """
    if not isinstance(value, pd.DataFrame):
        return {}
    empty = ((str(name), int(value.iloc[:, at].isna().sum())) for at, name in enumerate(value.columns))
    return {name: n for name, n in empty if n}
