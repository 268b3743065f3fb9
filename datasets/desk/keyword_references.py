"""Reference answers of the house questions on keywords: one small pandas function a question.

    KEYWORD_REFERENCES["stress_months_1975_to_2019"](fred)   # 109

Near misses and what transcripts expect stand in files of their own.
"""

from __future__ import annotations

import pandas as pd

from finexpert.datasets.desk import keywords
from finexpert.datasets.desk.keyword_lessons import LESSONS
from finexpert.datasets.desk.keyword_near_misses import NEAR_MISSES
from finexpert.datasets.desk.keywords import moved
from finexpert.datasets.fred.references import References, days
from finexpert.datasets.fred.tables import FredTables

KEYWORD_REFERENCES = References({**NEAR_MISSES, **LESSONS})


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


def _harbours(fred: FredTables) -> pd.DatetimeIndex:
    return pd.DatetimeIndex([keywords.harbour_month(fred, year) for year in range(2001, 2024)])


def _december_unemployment(fred: FredTables) -> pd.Series:
    rate = fred["UNRATE"]
    december = rate[days(rate).month == 12]
    return december.set_axis(days(december).year)


# One keyword alone


KEYWORD_REFERENCES.update(
    stress_months_1975_to_2019=lambda fred: len(_where(keywords.stress_month(fred), "1975-01", "2019-12")),
    trimmed_spread_of_march_1995=lambda fred: float(keywords.trimmed_spread(fred)[pd.Timestamp("1995-03-01")]),
    calm_quarters_1980_to_2019=lambda fred: len(_where(keywords.calm_quarter(fred), "1980-01", "2019-12")),
    yield_squeeze_of_1989=lambda fred: float(keywords.yield_squeeze(fred)[1989]),
    money_pulse_of_june_2003=lambda fred: float(keywords.money_pulse(fred)[pd.Timestamp("2003-06-01")]),
    flash_days_1996_to_2015=lambda fred: int(keywords.flash_days(fred).year.isin(range(1996, 2016)).sum()),
    sentiment_cushion_of_january_2015=lambda fred: float(keywords.sentiment_cushion(fred)[pd.Timestamp("2015-01-01")]),
    rate_drift_of_ten_year_yield_in_1994=lambda fred: float(keywords.rate_drift(fred, "DGS10")[1994]),
    crunch_weeks_1995_to_2019=lambda fred: len(_where(keywords.crunch_week(fred), "1995-01", "2019-12")),
    ember_months_2004_to_2019=lambda fred: len(_where(keywords.ember_month(fred), "2004-01", "2019-12")),
    harbour_months_2008_to_2012=lambda fred: [keywords.harbour_month(fred, year).date() for year in range(2008, 2013)],
    kettle_reading_of_october_2000=lambda fred: float(keywords.kettle_reading(fred)[pd.Timestamp("2000-10-01")]),
)


# One keyword and further analysis


@KEYWORD_REFERENCES.add
def unemployment_in_stress_months(fred: FredTables) -> float:
    return _mean(fred["UNRATE"], _where(keywords.stress_month(fred), "1990-01", "2019-12"))


@KEYWORD_REFERENCES.add
def trimmed_spread_and_later_unemployment(fred: FredTables) -> float:
    later = fred["UNRATE"].shift(freq=pd.DateOffset(months=-12))
    return float(keywords.trimmed_spread(fred).loc["1985-01":"2015-12"].corr(later))


@KEYWORD_REFERENCES.add
def growth_in_calm_quarters(fred: FredTables) -> float:
    growth = (100 * fred["GDPC1"].pct_change()).loc["1985":"2019"]
    calm = growth.index.isin(_where(keywords.calm_quarter(fred), "1985-01", "2019-12"))
    return float(growth[calm].mean() - growth[~calm].mean())


@KEYWORD_REFERENCES.add
def unemployment_after_the_highest_squeezes(fred: FredTables) -> float:
    highest = keywords.yield_squeeze(fred).loc[1970:2019].nlargest(10)
    return float(_december_unemployment(fred)[highest.index + 1].mean())


@KEYWORD_REFERENCES.add
def money_pulse_and_inflation(fred: FredTables) -> float:
    inflation = 100 * (fred["CPIAUCSL"] / moved(fred["CPIAUCSL"], 12) - 1)
    return float(keywords.money_pulse(fred).loc["1990-01":"2019-12"].corr(inflation))


@KEYWORD_REFERENCES.add
def nasdaq_after_flash_days(fred: FredTables) -> float:
    close = fred["NASDAQCOM"]
    change = 100 * (close.shift(-20) / close - 1)
    flash = keywords.flash_days(fred)
    return _mean(change, flash[flash.year.isin(range(1990, 2020))])


@KEYWORD_REFERENCES.add
def saving_with_negative_cushion(fred: FredTables) -> float:
    return _mean(fred["PSAVERT"], _where(keywords.sentiment_cushion(fred).round(9) < 0, "1985-01", "2019-12"))


@KEYWORD_REFERENCES.add
def unemployment_in_years_of_upward_drift(fred: FredTables) -> float:
    drift = keywords.rate_drift(fred, "DFF").loc[1970:2019]
    return float(_december_unemployment(fred)[drift.index[drift.round(9) > 0.25]].mean())


@KEYWORD_REFERENCES.add
def funds_rate_in_crunch_weeks(fred: FredTables) -> float:
    return _mean(fred["DFF"], _where(keywords.crunch_week(fred), "1985-01", "2007-12"))


@KEYWORD_REFERENCES.add
def core_inflation_in_ember_months(fred: FredTables) -> float:
    core = fred["CPILFESL"]
    return _mean(100 * (core / moved(core, 12) - 1), _where(keywords.ember_month(fred), "2004-01", "2023-12"))


@KEYWORD_REFERENCES.add
def sentiment_in_harbour_months(fred: FredTables) -> float:
    return _mean(fred["UMCSENT"], _harbours(fred))


@KEYWORD_REFERENCES.add
def kettle_reading_and_saving(fred: FredTables) -> float:
    return float(keywords.kettle_reading(fred).loc["1985-01":"2019-12"].corr(fred["PSAVERT"]))


# Two keywords together


@KEYWORD_REFERENCES.add
def trimmed_spread_in_stress_months(fred: FredTables) -> float:
    return _mean(keywords.trimmed_spread(fred), _where(keywords.stress_month(fred), "1975-01", "2019-12"))


@KEYWORD_REFERENCES.add
def money_pulse_with_negative_trimmed_spread(fred: FredTables) -> float:
    return _mean(keywords.money_pulse(fred), _where(keywords.trimmed_spread(fred).round(9) < 0, "1982-01", "2019-12"))


@KEYWORD_REFERENCES.add
def sentiment_cushion_in_calm_quarters(fred: FredTables) -> float:
    return _mean(
        keywords.sentiment_cushion(fred), _of_quarters(_where(keywords.calm_quarter(fred), "1985-01", "2019-12"))
    )


@KEYWORD_REFERENCES.add
def yield_squeeze_and_rate_drift(fred: FredTables) -> float:
    return float(keywords.yield_squeeze(fred).loc[1970:2019].corr(keywords.rate_drift(fred, "DTB3")))


@KEYWORD_REFERENCES.add
def money_pulse_in_ember_months(fred: FredTables) -> float:
    return _mean(keywords.money_pulse(fred), _where(keywords.ember_month(fred), "2004-01", "2023-12"))


@KEYWORD_REFERENCES.add
def kettle_reading_in_months_with_flash_days(fred: FredTables) -> float:
    flash = keywords.flash_days(fred)
    return _mean(keywords.kettle_reading(fred), _months_of(flash[flash.year.isin(range(1985, 2020))]))


@KEYWORD_REFERENCES.add
def sentiment_cushion_in_harbour_months(fred: FredTables) -> float:
    return _mean(keywords.sentiment_cushion(fred), _harbours(fred))


@KEYWORD_REFERENCES.add
def rate_drift_in_years_with_stress_months(fred: FredTables) -> float:
    years = _where(keywords.stress_month(fred), "1972-01", "2019-12").year.unique()
    return float(keywords.rate_drift(fred, "DGS10")[years].mean())


@KEYWORD_REFERENCES.add
def crunch_weeks_and_yield_squeeze(fred: FredTables) -> float:
    flags = keywords.crunch_week(fred).loc["1985":"2019"]
    return float(flags.groupby(days(flags).year).sum().astype(float).corr(keywords.yield_squeeze(fred)))


@KEYWORD_REFERENCES.add
def crunch_weeks_in_calm_quarters(fred: FredTables) -> int:
    calm = _of_quarters(_where(keywords.calm_quarter(fred), "1982-01", "2019-12"))
    crunch = _where(keywords.crunch_week(fred), "1982-01", "2019-12")
    return int(crunch.to_period("M").isin(calm.to_period("M")).sum())


@KEYWORD_REFERENCES.add
def ember_months_without_flash_day(fred: FredTables) -> int:
    return len(
        _where(keywords.ember_month(fred), "2004-01", "2023-12").difference(_months_of(keywords.flash_days(fred)))
    )


@KEYWORD_REFERENCES.add
def kettle_reading_in_harbour_months(fred: FredTables) -> float:
    kettle = keywords.kettle_reading(fred).loc["2001":"2023"]
    return _mean(kettle, _harbours(fred)) - float(kettle.mean())
