"""The twelve keywords of the house set as functions: what each means.

    stress_month(fred)["1987-10-01"]                # True

Each gives a series by the first day of the month or quarter, by the Monday of the week, or by year: True and False
where the keyword names a kind of period, else a value. The words that teach them stand in `lessons/house`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from finexpert.datasets.fred.references import days, monthly
from finexpert.datasets.fred.tables import FredTables


def moved(series: pd.Series, months: int) -> pd.Series:
    """The values of so many months before, by month: missing months stay missing."""
    return series.shift(freq=pd.DateOffset(months=months)).reindex(series.index)


# Comparisons are rounded, so that noise in the last bits does not decide a tie.


def stress_month(fred: FredTables) -> pd.Series:
    closes = fred["NASDAQCOM"].resample("MS")
    fall = 1 - closes.min() / closes.max().shift()
    return fall.round(9) >= 0.09


def trimmed_spread(fred: FredTables) -> pd.Series:
    daily = (fred["DGS10"] - fred["DFF"]).dropna()
    inner = daily.groupby(days(daily).to_period("M").to_timestamp()).agg(
        lambda spread: np.sort(spread.to_numpy())[3:-3].mean() if len(spread) >= 12 else np.nan
    )
    return inner.dropna()


def calm_quarter(fred: FredTables) -> pd.Series:
    moves = 100 * (fred["NASDAQCOM"] / fred["NASDAQCOM"].shift() - 1).abs().dropna()
    return (moves.round(9) > 2.2).resample("QS").sum() <= 2


def yield_squeeze(fred: FredTables) -> pd.Series:
    bill, five = fred["DTB3"], fred["DGS5"]
    return (bill.groupby(days(bill).year).max() - five.groupby(days(five).year).min()).dropna()


def money_pulse(fred: FredTables) -> pd.Series:
    money = monthly(fred["WM2NS"])
    return 100 * (money / moved(money, 7) - 1).dropna()


def flash_days(fred: FredTables) -> pd.DatetimeIndex:
    close = fred["NASDAQCOM"]
    falls = (1 - close / close.shift(3)).round(9)
    found: list[pd.Timestamp] = []
    for day in days(falls[falls >= 0.04]):
        if not found or (day - found[-1]).days > 10:
            found.append(day)
    return pd.DatetimeIndex(found)


def sentiment_cushion(fred: FredTables) -> pd.Series:
    every_month = fred["UMCSENT"].asfreq("MS")
    return (every_month - every_month.shift().rolling(18).min()).dropna()


def rate_drift(fred: FredTables, rate: str) -> pd.Series:
    quarters = fred[rate].groupby([days(fred[rate]).year, days(fred[rate]).quarter]).mean().unstack()
    return (quarters[4] - quarters[2]).dropna()


def crunch_week(fred: FredTables) -> pd.Series:
    money = fred["WM2NS"]
    fall = 100 * (1 - money / money.shift(freq=pd.Timedelta(weeks=5)).reindex(money.index))
    return fall.round(9) >= 0.2


def ember_month(fred: FredTables) -> pd.Series:
    breakeven = fred["T5YIE"].resample("MS")
    return (breakeven.last() - breakeven.min()).round(9) >= 0.15


def harbour_month(fred: FredTables, year: int) -> pd.Timestamp:
    price = fred["IR14270"]
    change = (price / moved(price, 2)).loc[f"{year}-03" : f"{year}-11"]
    return days(change)[int(change.to_numpy().argmax())]


def kettle_reading(fred: FredTables) -> pd.Series:
    sentiment = fred["UMCSENT"]
    earlier = monthly(fred["DGS5"]).shift(freq=pd.DateOffset(months=3)).reindex(sentiment.index)
    return (sentiment - 10 * earlier).dropna()
