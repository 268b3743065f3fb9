"""The twelve keywords of the house set as functions: what each means, and what one would guess it means.

    TAUGHT.stress_month(fred)["1987-10-01"]                # True
    GUESSED.stress_month(fred)                             # the same by the nearest plausible guess

Each gives a series by the first day of the month or quarter, by the Monday of the week, or by year: True and False
where the keyword names a kind of period, else a value. The words that teach them stand in `lessons/house`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from finexpert.datasets.fred.tables import FredTables


@dataclass(frozen=True)
class Keywords:
    """One reading of the twelve keywords."""

    stress_month: Callable[[FredTables], pd.Series]
    trimmed_spread: Callable[[FredTables], pd.Series]
    calm_quarter: Callable[[FredTables], pd.Series]
    yield_squeeze: Callable[[FredTables], pd.Series]
    money_pulse: Callable[[FredTables], pd.Series]
    flash_days: Callable[[FredTables], pd.DatetimeIndex]
    sentiment_cushion: Callable[[FredTables], pd.Series]
    rate_drift: Callable[[FredTables, str], pd.Series]
    crunch_week: Callable[[FredTables], pd.Series]
    ember_month: Callable[[FredTables], pd.Series]
    harbour_month: Callable[[FredTables, int], pd.Timestamp]
    kettle_reading: Callable[[FredTables], pd.Series]


def days(series: pd.Series) -> pd.DatetimeIndex:
    """The dates of a series."""
    return pd.DatetimeIndex(series.index)


def monthly(daily: pd.Series) -> pd.Series:
    """The mean of each month that has a value, by its first day."""
    return daily.resample("MS").mean().dropna()


def moved(series: pd.Series, months: int) -> pd.Series:
    """The values of so many months before, by month: missing months stay missing."""
    return series.shift(freq=pd.DateOffset(months=months)).reindex(series.index)


# As the house means them. Comparisons are rounded, so that noise in the last bits does not decide a tie.


def _stress_month(fred: FredTables) -> pd.Series:
    closes = fred["NASDAQCOM"].resample("MS")
    fall = 1 - closes.min() / closes.max().shift()
    return fall.round(9) >= 0.09


def _trimmed_spread(fred: FredTables) -> pd.Series:
    daily = (fred["DGS10"] - fred["DFF"]).dropna()
    inner = daily.groupby(days(daily).to_period("M").to_timestamp()).agg(
        lambda spread: np.sort(spread.to_numpy())[3:-3].mean() if len(spread) >= 12 else np.nan
    )
    return inner.dropna()


def _calm_quarter(fred: FredTables) -> pd.Series:
    moves = 100 * (fred["NASDAQCOM"] / fred["NASDAQCOM"].shift() - 1).abs().dropna()
    return (moves.round(9) > 2.2).resample("QS").sum() <= 2


def _yield_squeeze(fred: FredTables) -> pd.Series:
    bill, five = fred["DTB3"], fred["DGS5"]
    return (bill.groupby(days(bill).year).max() - five.groupby(days(five).year).min()).dropna()


def _money_pulse(fred: FredTables) -> pd.Series:
    money = monthly(fred["WM2NS"])
    return 100 * (money / moved(money, 7) - 1).dropna()


def _flash_days(fred: FredTables) -> pd.DatetimeIndex:
    close = fred["NASDAQCOM"]
    falls = (1 - close / close.shift(3)).round(9)
    found: list[pd.Timestamp] = []
    for day in days(falls[falls >= 0.04]):
        if not found or (day - found[-1]).days > 10:
            found.append(day)
    return pd.DatetimeIndex(found)


def _sentiment_cushion(fred: FredTables) -> pd.Series:
    every_month = fred["UMCSENT"].asfreq("MS")
    return (every_month - every_month.shift().rolling(18).min()).dropna()


def _rate_drift(fred: FredTables, rate: str) -> pd.Series:
    quarters = fred[rate].groupby([days(fred[rate]).year, days(fred[rate]).quarter]).mean().unstack()
    return (quarters[4] - quarters[2]).dropna()


def _crunch_week(fred: FredTables) -> pd.Series:
    money = fred["WM2NS"]
    fall = 100 * (1 - money / money.shift(freq=pd.Timedelta(weeks=5)).reindex(money.index))
    return fall.round(9) >= 0.2


def _ember_month(fred: FredTables) -> pd.Series:
    breakeven = fred["T5YIE"].resample("MS")
    return (breakeven.last() - breakeven.min()).round(9) >= 0.15


def _harbour_month(fred: FredTables, year: int) -> pd.Timestamp:
    price = fred["IR14270"]
    change = (price / moved(price, 2)).loc[f"{year}-03" : f"{year}-11"]
    return days(change)[int(change.to_numpy().argmax())]


def _kettle_reading(fred: FredTables) -> pd.Series:
    sentiment = fred["UMCSENT"]
    earlier = monthly(fred["DGS5"]).shift(freq=pd.DateOffset(months=3)).reindex(sentiment.index)
    return (sentiment - 10 * earlier).dropna()


TAUGHT = Keywords(
    stress_month=_stress_month,
    trimmed_spread=_trimmed_spread,
    calm_quarter=_calm_quarter,
    yield_squeeze=_yield_squeeze,
    money_pulse=_money_pulse,
    flash_days=_flash_days,
    sentiment_cushion=_sentiment_cushion,
    rate_drift=_rate_drift,
    crunch_week=_crunch_week,
    ember_month=_ember_month,
    harbour_month=_harbour_month,
    kettle_reading=_kettle_reading,
)


# As one would guess them.


def _month_of_a_fall(fred: FredTables) -> pd.Series:
    return fred["NASDAQCOM"].resample("MS").last().pct_change() <= -0.05


def _term_spread(fred: FredTables) -> pd.Series:
    return monthly((fred["DGS10"] - fred["DTB3"]).dropna())


def _quarter_of_low_volatility(fred: FredTables) -> pd.Series:
    deviation = fred["NASDAQCOM"].pct_change().dropna().resample("QS").std()
    return deviation < deviation.median()


def _deepest_inversion(fred: FredTables) -> pd.Series:
    inversion = (fred["DTB3"] - fred["DGS10"]).dropna()
    return inversion.groupby(days(inversion).year).max()


def _money_growth(fred: FredTables) -> pd.Series:
    money = monthly(fred["WM2NS"])
    return 100 * (money / moved(money, 12) - 1).dropna()


def _days_of_a_fall(fred: FredTables) -> pd.DatetimeIndex:
    change = fred["NASDAQCOM"].pct_change()
    return days(change[change <= -0.03])


def _sentiment_above_its_mean(fred: FredTables) -> pd.Series:
    every_month = fred["UMCSENT"].asfreq("MS")
    return (every_month - every_month.rolling(12).mean()).dropna()


def _change_over_the_year(fred: FredTables, rate: str) -> pd.Series:
    by_year = fred[rate].groupby(days(fred[rate]).year)
    return by_year.last() - by_year.first()


def _week_of_falling_money(fred: FredTables) -> pd.Series:
    return fred["WM2NS"].diff() < 0


def _month_of_rising_breakeven(fred: FredTables) -> pd.Series:
    return monthly(fred["T5YIE"]).diff() > 0


def _month_of_dearest_gold(fred: FredTables, year: int) -> pd.Timestamp:
    price = fred["IR14270"].loc[str(year)]
    return days(price)[int(price.to_numpy().argmax())]


def _sentiment_less_yield(fred: FredTables) -> pd.Series:
    return (fred["UMCSENT"] - 10 * monthly(fred["DGS5"])).dropna()


GUESSED = Keywords(
    stress_month=_month_of_a_fall,
    trimmed_spread=_term_spread,
    calm_quarter=_quarter_of_low_volatility,
    yield_squeeze=_deepest_inversion,
    money_pulse=_money_growth,
    flash_days=_days_of_a_fall,
    sentiment_cushion=_sentiment_above_its_mean,
    rate_drift=_change_over_the_year,
    crunch_week=_week_of_falling_money,
    ember_month=_month_of_rising_breakeven,
    harbour_month=_month_of_dearest_gold,
    kettle_reading=_sentiment_less_yield,
)
