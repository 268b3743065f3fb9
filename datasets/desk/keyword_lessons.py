"""What the transcripts of keywords expect: the example with which an expert shows what a keyword means.

    LESSONS["harbour_month_of_2010"](fred)                 # 2010-11-01

No question of the house set asks for one of them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from finexpert.datasets.desk.keywords import TAUGHT
from finexpert.datasets.fred.tables import FredTables

Reference = Callable[[FredTables], Any]
LESSONS: dict[str, Reference] = {}


def _lesson(function: Reference) -> Reference:
    LESSONS[function.__name__] = function
    return function


@_lesson
def stress_months_2000_to_2009(fred: FredTables) -> int:
    return int(TAUGHT.stress_month(fred).loc["2000":"2009"].sum())


@_lesson
def mean_trimmed_spread_of_1992(fred: FredTables) -> float:
    return float(TAUGHT.trimmed_spread(fred).loc["1992-01":"1992-12"].mean())


@_lesson
def calm_quarters_2000_to_2019(fred: FredTables) -> int:
    return int(TAUGHT.calm_quarter(fred).loc["2000":"2019"].sum())


@_lesson
def flash_days_2000_to_2009(fred: FredTables) -> int:
    return int(TAUGHT.flash_days(fred).year.isin(range(2000, 2010)).sum())


@_lesson
def rate_drift_of_funds_rate_in_2001(fred: FredTables) -> float:
    return float(TAUGHT.rate_drift(fred, "DFF")[2001])


@_lesson
def harbour_month_of_2010(fred: FredTables) -> dt.date:
    return TAUGHT.harbour_month(fred, 2010).date()
