"""What the transcripts of keywords expect: the example with which an expert shows what a keyword means.

    LESSONS["harbour_month_of_2010"](fred)                 # 2010-11-01

No question of the house set asks for one of them.
"""

from __future__ import annotations

import datetime as dt

from finexpert.datasets.desk import keywords
from finexpert.datasets.fred.references import References
from finexpert.datasets.fred.tables import FredTables

LESSONS = References()


@LESSONS.add
def stress_months_2000_to_2009(fred: FredTables) -> int:
    return int(keywords.stress_month(fred).loc["2000":"2009"].sum())


@LESSONS.add
def mean_trimmed_spread_of_1992(fred: FredTables) -> float:
    return float(keywords.trimmed_spread(fred).loc["1992-01":"1992-12"].mean())


@LESSONS.add
def calm_quarters_2000_to_2019(fred: FredTables) -> int:
    return int(keywords.calm_quarter(fred).loc["2000":"2019"].sum())


@LESSONS.add
def flash_days_2000_to_2009(fred: FredTables) -> int:
    return int(keywords.flash_days(fred).year.isin(range(2000, 2010)).sum())


@LESSONS.add
def rate_drift_of_funds_rate_in_2001(fred: FredTables) -> float:
    return float(keywords.rate_drift(fred, "DFF")[2001])


@LESSONS.add
def harbour_month_of_2010(fred: FredTables) -> dt.date:
    return keywords.harbour_month(fred, 2010).date()
