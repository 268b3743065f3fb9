"""Reference answers of the house questions on processes: one small pandas function a question.

PROCESS_REFERENCES["amber_months_of_three_decades"](FredTables(warehouse, as_of))
"""

from __future__ import annotations

import datetime as dt

import pandas as pd

from finexpert.datasets.desk import process_definitions as desk
from finexpert.datasets.desk.process_definitions import inside, monthly, percent_over
from finexpert.datasets.desk.process_lessons import LESSONS
from finexpert.datasets.desk.process_near_misses import NEAR_MISSES
from finexpert.datasets.fred.references import References
from finexpert.datasets.fred.tables import FredTables

PROCESS_REFERENCES = References({**NEAR_MISSES, **LESSONS})


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


@PROCESS_REFERENCES.add
def amber_months_of_three_decades(fred: FredTables) -> int:
    return len(_days(desk.amber_months(fred), "1990", "2019"))


@PROCESS_REFERENCES.add
def turning_quarters_of_35_years(fred: FredTables) -> list[dt.date]:
    return _dates(desk.turning_quarters(fred), "1985", "2019")


@PROCESS_REFERENCES.add
def months_on_the_anvil(fred: FredTables) -> int:
    return len(_within(_months("1970-01-01", "2019-12-01"), desk.anvil_spells(fred)))


@PROCESS_REFERENCES.add
def starts_of_ladders(fred: FredTables) -> list[dt.date]:
    starts = desk.ladders(fred)["start"]
    return [day.date() for day in starts if pd.Timestamp("1985-01-01") <= day <= pd.Timestamp("2015-12-01")]


@PROCESS_REFERENCES.add
def lantern_income_over_eight_years(fred: FredTables) -> float:
    income = desk.lantern_income(fred)
    return float(100 * (income[2018] / income[2010] - 1))


@PROCESS_REFERENCES.add
def brake_months_of_two_decades(fred: FredTables) -> int:
    return len(_days(desk.brake_months(fred), "2000", "2019"))


@PROCESS_REFERENCES.add
def months_on_jobless_plateaus(fred: FredTables) -> int:
    return len(_within(_months("1970-01-01", "2019-12-01"), desk.plateaus(fred)))


@PROCESS_REFERENCES.add
def ripple_inflation_in_june_2022(fred: FredTables) -> float:
    return float(desk.ripple_inflation(fred)[pd.Timestamp("2022-06-01")])


@PROCESS_REFERENCES.add
def shoulder_quarters_since_1960(fred: FredTables) -> list[dt.date]:
    return _dates(desk.shoulder_quarters(fred), "1960", "2020")


@PROCESS_REFERENCES.add
def quilt_index_in_october_2008(fred: FredTables) -> float:
    return float(desk.quilt_index(fred)[pd.Timestamp("2008-10-01")])


@PROCESS_REFERENCES.add
def low_tide_days_of_three_decades(fred: FredTables) -> int:
    return len(_days(desk.low_tide(fred), "1990", "2019"))


@PROCESS_REFERENCES.add
def hinge_months_of_half_a_century(fred: FredTables) -> int:
    return len(_days(desk.hinge_months(fred), "1970", "2019"))


# One process as a part


@PROCESS_REFERENCES.add
def saving_in_amber_months(fred: FredTables) -> float:
    saving = fred["PSAVERT"].loc["1980":"2019"]
    amber = saving.index.isin(_days(desk.amber_months(fred), "1980", "2019"))
    return float(saving[amber].mean() - saving[~amber].mean())


@PROCESS_REFERENCES.add
def unemployment_at_turning_quarters(fred: FredTables) -> float:
    return float(fred["UNRATE"].loc[_days(desk.turning_quarters(fred), "1960", "2019")].mean())


@PROCESS_REFERENCES.add
def prices_over_latest_anvil_spell(fred: FredTables) -> float:
    ended = desk.anvil_spells(fred)
    latest = ended[ended["end"] < "2024-01-01"].iloc[-1]
    prices = fred["CPIAUCSL"]
    return float(100 * (prices[latest["end"]] / prices[latest["start"]] - 1))


@PROCESS_REFERENCES.add
def long_yield_on_ladders(fred: FredTables) -> float:
    return float(_within(monthly(fred["DGS10"]).loc["1985":"2023"], desk.ladders(fred)).mean())


@PROCESS_REFERENCES.add
def lantern_income_in_years_of_low_unemployment(fred: FredTables) -> float:
    rate = fred["UNRATE"].groupby(pd.DatetimeIndex(fred["UNRATE"].index).year).mean().loc[1980:2022]
    return float(percent_over(desk.lantern_income(fred), 1).loc[rate.index[rate < 6]].mean())


@PROCESS_REFERENCES.add
def sentiment_in_brake_months(fred: FredTables) -> float:
    sentiment = fred["UMCSENT"].loc["1993":"2023"]
    brake = sentiment.index.isin(_days(desk.brake_months(fred), "1993", "2023"))
    return float(sentiment[~brake].mean() - sentiment[brake].mean())


@PROCESS_REFERENCES.add
def inflation_on_jobless_plateaus(fred: FredTables) -> float:
    return float(_within(percent_over(fred["CPIAUCSL"], 12).loc["1970":"2019"], desk.plateaus(fred)).mean())


@PROCESS_REFERENCES.add
def months_of_ripple_above_funds_rate(fred: FredTables) -> int:
    return int(desk.ripple_inflation(fred).gt(monthly(fred["DFF"])).loc["1985":"2023"].sum())


@PROCESS_REFERENCES.add
def nasdaq_in_shoulder_quarters(fred: FredTables) -> float:
    close = fred["NASDAQCOM"].resample("QS").last()
    return float(percent_over(close, 1).loc[_days(desk.shoulder_quarters(fred), "1975", "2020")].mean())


@PROCESS_REFERENCES.add
def quilt_index_and_sentiment(fred: FredTables) -> float:
    return float(desk.quilt_index(fred).loc["1980":"2023"].corr(fred["UMCSENT"]))


@PROCESS_REFERENCES.add
def funds_rate_at_low_tide(fred: FredTables) -> float:
    return float(fred["DFF"].loc[_days(desk.low_tide(fred), "1990", "2023")].mean())


@PROCESS_REFERENCES.add
def real_income_after_hinge_months(fred: FredTables) -> float:
    later = percent_over(fred["DSPIC96"], 12).shift(-12)
    return float(later.loc[_days(desk.hinge_months(fred), "1980", "2019")].mean())


# Two processes together


@PROCESS_REFERENCES.add
def low_tide_days_in_amber_months(fred: FredTables) -> int:
    days = _days(desk.low_tide(fred), "1970", "2019")
    return int(days.to_period("M").isin(_days(desk.amber_months(fred), "1970", "2019").to_period("M")).sum())


@PROCESS_REFERENCES.add
def low_tide_days_on_ladders(fred: FredTables) -> int:
    days = _days(desk.low_tide(fred), "1970", "2023")
    months = pd.DatetimeIndex(days.to_period("M").to_timestamp())
    return int(inside(desk.ladders(fred), months).sum())


@PROCESS_REFERENCES.add
def ripple_inflation_on_ladders(fred: FredTables) -> float:
    return float(_within(desk.ripple_inflation(fred).loc["1970":"2023"], desk.ladders(fred)).mean())


@PROCESS_REFERENCES.add
def ripple_inflation_on_jobless_plateaus(fred: FredTables) -> float:
    ripple, plateaus = desk.ripple_inflation(fred).loc["1980":"2019"], desk.plateaus(fred)
    return float(_within(ripple, plateaus).mean() - _outside(ripple, plateaus).mean())


@PROCESS_REFERENCES.add
def quilt_index_off_jobless_plateaus(fred: FredTables) -> float:
    return float(_outside(desk.quilt_index(fred).loc["1985":"2019"], desk.plateaus(fred)).mean())


@PROCESS_REFERENCES.add
def quilt_index_on_the_anvil(fred: FredTables) -> float:
    return float(_within(desk.quilt_index(fred).loc["1970":"2023"], desk.anvil_spells(fred)).mean())


@PROCESS_REFERENCES.add
def months_of_brake_or_anvil(fred: FredTables) -> int:
    anvil = _within(_months("1993-01-01", "2023-12-01"), desk.anvil_spells(fred)).index
    return len(anvil.union(_days(desk.brake_months(fred), "1993", "2023")))


@PROCESS_REFERENCES.add
def lantern_income_in_years_with_brake(fred: FredTables) -> float:
    years = _days(desk.brake_months(fred), "1993", "2022").year.unique()
    return float(percent_over(desk.lantern_income(fred), 1).loc[years].mean())


@PROCESS_REFERENCES.add
def lantern_income_in_turning_years(fred: FredTables) -> float:
    years = _days(desk.turning_quarters(fred), "1961", "2022").year.unique()
    return float(percent_over(desk.lantern_income(fred), 1).loc[years].mean())


@PROCESS_REFERENCES.add
def turning_or_shoulder_quarters(fred: FredTables) -> int:
    return len(
        _days(desk.turning_quarters(fred), "1950", "2023").union(_days(desk.shoulder_quarters(fred), "1950", "2023"))
    )


@PROCESS_REFERENCES.add
def years_with_shoulder_or_hinge(fred: FredTables) -> int:
    quarters, months = (
        _days(desk.shoulder_quarters(fred), "1960", "2023"),
        _days(desk.hinge_months(fred), "1960", "2023"),
    )
    return len(quarters.year.union(months.year).unique())


@PROCESS_REFERENCES.add
def amber_months_before_hinge_months(fred: FredTables) -> float:
    hinge = desk.hinge_months(fred)
    soon = pd.concat([hinge.shift(-ahead, fill_value=False) for ahead in range(1, 13)], axis=1).any(axis=1)
    return float(100 * soon.loc[_days(desk.amber_months(fred), "1970", "2019")].mean())
