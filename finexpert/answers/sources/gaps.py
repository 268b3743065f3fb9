"""Years of an answer in which parts have met: a list of them is one of years, and one that a join dropped is said.

gaps("... from 2020 to 2022 ...", rows of 2021 and 2022)      ["there is no row for 2020"]
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
_RANGE = re.compile(rf"{_YEAR}\s*(?:to|through|until|and|[-\u2013])\s*{_YEAR}", re.IGNORECASE)


def of_years(wanted: AnswerFormat | None, select: str) -> AnswerFormat | None:
    """The format of a list, whose items are years where the SELECT's one column is called so."""
    if wanted is None or wanted.kind != "list" or wanted.items is not None:
        return wanted
    try:
        columns = [each.alias_or_name.lower() for each in sqlglot.parse_one(select, read="duckdb").selects]  # type: ignore[attr-defined]
    except (SqlglotError, AttributeError):
        return wanted
    return wanted.model_copy(update={"items": "year"}) if len(columns) == 1 and columns[0] in _NAMES else wanted


def gaps(question: str, value: Any) -> list[str]:
    """The years of a span in the question that have no row in a table by years.

    >>> gaps("How did it move in each year from 2020 to 2022?", pd.DataFrame({"year": [2021, 2022], "growth": [1.0, 2.0]}))
    ['there is no row for 2020']
    """
    if not isinstance(value, pd.DataFrame):
        return []
    column = next((name for name in value.columns if str(name).lower() in _NAMES), None)
    if column is None:
        return []
    spans = [(int(found[1]), int(found[2])) for found in _RANGE.finditer(question)]
    asked = {year for first, last in spans if last - first < 100 for year in range(first, last + 1)}
    missing = sorted(asked - {int(year) for year in value[column].dropna()})
    return [f"there is no row for {', '.join(map(str, missing))}"] if missing else []
