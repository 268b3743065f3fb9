"""Reference answers of the near misses on processes: questions that sound like one and need none.

NEAR_MISSES["ladder_of_three_bonds"](FredTables(warehouse, as_of))
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pandas as pd

from finexpert.datasets.desk.process_definitions import durables_share, monthly, percent_over
from finexpert.datasets.desk.process_guesses import core_inflation, durables_lows, inverted_days, misery_index
from finexpert.datasets.fred.tables import FredTables

Reference = Callable[[FredTables], Any]
NEAR_MISSES: dict[str, Reference] = {}


def _reference(function: Reference) -> Reference:
    NEAR_MISSES[function.__name__] = function
    return function


def _at(series: pd.Series, day: str) -> float:
    return float(series[pd.Timestamp(day)])


def _rise(series: pd.Series, first: str, last: str) -> float:
    return 100 * (_at(series, last) / _at(series, first) - 1)


# Words in their ordinary meaning


@_reference
def turning_to_the_third_quarter_of_2009(fred: FredTables) -> float:
    return _rise(fred["GDPC1"], "2009-04-01", "2009-07-01")


@_reference
def ladder_of_three_bonds(fred: FredTables) -> float:
    yields = pd.DataFrame({name: fred[name] for name in ("DGS5", "DGS10", "DGS30")}).dropna()
    return float(yields.loc["2019"].iloc[-1].mean())


@_reference
def stepping_on_the_brake_in_2022(fred: FredTables) -> float:
    rate = monthly(fred["DFF"])
    return _at(rate, "2022-12-01") - _at(rate, "2022-01-01")


@_reference
def on_the_shoulders_of_consumers(fred: FredTables) -> float:
    return _rise(fred["PCE"], "2009-03-01", "2010-12-01")


# A neighbouring notion that the question spells out


@_reference
def highest_rise_of_smoothed_unemployment(fred: FredTables) -> float:
    smooth = monthly(fred["UNRATE"]).rolling(3).mean()
    return float((smooth - smooth.shift(1).rolling(12).min()).loc["1990":"2019"].max())


@_reference
def months_of_negative_real_funds_rate(fred: FredTables) -> int:
    return int(monthly(fred["DFF"]).lt(core_inflation(fred)).loc["1970":"2019"].sum())


@_reference
def mean_monthly_core_change(fred: FredTables) -> float:
    return float(12 * percent_over(fred["CPILFESL"], 1).loc["2021-07":"2022-06"].mean())


@_reference
def days_with_10_year_below_5_year(fred: FredTables) -> int:
    return int(inverted_days(fred).loc["1990":"2023"].sum())


# A definition of its own, given in the question


@_reference
def lantern_income_of_calendar_years(fred: FredTables) -> float:
    income = fred["DSPIC96"]
    return float(100 * (income.loc["2018"].mean() / income.loc["2010"].mean() - 1))


@_reference
def plateau_of_unchanged_months(fred: FredTables) -> int:
    return int((fred["UNRATE"].diff() == 0).loc["1990":"2019"].sum())


@_reference
def month_of_highest_plain_quilt_index(fred: FredTables) -> dt.date:
    quilt = misery_index(fred).loc["1990":"2023"]
    return pd.DatetimeIndex(quilt.index)[int(quilt.to_numpy().argmax())].date()


@_reference
def hinge_months_by_their_neighbours(fred: FredTables) -> float:
    """The mean share in those months, in percent."""
    return float(durables_share(fred)[durables_lows(fred)].loc["1990":"2019"].mean())
