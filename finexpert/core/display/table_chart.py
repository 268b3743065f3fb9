"""What can be drawn of an answer's table: lines over time, or bars over words.

    chart = of(data)
    chart.kind, chart.along, chart.names        "time", "date", ["real_gdp"]

Numbers of another size than the largest are left to the table: a line that lies on the axis says something wrong.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

MOST_POINTS = 5_000
_MOST_SERIES = 6
_MOST_BARS = 40
_FEWEST = 3
_ANOTHER_SIZE = 200.0
_LONGEST_STEP = 6


@dataclass(frozen=True)
class Chart:
    """`x` are seconds since 1970 for time, years for number, and places for words. A missing value is None."""

    kind: Literal["time", "number", "words"]
    along: str
    x: list[float]
    words: list[str]
    names: list[str]
    series: list[list[float | None]]

    @property
    def as_json(self) -> dict[str, Any]:
        return vars(self)


def of(data: pd.DataFrame) -> Chart | None:
    """The chart of a table; None where none says more than the table."""
    if not _FEWEST <= len(data) <= MOST_POINTS or not data.columns.is_unique:
        return None
    across = [at for at in range(data.shape[1]) if _days(data.iloc[:, at]) is not None]
    if across:
        # Starts and ends are events: a line between them says something wrong.
        return _over_time(data, across[0]) if len(across) == 1 else None
    years = next((at for at, name in enumerate(data.columns) if _is_year(str(name), data.iloc[:, at])), None)
    if years is not None:
        return _over_years(data, years)
    return _over_words(data)


def _over_time(data: pd.DataFrame, at: int) -> Chart | None:
    days = _days(data.iloc[:, at])
    if days is None:
        return None
    wide = _spread(data.assign(**{str(data.columns[at]): days}), at)
    if wide is None or not _steady(wide.index):
        return None
    seconds = [float(day.timestamp()) for day in wide.index]
    return _chart("time", str(data.columns[at]), seconds, [], wide)


def _over_years(data: pd.DataFrame, at: int) -> Chart | None:
    wide = _spread(data, at)
    return None if wide is None else _chart("number", str(data.columns[at]), [float(y) for y in wide.index], [], wide)


def _over_words(data: pd.DataFrame) -> Chart | None:
    words = [at for at in range(data.shape[1]) if _is_words(data.iloc[:, at])]
    numbers = _numbers(data)
    if len(words) != 1 or len(numbers) != 1 or len(data) > _MOST_BARS:
        return None
    labels = [str(value) for value in data.iloc[:, words[0]]]
    if len(set(labels)) < len(labels):
        return None
    places = [float(place) for place in range(len(labels))]
    return _chart("words", str(data.columns[words[0]]), places, labels, data[numbers])


def _steady(days: pd.Index) -> bool:
    """Whether days follow each other in steps of about one size, as weekdays, months and quarters do."""
    steps = days.to_series().diff().dropna()
    return len(steps) >= _FEWEST and bool(steps.max() <= _LONGEST_STEP * steps.median())


def _spread(data: pd.DataFrame, at: int) -> pd.DataFrame | None:
    """The numbers by the column `at`, a column for each word where every row has one; None where rows repeat."""
    along = data.columns[at]
    numbers = [name for name in _numbers(data) if name != along]
    if not numbers or data[along].isna().any():
        return None
    if data[along].is_unique:
        return data.set_index(along)[numbers].sort_index()
    words = [name for place, name in enumerate(data.columns) if place != at and _is_words(data[name])]
    if len(words) != 1 or len(numbers) != 1 or data[words[0]].nunique() > _MOST_SERIES:
        return None
    if data.duplicated([along, words[0]]).any():
        return None
    return data.pivot(index=along, columns=words[0], values=numbers[0]).sort_index()


def _chart(kind: Any, along: str, x: list[float], words: list[str], wide: pd.DataFrame) -> Chart | None:
    sizes = {name: float(wide[name].abs().max()) for name in wide.columns}
    largest = max(sizes.values(), default=0.0)
    names = [name for name, size in sizes.items() if size * _ANOTHER_SIZE >= largest > 0][:_MOST_SERIES]
    if not names:
        return None
    series = [[None if pd.isna(value) else float(value) for value in wide[name]] for name in names]
    return Chart(kind, along, x, words, [str(name) for name in names], series)


def _numbers(data: pd.DataFrame) -> list[Any]:
    return [
        name
        for name in data.columns
        if pd.api.types.is_numeric_dtype(data[name]) and not pd.api.types.is_bool_dtype(data[name])
    ]


def _is_words(column: pd.Series) -> bool:
    return all(isinstance(value, str) for value in column)


def _is_year(name: str, column: pd.Series) -> bool:
    if not pd.api.types.is_integer_dtype(column) or "year" not in name.lower():
        return False
    return bool(column.between(1000, 3000).all())


def _days(column: pd.Series) -> pd.Series | None:
    """The column as days where it holds days, also as texts in the form 2024-01-31.

    >>> _days(pd.Series(["2024-01-31"])).iloc[0].day, _days(pd.Series(["north"]))
    (31, None)
    """
    if pd.api.types.is_datetime64_any_dtype(column):
        dates: pd.Series = column.dt.tz_localize("UTC") if column.dt.tz is None else column.dt.tz_convert("UTC")
        return dates
    values = [value for value in column if value is not None]
    if not values or not all(isinstance(value, dt.date | str) for value in values):
        return None
    try:
        days: pd.Series = pd.to_datetime(column, format="%Y-%m-%d" if isinstance(values[0], str) else None, utc=True)
    except (ValueError, TypeError):
        return None
    return days
