"""Reference answers of the house questions on keywords: one small pandas function a question, each with two readings.

    KEYWORD_REFERENCES["stress_months_1975_to_2019"](fred)   # 109: by the definition that is taught
    KEYWORD_GUESSES["stress_months_1975_to_2019"](fred)      # 67: by the nearest plausible guess

Near misses and what transcripts expect have one reading only, and stand in files of their own.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import pandas as pd

from finexpert.datasets.desk.keyword_lessons import LESSONS
from finexpert.datasets.desk.keyword_near_misses import NEAR_MISSES
from finexpert.datasets.desk.keywords import GUESSED, TAUGHT, Keywords, days, moved
from finexpert.datasets.fred.tables import FredTables

KEYWORD_REFERENCES: dict[str, Callable[[FredTables], Any]] = {**NEAR_MISSES, **LESSONS}
KEYWORD_GUESSES: dict[str, Callable[[FredTables], Any]] = {}


class KeywordQuestion(Protocol):
    """A question answered by one reading of the keywords."""

    __name__: str

    def __call__(self, fred: FredTables, house: Keywords) -> Any: ...


def _question(function: KeywordQuestion) -> KeywordQuestion:
    KEYWORD_REFERENCES[function.__name__] = partial(function, house=TAUGHT)
    KEYWORD_GUESSES[function.__name__] = partial(function, house=GUESSED)
    return function


def _where(flags: pd.Series, first: str, last: str) -> pd.DatetimeIndex:
    """The periods from first to last for which the flag is set."""
    window = flags.loc[first:last]
    return days(window[window.to_numpy(dtype=bool)])


def _mean(series: pd.Series, periods: pd.DatetimeIndex) -> float:
    return float(series[series.index.isin(periods)].mean())


def _of_quarters(quarters: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """The months of some quarters."""
    return pd.DatetimeIndex([quarter + pd.DateOffset(months=month) for quarter in quarters for month in range(3)])


def _months_of(dates: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """The first days of the months in which some days fall, each once."""
    return dates.to_period("M").unique().to_timestamp()


def _harbours(fred: FredTables, house: Keywords) -> pd.DatetimeIndex:
    return pd.DatetimeIndex([house.harbour_month(fred, year) for year in range(2001, 2024)])


def _december_unemployment(fred: FredTables) -> pd.Series:
    rate = fred["UNRATE"]
    december = rate[days(rate).month == 12]
    return december.set_axis(days(december).year)


# One keyword alone


@_question
def stress_months_1975_to_2019(fred: FredTables, house: Keywords) -> int:
    return len(_where(house.stress_month(fred), "1975-01", "2019-12"))


@_question
def trimmed_spread_of_march_1995(fred: FredTables, house: Keywords) -> float:
    return float(house.trimmed_spread(fred)[pd.Timestamp("1995-03-01")])


@_question
def calm_quarters_1980_to_2019(fred: FredTables, house: Keywords) -> int:
    return len(_where(house.calm_quarter(fred), "1980-01", "2019-12"))


@_question
def yield_squeeze_of_1989(fred: FredTables, house: Keywords) -> float:
    return float(house.yield_squeeze(fred)[1989])


@_question
def money_pulse_of_june_2003(fred: FredTables, house: Keywords) -> float:
    return float(house.money_pulse(fred)[pd.Timestamp("2003-06-01")])


@_question
def flash_days_1996_to_2015(fred: FredTables, house: Keywords) -> int:
    return int(house.flash_days(fred).year.isin(range(1996, 2016)).sum())


@_question
def sentiment_cushion_of_january_2015(fred: FredTables, house: Keywords) -> float:
    return float(house.sentiment_cushion(fred)[pd.Timestamp("2015-01-01")])


@_question
def rate_drift_of_ten_year_yield_in_1994(fred: FredTables, house: Keywords) -> float:
    return float(house.rate_drift(fred, "DGS10")[1994])


@_question
def crunch_weeks_1995_to_2019(fred: FredTables, house: Keywords) -> int:
    return len(_where(house.crunch_week(fred), "1995-01", "2019-12"))


@_question
def ember_months_2004_to_2019(fred: FredTables, house: Keywords) -> int:
    return len(_where(house.ember_month(fred), "2004-01", "2019-12"))


@_question
def harbour_months_2008_to_2012(fred: FredTables, house: Keywords) -> list[dt.date]:
    return [house.harbour_month(fred, year).date() for year in range(2008, 2013)]


@_question
def kettle_reading_of_october_2000(fred: FredTables, house: Keywords) -> float:
    return float(house.kettle_reading(fred)[pd.Timestamp("2000-10-01")])


# One keyword and further analysis


@_question
def unemployment_in_stress_months(fred: FredTables, house: Keywords) -> float:
    return _mean(fred["UNRATE"], _where(house.stress_month(fred), "1990-01", "2019-12"))


@_question
def trimmed_spread_and_later_unemployment(fred: FredTables, house: Keywords) -> float:
    later = fred["UNRATE"].shift(freq=pd.DateOffset(months=-12))
    return float(house.trimmed_spread(fred).loc["1985-01":"2015-12"].corr(later))


@_question
def growth_in_calm_quarters(fred: FredTables, house: Keywords) -> float:
    growth = (100 * fred["GDPC1"].pct_change()).loc["1985":"2019"]
    calm = growth.index.isin(_where(house.calm_quarter(fred), "1985-01", "2019-12"))
    return float(growth[calm].mean() - growth[~calm].mean())


@_question
def unemployment_after_the_highest_squeezes(fred: FredTables, house: Keywords) -> float:
    highest = house.yield_squeeze(fred).loc[1970:2019].nlargest(10)
    return float(_december_unemployment(fred)[highest.index + 1].mean())


@_question
def money_pulse_and_inflation(fred: FredTables, house: Keywords) -> float:
    inflation = 100 * (fred["CPIAUCSL"] / moved(fred["CPIAUCSL"], 12) - 1)
    return float(house.money_pulse(fred).loc["1990-01":"2019-12"].corr(inflation))


@_question
def nasdaq_after_flash_days(fred: FredTables, house: Keywords) -> float:
    close = fred["NASDAQCOM"]
    change = 100 * (close.shift(-20) / close - 1)
    flash = house.flash_days(fred)
    return _mean(change, flash[flash.year.isin(range(1990, 2020))])


@_question
def saving_with_negative_cushion(fred: FredTables, house: Keywords) -> float:
    return _mean(fred["PSAVERT"], _where(house.sentiment_cushion(fred).round(9) < 0, "1985-01", "2019-12"))


@_question
def unemployment_in_years_of_upward_drift(fred: FredTables, house: Keywords) -> float:
    drift = house.rate_drift(fred, "DFF").loc[1970:2019]
    return float(_december_unemployment(fred)[drift.index[drift.round(9) > 0.25]].mean())


@_question
def funds_rate_in_crunch_weeks(fred: FredTables, house: Keywords) -> float:
    return _mean(fred["DFF"], _where(house.crunch_week(fred), "1985-01", "2007-12"))


@_question
def core_inflation_in_ember_months(fred: FredTables, house: Keywords) -> float:
    core = fred["CPILFESL"]
    return _mean(100 * (core / moved(core, 12) - 1), _where(house.ember_month(fred), "2004-01", "2023-12"))


@_question
def sentiment_in_harbour_months(fred: FredTables, house: Keywords) -> float:
    return _mean(fred["UMCSENT"], _harbours(fred, house))


@_question
def kettle_reading_and_saving(fred: FredTables, house: Keywords) -> float:
    return float(house.kettle_reading(fred).loc["1985-01":"2019-12"].corr(fred["PSAVERT"]))


# Two keywords together


@_question
def trimmed_spread_in_stress_months(fred: FredTables, house: Keywords) -> float:
    return _mean(house.trimmed_spread(fred), _where(house.stress_month(fred), "1975-01", "2019-12"))


@_question
def money_pulse_with_negative_trimmed_spread(fred: FredTables, house: Keywords) -> float:
    return _mean(house.money_pulse(fred), _where(house.trimmed_spread(fred).round(9) < 0, "1982-01", "2019-12"))


@_question
def sentiment_cushion_in_calm_quarters(fred: FredTables, house: Keywords) -> float:
    return _mean(house.sentiment_cushion(fred), _of_quarters(_where(house.calm_quarter(fred), "1985-01", "2019-12")))


@_question
def yield_squeeze_and_rate_drift(fred: FredTables, house: Keywords) -> float:
    return float(house.yield_squeeze(fred).loc[1970:2019].corr(house.rate_drift(fred, "DTB3")))


@_question
def money_pulse_in_ember_months(fred: FredTables, house: Keywords) -> float:
    return _mean(house.money_pulse(fred), _where(house.ember_month(fred), "2004-01", "2023-12"))


@_question
def kettle_reading_in_months_with_flash_days(fred: FredTables, house: Keywords) -> float:
    flash = house.flash_days(fred)
    return _mean(house.kettle_reading(fred), _months_of(flash[flash.year.isin(range(1985, 2020))]))


@_question
def sentiment_cushion_in_harbour_months(fred: FredTables, house: Keywords) -> float:
    return _mean(house.sentiment_cushion(fred), _harbours(fred, house))


@_question
def rate_drift_in_years_with_stress_months(fred: FredTables, house: Keywords) -> float:
    years = _where(house.stress_month(fred), "1972-01", "2019-12").year.unique()
    return float(house.rate_drift(fred, "DGS10")[years].mean())


@_question
def crunch_weeks_and_yield_squeeze(fred: FredTables, house: Keywords) -> float:
    flags = house.crunch_week(fred).loc["1985":"2019"]
    return float(flags.groupby(days(flags).year).sum().astype(float).corr(house.yield_squeeze(fred)))


@_question
def crunch_weeks_in_calm_quarters(fred: FredTables, house: Keywords) -> int:
    calm = _of_quarters(_where(house.calm_quarter(fred), "1982-01", "2019-12"))
    crunch = _where(house.crunch_week(fred), "1982-01", "2019-12")
    return int(crunch.to_period("M").isin(calm.to_period("M")).sum())


@_question
def ember_months_without_flash_day(fred: FredTables, house: Keywords) -> int:
    return len(_where(house.ember_month(fred), "2004-01", "2023-12").difference(_months_of(house.flash_days(fred))))


@_question
def kettle_reading_in_harbour_months(fred: FredTables, house: Keywords) -> float:
    kettle = house.kettle_reading(fred).loc["2001":"2023"]
    return _mean(kettle, _harbours(fred, house)) - float(kettle.mean())
