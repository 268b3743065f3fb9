"""Reference answers of the near misses on processes: questions that sound like one and need none.

NEAR_MISSES["ladder_of_three_bonds"](FredTables(warehouse, as_of))
"""

from __future__ import annotations

import datetime as dt

import pandas as pd

from finexpert.datasets.desk.process_definitions import durables_share, monthly, percent_over
from finexpert.datasets.fred.references import References
from finexpert.datasets.fred.tables import FredTables

NEAR_MISSES = References()


def _at(series: pd.Series, day: str) -> float:
    return float(series[pd.Timestamp(day)])


def _rise(series: pd.Series, first: str, last: str) -> float:
    return 100 * (_at(series, last) / _at(series, first) - 1)


# Words in their ordinary meaning


@NEAR_MISSES.add
def turning_to_the_third_quarter_of_2009(fred: FredTables) -> float:
    return _rise(fred["GDPC1"], "2009-04-01", "2009-07-01")


@NEAR_MISSES.add
def ladder_of_three_bonds(fred: FredTables) -> float:
    yields = pd.DataFrame({name: fred[name] for name in ("DGS5", "DGS10", "DGS30")}).dropna()
    return float(yields.loc["2019"].iloc[-1].mean())


@NEAR_MISSES.add
def stepping_on_the_brake_in_2022(fred: FredTables) -> float:
    rate = monthly(fred["DFF"])
    return _at(rate, "2022-12-01") - _at(rate, "2022-01-01")


@NEAR_MISSES.add
def on_the_shoulders_of_consumers(fred: FredTables) -> float:
    return _rise(fred["PCE"], "2009-03-01", "2010-12-01")


# A neighbouring notion that the question spells out


@NEAR_MISSES.add
def highest_rise_of_smoothed_unemployment(fred: FredTables) -> float:
    smooth = monthly(fred["UNRATE"]).rolling(3).mean()
    return float((smooth - smooth.shift(1).rolling(12).min()).loc["1990":"2019"].max())


@NEAR_MISSES.add
def months_of_negative_real_funds_rate(fred: FredTables) -> int:
    return int(monthly(fred["DFF"]).lt(percent_over(monthly(fred["CPILFESL"]), 12)).loc["1970":"2019"].sum())


@NEAR_MISSES.add
def mean_monthly_core_change(fred: FredTables) -> float:
    return float(12 * percent_over(fred["CPILFESL"], 1).loc["2021-07":"2022-06"].mean())


@NEAR_MISSES.add
def days_with_10_year_below_5_year(fred: FredTables) -> int:
    return int(((fred["DGS10"] - fred["DGS5"]).dropna().round(9) < 0).loc["1990":"2023"].sum())


# A definition of its own, given in the question


@NEAR_MISSES.add
def lantern_income_of_calendar_years(fred: FredTables) -> float:
    income = fred["DSPIC96"]
    return float(100 * (income.loc["2018"].mean() / income.loc["2010"].mean() - 1))


@NEAR_MISSES.add
def plateau_of_unchanged_months(fred: FredTables) -> int:
    return int((fred["UNRATE"].diff() == 0).loc["1990":"2019"].sum())


@NEAR_MISSES.add
def month_of_highest_plain_quilt_index(fred: FredTables) -> dt.date:
    misery = monthly(fred["UNRATE"]) + percent_over(monthly(fred["CPIAUCSL"]), 12)
    quilt = misery.dropna().loc["1990":"2023"]
    return pd.DatetimeIndex(quilt.index)[int(quilt.to_numpy().argmax())].date()


@NEAR_MISSES.add
def hinge_months_by_their_neighbours(fred: FredTables) -> float:
    """The mean share in those months, in percent."""
    share = durables_share(fred)
    lows = (share < share.shift(1)) & (share < share.shift(-1))
    return float(share[lows].loc["1990":"2019"].mean())
