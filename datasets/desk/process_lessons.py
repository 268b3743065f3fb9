"""Reference answers that the transcripts of the processes expect: the analyses by which each is taught.

LESSONS["lesson_low_tide_days"](FredTables(warehouse, as_of))
"""

from __future__ import annotations

import datetime as dt

import pandas as pd

from finexpert.datasets.desk import process_definitions as desk
from finexpert.datasets.fred.references import References
from finexpert.datasets.fred.tables import FredTables

LESSONS = References()


def _true_dates(flags: pd.Series, first: str, last: str) -> list[dt.date]:
    return [day.date() for day in pd.DatetimeIndex(flags[flags].loc[first:last].index)]


def _bounds(spells: pd.DataFrame, first: str, last: str) -> list[dt.date]:
    """First and last day of each spell that starts and ends in the window, in turn."""
    inside = spells[(spells["start"] >= first) & (spells["end"] <= last)]
    return [day.date() for pair in inside[["start", "end"]].itertuples(index=False) for day in pair]


@LESSONS.add
def lesson_amber_months(fred: FredTables) -> int:
    return len(_true_dates(desk.amber_months(fred), "2000", "2023"))


@LESSONS.add
def lesson_turning_quarters(fred: FredTables) -> list[dt.date]:
    return _true_dates(desk.turning_quarters(fred), "2000", "2023")


@LESSONS.add
def lesson_two_quarter_pace(fred: FredTables) -> float:
    return float(desk.percent_over(fred["GDPC1"], 2).loc["2000":"2019"].mean())


@LESSONS.add
def lesson_anvil_gap_mean(fred: FredTables) -> float:
    return float(desk.anvil_gap(fred).loc["2000":"2019"].mean())


@LESSONS.add
def lesson_anvil_spells(fred: FredTables) -> list[dt.date]:
    return _bounds(desk.anvil_spells(fred), "2000-01-01", "2023-12-31")


@LESSONS.add
def lesson_rungs(fred: FredTables) -> int:
    rate = desk.monthly(fred["DFF"])
    return int((rate - rate.shift(2) >= 0.185).loc["2000":"2023"].sum())


@LESSONS.add
def lesson_ladders(fred: FredTables) -> list[dt.date]:
    return _bounds(desk.ladders(fred), "2000-01-01", "2023-12-31")


@LESSONS.add
def lesson_lantern_income(fred: FredTables) -> float:
    return float(desk.lantern_income(fred)[2015])


@LESSONS.add
def lesson_brake_months(fred: FredTables) -> int:
    return len(_true_dates(desk.brake_months(fred), "2000", "2023"))


@LESSONS.add
def lesson_jobless_plateaus(fred: FredTables) -> list[dt.date]:
    return _bounds(desk.plateaus(fred), "2000-01-01", "2023-12-31")


@LESSONS.add
def lesson_ripple_inflation(fred: FredTables) -> float:
    return float(desk.ripple_inflation(fred).loc["2000":"2023"].mean())


@LESSONS.add
def lesson_output_gap_in_2010(fred: FredTables) -> float:
    return float(desk.output_gap(fred).loc["2010"].mean())


@LESSONS.add
def lesson_shoulder_quarters(fred: FredTables) -> list[dt.date]:
    return _true_dates(desk.shoulder_quarters(fred), "2000", "2023")


@LESSONS.add
def lesson_quilt_index(fred: FredTables) -> float:
    return float(desk.quilt_index(fred).loc["2000":"2023"].mean())


@LESSONS.add
def lesson_tide_line_low(fred: FredTables) -> float:
    return float(desk.tide_line(fred).loc["2000":"2023"].min())


@LESSONS.add
def lesson_low_tide_days(fred: FredTables) -> int:
    return len(_true_dates(desk.low_tide(fred), "2000", "2023"))


@LESSONS.add
def lesson_durables_share_mean(fred: FredTables) -> float:
    return float(desk.durables_share(fred).loc["2000":"2023"].mean())


@LESSONS.add
def lesson_hinge_months(fred: FredTables) -> list[dt.date]:
    return _true_dates(desk.hinge_months(fred), "2000", "2023")
