"""Reference answers of the packaged FRED questions: one small pandas function a question.

    REFERENCES["unemployment_at_recession_start"](FredTables(warehouse, as_of))

They read the warehouse as of the question's day, so gold follows the data at hand, its vintage or the sample economy.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from finexpert.datasets.fred.recessions import in_recession
from finexpert.datasets.fred.tables import FredTables

Reference = Callable[[FredTables], Any]


class References(dict[str, Reference]):
    """Reference functions by their names, which are the ids of questions."""

    def add(self, function: Reference) -> Reference:
        """Take in a function; a decorator."""
        self[function.__name__] = function
        return function


REFERENCES = References()

_TEN_YEARS, _TWENTY_YEARS, _THIRTY_YEARS = "2014-10-01", "2004-10-01", "1994-10-01"


def days(series: pd.Series) -> pd.DatetimeIndex:
    """The dates of a series."""
    return pd.DatetimeIndex(series.index)


def _highest(series: pd.Series) -> pd.Timestamp:
    """The first day on which the series is highest."""
    return days(series)[int(series.to_numpy().argmax())]


def _yearly_mean(monthly: pd.Series) -> pd.Series:
    return monthly.groupby(days(monthly).year).mean()


def monthly(daily: pd.Series) -> pd.Series:
    """The mean of each month that has a value, by its first day."""
    return daily.resample("MS").mean().dropna()


def _yearly_change(series: pd.Series) -> pd.Series:
    """Percent against the same month one year before; nothing where that month is missing."""
    return 100 * (series / series.shift(freq=pd.DateOffset(years=1)).reindex(series.index) - 1).dropna()


def _crossings(above: pd.Series) -> int:
    return int((above != above.shift()).iloc[1:].sum())


def _longest_run(flags: pd.Series) -> int:
    return int(flags.astype(int).groupby((~flags).cumsum()).sum().max())


def _last_before(series: pd.Series, day: Any) -> float:
    return float(series[series.index < pd.Timestamp(day)].iloc[-1])


def _growth(series: pd.Series, day: Any, later_day: Any) -> float:
    """Percent from the last value before `day` to the last one before `later_day`."""
    return 100 * (_last_before(series, later_day) / _last_before(series, day) - 1)


# Gross domestic product


@REFERENCES.add
def latest_recession(fred: FredTables) -> list[int]:
    latest = fred.recessions[-1]
    return [latest.start.year, latest.start.month, latest.months]


@REFERENCES.add
def recessions_in_thirty_years(fred: FredTables) -> int:
    return sum(recession.start >= pd.Timestamp(_THIRTY_YEARS) for recession in fred.recessions)


@REFERENCES.add
def share_of_quarters_above_potential(fred: FredTables) -> float:
    gap = (fred["GDPC1"] - fred["GDPPOT"]).dropna().loc[_TWENTY_YEARS:]
    return float(100 * (gap > 0).mean())


@REFERENCES.add
def gdp_crossings_of_20000_billion(fred: FredTables) -> int:
    return _crossings(fred["GDP"] > 20_000)


@REFERENCES.add
def fall_of_gdp_in_longest_recession(fred: FredTables) -> float:
    longest = max(fred.recessions, key=lambda recession: recession.quarters)
    real = fred["GDPC1"]
    return float(100 * (1 - real[longest.end] / real[longest.peak]))


# Unemployment


@REFERENCES.add
def unemployment_at_recession_start(fred: FredTables) -> float:
    return float(fred["UNRATE"][fred.recessions[-1].start])


@REFERENCES.add
def unemployment_crossings_of_8_percent(fred: FredTables) -> int:
    # Rounded, so that noise in the last bits does not decide whether an average of exactly 8 is above 8.
    return _crossings(fred["UNRATE"].rolling(6).mean().dropna().round(9) > 8)


@REFERENCES.add
def unemployment_far_from_recessions(fred: FredTables) -> float:
    rate = fred["UNRATE"].loc[_TEN_YEARS:]
    return float(rate[~in_recession(days(rate), fred.recessions, padding=2)].mean())


@REFERENCES.add
def unemployment_against_ten_years(fred: FredTables) -> str:
    rate = fred["UNRATE"].loc[_TEN_YEARS:]
    calm = rate[~in_recession(days(rate), fred.recessions)]
    return "higher" if fred["UNRATE"].iloc[-1] > calm.mean() else "lower"


@REFERENCES.add
def longest_run_of_falling_participation(fred: FredTables) -> int:
    return _longest_run(_yearly_change(fred["CIVPART"]) < 0)


# Consumer prices


@REFERENCES.add
def year_cpi_rose_above_200(fred: FredTables) -> int:
    cpi = fred["CPIAUCSL"]
    return int(cpi[cpi > 200].index[0].year)


@REFERENCES.add
def month_of_highest_inflation(fred: FredTables) -> dt.date:
    return _highest(_yearly_change(fred["CPIAUCSL"]).loc[_TWENTY_YEARS:]).date()


@REFERENCES.add
def inflation_and_breakeven(fred: FredTables) -> float:
    inflation = _yearly_change(fred["CPIAUCSL"]).loc[_TEN_YEARS:]
    return float(inflation.corr(monthly(fred["T5YIE"])))


@REFERENCES.add
def spells_of_falling_cpi(fred: FredTables) -> int:
    falls = fred["CPIAUCSL"].diff().loc[_TEN_YEARS:] < 0
    return int((falls & falls.shift(fill_value=False) & ~falls.shift(2, fill_value=False)).sum())


@REFERENCES.add
def food_and_energy_in_march_2022(fred: FredTables) -> float:
    return float((_yearly_change(fred["CPIAUCSL"]) - _yearly_change(fred["CPILFESL"]))[pd.Timestamp("2022-03-01")])


# Interest rates


@REFERENCES.add
def latest_yield_curve_inversion(fred: FredTables) -> dt.date:
    inverted = (fred["DGS10"] - fred["DTB3"]).dropna().round(9) < 0
    return days(inverted[inverted & ~inverted.shift(fill_value=True)])[-1].date()


@REFERENCES.add
def funds_rate_and_unemployment(fred: FredTables) -> float:
    return float(monthly(fred["DFF"]).corr(fred["UNRATE"]))


@REFERENCES.add
def funds_rate_over_recessions(fred: FredTables) -> list[float]:
    rate, month = monthly(fred["DFF"]), pd.DateOffset(months=1)
    return [float(rate[r.after - month] - rate[r.start - month]) for r in fred.recessions if r.start.year >= 1970]


@REFERENCES.add
def days_with_30_year_below_5_year(fred: FredTables) -> int:
    spread = (fred["DGS30"] - fred["DGS5"]).dropna().loc[_TEN_YEARS:]
    return int((spread.round(9) < 0).sum())


# Stocks


@REFERENCES.add
def nasdaq_over_latest_recession(fred: FredTables) -> float:
    latest = fred.recessions[-1]
    return _growth(fred["NASDAQCOM"], latest.start, latest.after)


@REFERENCES.add
def days_of_deepest_nasdaq_drawdown(fred: FredTables) -> int:
    close = fred["NASDAQCOM"]
    high = close.cummax()
    bottom = _highest(1 - close / high)
    top = _highest(close[close.index <= bottom])
    return (days(close[(close.index > bottom) & (close >= close[top])])[0] - top).days


@REFERENCES.add
def best_stock_index(fred: FredTables) -> str:
    return max(("DJIA", "NASDAQCOM", "SP500"), key=lambda name: _growth(fred[name], "2015-01-01", "2024-01-01"))


# Income, sentiment, money


@REFERENCES.add
def months_of_falling_real_income(fred: FredTables) -> int:
    return int((_yearly_change(fred["DSPIC96"]).loc[_TEN_YEARS:] < 0).sum())


@REFERENCES.add
def share_of_durables(fred: FredTables) -> list[float]:
    yearly = pd.DataFrame({name: fred[name] for name in ("PCEDG", "PCE")}).groupby(lambda day: day.year).sum()
    return [float(share) for share in (100 * yearly["PCEDG"] / yearly["PCE"]).loc[[1980, 2000, 2020]]]


@REFERENCES.add
def sentiment_in_recessions(fred: FredTables) -> float:
    sentiment = fred["UMCSENT"].loc["1978-01-01":]
    inside = in_recession(days(sentiment), fred.recessions)
    return float(sentiment[~inside].mean() - sentiment[inside].mean())


@REFERENCES.add
def year_of_lowest_sentiment(fred: FredTables) -> int:
    yearly = _yearly_mean(fred["UMCSENT"].loc["1978":"2023"])
    return int(yearly.index[int(yearly.argmin())])


@REFERENCES.add
def sentiment_above_five_years(fred: FredTables) -> bool:
    sentiment = fred["UMCSENT"]
    return bool(sentiment.iloc[-1] > sentiment.iloc[-61:-1].mean())


@REFERENCES.add
def money_in_year_of_highest_saving(fred: FredTables) -> float:
    yearly = _yearly_mean(fred["PSAVERT"].loc["1981":"2023"])
    year = int(yearly.index[int(yearly.argmax())])
    return _growth(fred["WM2NS"], f"{year}-01-01", f"{year + 1}-01-01")


@REFERENCES.add
def years_gold_beat_prices(fred: FredTables) -> int:
    gold, cpi = (_yearly_change(fred[name]).loc["2001":"2023"] for name in ("IR14270", "CPIAUCSL"))
    december = gold.index[days(gold).month == 12]
    return int(np.sum(gold[december].to_numpy() > cpi[december].to_numpy()))


@REFERENCES.add
def velocity_of_money(fred: FredTables) -> float:
    return float(fred["GDP"][pd.Timestamp("2024-04-01")] / fred["WM2NS"].loc["2024-04":"2024-06"].mean())
