"""Reference answers that the transcripts of the processes expect: the analyses by which each is taught.

LESSONS["lesson_low_tide_days"](FredTables(warehouse, as_of))
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pandas as pd

from finexpert.datasets.desk.process_definitions import (
    TAUGHT,
    anvil_gap,
    durables_share,
    monthly,
    output_gap,
    percent_over,
    tide_line,
)
from finexpert.datasets.fred.tables import FredTables

LESSONS: dict[str, Callable[[FredTables], Any]] = {}


def _lesson(function: Callable[[FredTables], Any]) -> Callable[[FredTables], Any]:
    LESSONS[f"lesson_{function.__name__}"] = function
    return function


def _true_dates(flags: pd.Series, first: str, last: str) -> list[dt.date]:
    return [day.date() for day in pd.DatetimeIndex(flags[flags].loc[first:last].index)]


def _bounds(spells: pd.DataFrame, first: str, last: str) -> list[dt.date]:
    """First and last day of each spell that starts and ends in the window, in turn."""
    inside = spells[(spells["start"] >= first) & (spells["end"] <= last)]
    return [day.date() for pair in inside[["start", "end"]].itertuples(index=False) for day in pair]


@_lesson
def amber_months(fred: FredTables) -> int:
    return len(_true_dates(TAUGHT.amber(fred), "2000", "2023"))


@_lesson
def turning_quarters(fred: FredTables) -> list[dt.date]:
    return _true_dates(TAUGHT.turning(fred), "2000", "2023")


@_lesson
def two_quarter_pace(fred: FredTables) -> float:
    return float(percent_over(fred["GDPC1"], 2).loc["2000":"2019"].mean())


@_lesson
def anvil_gap_mean(fred: FredTables) -> float:
    return float(anvil_gap(fred).loc["2000":"2019"].mean())


@_lesson
def anvil_spells(fred: FredTables) -> list[dt.date]:
    return _bounds(TAUGHT.anvil(fred), "2000-01-01", "2023-12-31")


@_lesson
def rungs(fred: FredTables) -> int:
    rate = monthly(fred["DFF"])
    return int((rate - rate.shift(2) >= 0.185).loc["2000":"2023"].sum())


@_lesson
def ladders(fred: FredTables) -> list[dt.date]:
    return _bounds(TAUGHT.ladder(fred), "2000-01-01", "2023-12-31")


@_lesson
def lantern_income(fred: FredTables) -> float:
    return float(TAUGHT.lantern(fred)[2015])


@_lesson
def brake_months(fred: FredTables) -> int:
    return len(_true_dates(TAUGHT.brake(fred), "2000", "2023"))


@_lesson
def jobless_plateaus(fred: FredTables) -> list[dt.date]:
    return _bounds(TAUGHT.plateau(fred), "2000-01-01", "2023-12-31")


@_lesson
def ripple_inflation(fred: FredTables) -> float:
    return float(TAUGHT.ripple(fred).loc["2000":"2023"].mean())


@_lesson
def output_gap_in_2010(fred: FredTables) -> float:
    return float(output_gap(fred).loc["2010"].mean())


@_lesson
def shoulder_quarters(fred: FredTables) -> list[dt.date]:
    return _true_dates(TAUGHT.shoulder(fred), "2000", "2023")


@_lesson
def quilt_index(fred: FredTables) -> float:
    return float(TAUGHT.quilt(fred).loc["2000":"2023"].mean())


@_lesson
def tide_line_low(fred: FredTables) -> float:
    return float(tide_line(fred).loc["2000":"2023"].min())


@_lesson
def low_tide_days(fred: FredTables) -> int:
    return len(_true_dates(TAUGHT.tide(fred), "2000", "2023"))


@_lesson
def durables_share_mean(fred: FredTables) -> float:
    return float(durables_share(fred).loc["2000":"2023"].mean())


@_lesson
def hinge_months(fred: FredTables) -> list[dt.date]:
    return _true_dates(TAUGHT.hinge(fred), "2000", "2023")
