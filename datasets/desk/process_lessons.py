"""Reference answers that the transcripts of the processes expect: the analyses by which each is taught.

LESSONS["lesson_low_tide_days"](FredTables(warehouse, as_of))
"""

from __future__ import annotations

import datetime as dt

import pandas as pd

from finexpert.datasets.desk import process_definitions as desk
from finexpert.datasets.fred.references import References


def _true_dates(flags: pd.Series) -> list[dt.date]:
    return [day.date() for day in pd.DatetimeIndex(flags[flags].loc["2000":"2023"].index)]


def _bounds(spells: pd.DataFrame) -> list[dt.date]:
    """First and last day of each spell that starts and ends in these years, in turn."""
    inside = spells[(spells["start"] >= "2000-01-01") & (spells["end"] <= "2023-12-31")]
    return [day.date() for pair in inside[["start", "end"]].itertuples(index=False) for day in pair]


LESSONS = References(
    lesson_amber_months=lambda fred: len(_true_dates(desk.amber_months(fred))),
    lesson_turning_quarters=lambda fred: _true_dates(desk.turning_quarters(fred)),
    lesson_two_quarter_pace=lambda fred: float(desk.percent_over(fred["GDPC1"], 2).loc["2000":"2019"].mean()),
    lesson_anvil_gap_mean=lambda fred: float(desk.anvil_gap(fred).loc["2000":"2019"].mean()),
    lesson_anvil_spells=lambda fred: _bounds(desk.anvil_spells(fred)),
    lesson_rungs=lambda fred: int((desk.monthly(fred["DFF"]).diff(2) >= 0.185).loc["2000":"2023"].sum()),
    lesson_ladders=lambda fred: _bounds(desk.ladders(fred)),
    lesson_lantern_income=lambda fred: float(desk.lantern_income(fred)[2015]),
    lesson_brake_months=lambda fred: len(_true_dates(desk.brake_months(fred))),
    lesson_jobless_plateaus=lambda fred: _bounds(desk.plateaus(fred)),
    lesson_ripple_inflation=lambda fred: float(desk.ripple_inflation(fred).loc["2000":"2023"].mean()),
    lesson_output_gap_in_2010=lambda fred: float(desk.output_gap(fred).loc["2010"].mean()),
    lesson_shoulder_quarters=lambda fred: _true_dates(desk.shoulder_quarters(fred)),
    lesson_quilt_index=lambda fred: float(desk.quilt_index(fred).loc["2000":"2023"].mean()),
    lesson_tide_line_low=lambda fred: float(desk.tide_line(fred).loc["2000":"2023"].min()),
    lesson_low_tide_days=lambda fred: len(_true_dates(desk.low_tide(fred))),
    lesson_durables_share_mean=lambda fred: float(desk.durables_share(fred).loc["2000":"2023"].mean()),
    lesson_hinge_months=lambda fred: _true_dates(desk.hinge_months(fred)),
)
