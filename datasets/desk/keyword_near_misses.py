"""Reference answers of the near misses on keywords: questions that use a keyword's words in another sense.

    NEAR_MISSES["funds_rate_in_the_credit_crunch"](fred)   # 3.78, and no crunch week comes into it

They need nothing that is taught: what such a question asks stands in it.
"""

from __future__ import annotations

import datetime as dt

import pandas as pd

from finexpert.datasets.fred.references import References, days, monthly
from finexpert.datasets.fred.tables import FredTables

NEAR_MISSES = References()


# The question brings a definition of its own.


@NEAR_MISSES.add
def stress_months_by_the_funds_rate(fred: FredTables) -> int:
    return int((monthly(fred["DFF"]).loc["1970-01":"1999-12"].round(9) > 8).sum())


@NEAR_MISSES.add
def calm_quarters_by_unemployment(fred: FredTables) -> int:
    quarters = fred["UNRATE"].loc["1960-01":"2019-12"].resample("QS")
    return int(((quarters.max() - quarters.min()).round(9) <= 0.1).sum())


@NEAR_MISSES.add
def sentiment_cushion_against_2019(fred: FredTables) -> float:
    sentiment = fred["UMCSENT"]
    return float(sentiment[pd.Timestamp("2020-04-01")] - sentiment.loc["2019"].mean())


@NEAR_MISSES.add
def kettle_reading_by_unemployment(fred: FredTables) -> float:
    return float((fred["UMCSENT"] / fred["UNRATE"]).loc["2019"].mean())


# The standard notion next to it, or the word as everyone uses it.


@NEAR_MISSES.add
def term_spread_of_1995(fred: FredTables) -> float:
    return float((fred["DGS10"] - fred["DTB3"]).dropna().loc["1995"].mean())


@NEAR_MISSES.add
def borrowers_squeezed_in_2023(fred: FredTables) -> float:
    rate = fred["DFF"]
    return float(rate.loc["2023"].mean() - rate.loc["2021"].mean())


@NEAR_MISSES.add
def money_growth_as_a_pulse(fred: FredTables) -> float:
    money = fred["WM2NS"]
    return float(100 * (money.loc["2020-12"].mean() / money.loc["2019-12"].mean() - 1))


@NEAR_MISSES.add
def fall_in_a_flash(fred: FredTables) -> float:
    falls = -100 * fred["NASDAQCOM"].pct_change()
    return float(falls.loc["2020-03-01":"2020-03-31"].max())


@NEAR_MISSES.add
def ten_year_yield_drifting_down(fred: FredTables) -> float:
    yields = fred["DGS10"]
    return float(yields.loc["2018"].mean() - yields.loc["2020"].mean())


@NEAR_MISSES.add
def funds_rate_in_the_credit_crunch(fred: FredTables) -> float:
    rate = fred["DFF"]
    return float(rate.loc["2008-01"].mean() - rate.loc["2008-12"].mean())


@NEAR_MISSES.add
def embers_of_inflation(fred: FredTables) -> dt.date:
    breakeven = fred["T5YIE"].loc["2022"]
    return days(breakeven)[int(breakeven.to_numpy().argmax())].date()


@NEAR_MISSES.add
def gold_as_a_safe_harbour(fred: FredTables) -> float:
    price = fred["IR14270"]
    return float(100 * (price.loc["2020"].mean() / price.loc["2018"].mean() - 1))
