"""Reference answers of the house questions on processes: one small pandas function a question.

    PROCESS_REFERENCES["amber_months_of_three_decades"](FredTables(warehouse, as_of))

Each takes the desk's definitions as it takes the data, so the same function tells what a guess at them would give.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

from finexpert.datasets.desk.process_definitions import TAUGHT, Desk, inside, monthly, percent_over
from finexpert.datasets.desk.process_guesses import GUESSED
from finexpert.datasets.desk.process_lessons import LESSONS
from finexpert.datasets.desk.process_near_misses import NEAR_MISSES
from finexpert.datasets.fred.tables import FredTables

DeskReference = Callable[[FredTables, Desk], Any]
DESK_REFERENCES: dict[str, DeskReference] = {}


def _reference(function: DeskReference) -> DeskReference:
    DESK_REFERENCES[function.__name__] = function
    return function


def _days(flags: pd.Series, first: str, last: str) -> pd.DatetimeIndex:
    """The dates from `first` to `last` whose flag is True."""
    return pd.DatetimeIndex(flags[flags].loc[first:last].index)


def _dates(flags: pd.Series, first: str, last: str) -> list[dt.date]:
    return [day.date() for day in _days(flags, first, last)]


def _within(values: pd.Series, found: pd.DataFrame) -> pd.Series:
    return values[inside(found, values.index)]


def _outside(values: pd.Series, found: pd.DataFrame) -> pd.Series:
    return values[~inside(found, values.index)]


def _months(first: str, last: str) -> pd.Series:
    """A one for each month."""
    return pd.Series(1, index=pd.date_range(first, last, freq="MS"))


# One process alone


@_reference
def amber_months_of_three_decades(fred: FredTables, desk: Desk) -> int:
    return len(_days(desk.amber(fred), "1990", "2019"))


@_reference
def turning_quarters_of_35_years(fred: FredTables, desk: Desk) -> list[dt.date]:
    return _dates(desk.turning(fred), "1985", "2019")


@_reference
def months_on_the_anvil(fred: FredTables, desk: Desk) -> int:
    return len(_within(_months("1970-01-01", "2019-12-01"), desk.anvil(fred)))


@_reference
def starts_of_ladders(fred: FredTables, desk: Desk) -> list[dt.date]:
    starts = desk.ladder(fred)["start"]
    return [day.date() for day in starts if pd.Timestamp("1985-01-01") <= day <= pd.Timestamp("2015-12-01")]


@_reference
def lantern_income_over_eight_years(fred: FredTables, desk: Desk) -> float:
    income = desk.lantern(fred)
    return float(100 * (income[2018] / income[2010] - 1))


@_reference
def brake_months_of_two_decades(fred: FredTables, desk: Desk) -> int:
    return len(_days(desk.brake(fred), "2000", "2019"))


@_reference
def months_on_jobless_plateaus(fred: FredTables, desk: Desk) -> int:
    return len(_within(_months("1970-01-01", "2019-12-01"), desk.plateau(fred)))


@_reference
def ripple_inflation_in_june_2022(fred: FredTables, desk: Desk) -> float:
    return float(desk.ripple(fred)[pd.Timestamp("2022-06-01")])


@_reference
def shoulder_quarters_since_1960(fred: FredTables, desk: Desk) -> list[dt.date]:
    return _dates(desk.shoulder(fred), "1960", "2020")


@_reference
def quilt_index_in_october_2008(fred: FredTables, desk: Desk) -> float:
    return float(desk.quilt(fred)[pd.Timestamp("2008-10-01")])


@_reference
def low_tide_days_of_three_decades(fred: FredTables, desk: Desk) -> int:
    return len(_days(desk.tide(fred), "1990", "2019"))


@_reference
def hinge_months_of_half_a_century(fred: FredTables, desk: Desk) -> int:
    return len(_days(desk.hinge(fred), "1970", "2019"))


# One process as a part


@_reference
def saving_in_amber_months(fred: FredTables, desk: Desk) -> float:
    saving = fred["PSAVERT"].loc["1980":"2019"]
    amber = saving.index.isin(_days(desk.amber(fred), "1980", "2019"))
    return float(saving[amber].mean() - saving[~amber].mean())


@_reference
def unemployment_at_turning_quarters(fred: FredTables, desk: Desk) -> float:
    return float(fred["UNRATE"].loc[_days(desk.turning(fred), "1960", "2019")].mean())


@_reference
def prices_over_latest_anvil_spell(fred: FredTables, desk: Desk) -> float:
    ended = desk.anvil(fred)
    latest = ended[ended["end"] < "2024-01-01"].iloc[-1]
    prices = fred["CPIAUCSL"]
    return float(100 * (prices[latest["end"]] / prices[latest["start"]] - 1))


@_reference
def long_yield_on_ladders(fred: FredTables, desk: Desk) -> float:
    return float(_within(monthly(fred["DGS10"]).loc["1985":"2023"], desk.ladder(fred)).mean())


@_reference
def lantern_income_in_years_of_low_unemployment(fred: FredTables, desk: Desk) -> float:
    rate = fred["UNRATE"].groupby(pd.DatetimeIndex(fred["UNRATE"].index).year).mean().loc[1980:2022]
    return float(percent_over(desk.lantern(fred), 1).loc[rate.index[rate < 6]].mean())


@_reference
def sentiment_in_brake_months(fred: FredTables, desk: Desk) -> float:
    sentiment = fred["UMCSENT"].loc["1993":"2023"]
    brake = sentiment.index.isin(_days(desk.brake(fred), "1993", "2023"))
    return float(sentiment[~brake].mean() - sentiment[brake].mean())


@_reference
def inflation_on_jobless_plateaus(fred: FredTables, desk: Desk) -> float:
    return float(_within(percent_over(fred["CPIAUCSL"], 12).loc["1970":"2019"], desk.plateau(fred)).mean())


@_reference
def months_of_ripple_above_funds_rate(fred: FredTables, desk: Desk) -> int:
    return int(desk.ripple(fred).gt(monthly(fred["DFF"])).loc["1985":"2023"].sum())


@_reference
def nasdaq_in_shoulder_quarters(fred: FredTables, desk: Desk) -> float:
    close = fred["NASDAQCOM"].resample("QS").last()
    return float(percent_over(close, 1).loc[_days(desk.shoulder(fred), "1975", "2020")].mean())


@_reference
def quilt_index_and_sentiment(fred: FredTables, desk: Desk) -> float:
    return float(desk.quilt(fred).loc["1980":"2023"].corr(fred["UMCSENT"]))


@_reference
def funds_rate_at_low_tide(fred: FredTables, desk: Desk) -> float:
    return float(fred["DFF"].loc[_days(desk.tide(fred), "1990", "2023")].mean())


@_reference
def real_income_after_hinge_months(fred: FredTables, desk: Desk) -> float:
    later = percent_over(fred["DSPIC96"], 12).shift(-12)
    return float(later.loc[_days(desk.hinge(fred), "1980", "2019")].mean())


# Two processes together


@_reference
def low_tide_days_in_amber_months(fred: FredTables, desk: Desk) -> int:
    days = _days(desk.tide(fred), "1970", "2019")
    return int(days.to_period("M").isin(_days(desk.amber(fred), "1970", "2019").to_period("M")).sum())


@_reference
def low_tide_days_on_ladders(fred: FredTables, desk: Desk) -> int:
    days = _days(desk.tide(fred), "1970", "2023")
    months = pd.DatetimeIndex(days.to_period("M").to_timestamp())
    return int(inside(desk.ladder(fred), months).sum())


@_reference
def ripple_inflation_on_ladders(fred: FredTables, desk: Desk) -> float:
    return float(_within(desk.ripple(fred).loc["1970":"2023"], desk.ladder(fred)).mean())


@_reference
def ripple_inflation_on_jobless_plateaus(fred: FredTables, desk: Desk) -> float:
    ripple, plateaus = desk.ripple(fred).loc["1980":"2019"], desk.plateau(fred)
    return float(_within(ripple, plateaus).mean() - _outside(ripple, plateaus).mean())


@_reference
def quilt_index_off_jobless_plateaus(fred: FredTables, desk: Desk) -> float:
    return float(_outside(desk.quilt(fred).loc["1985":"2019"], desk.plateau(fred)).mean())


@_reference
def quilt_index_on_the_anvil(fred: FredTables, desk: Desk) -> float:
    return float(_within(desk.quilt(fred).loc["1970":"2023"], desk.anvil(fred)).mean())


@_reference
def months_of_brake_or_anvil(fred: FredTables, desk: Desk) -> int:
    anvil = _within(_months("1993-01-01", "2023-12-01"), desk.anvil(fred)).index
    return len(anvil.union(_days(desk.brake(fred), "1993", "2023")))


@_reference
def lantern_income_in_years_with_brake(fred: FredTables, desk: Desk) -> float:
    years = _days(desk.brake(fred), "1993", "2022").year.unique()
    return float(percent_over(desk.lantern(fred), 1).loc[years].mean())


@_reference
def lantern_income_in_turning_years(fred: FredTables, desk: Desk) -> float:
    years = _days(desk.turning(fred), "1961", "2022").year.unique()
    return float(percent_over(desk.lantern(fred), 1).loc[years].mean())


@_reference
def turning_or_shoulder_quarters(fred: FredTables, desk: Desk) -> int:
    return len(_days(desk.turning(fred), "1950", "2023").union(_days(desk.shoulder(fred), "1950", "2023")))


@_reference
def years_with_shoulder_or_hinge(fred: FredTables, desk: Desk) -> int:
    quarters, months = _days(desk.shoulder(fred), "1960", "2023"), _days(desk.hinge(fred), "1960", "2023")
    return len(quarters.year.union(months.year).unique())


@_reference
def amber_months_before_hinge_months(fred: FredTables, desk: Desk) -> float:
    hinge = desk.hinge(fred)
    soon = pd.concat([hinge.shift(-ahead, fill_value=False) for ahead in range(1, 13)], axis=1).any(axis=1)
    return float(100 * soon.loc[_days(desk.amber(fred), "1970", "2019")].mean())


def _with(desk: Desk, function: DeskReference, fred: FredTables) -> Any:
    return function(fred, desk)


PROCESS_REFERENCES: dict[str, Callable[[FredTables], Any]] = {
    **{name: partial(_with, TAUGHT, function) for name, function in DESK_REFERENCES.items()},
    **NEAR_MISSES,
    **LESSONS,
}
PROCESS_GUESSES: dict[str, Callable[[FredTables], Any]] = {
    name: partial(_with, GUESSED, function) for name, function in DESK_REFERENCES.items()
}
