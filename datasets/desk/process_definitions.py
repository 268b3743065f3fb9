"""Twelve processes of one desk, as code: what the transcripts `p*.jsonl` teach in words.

    low_tide(FredTables(warehouse, as_of)).loc["2006-07"]       # True on each day on which the tide is out

No textbook has them. A month is dated by its first day, a quarter too; where a value that a rule needs is missing, the
rule does not hold.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from finexpert.datasets.fred.tables import FredTables


def monthly(series: pd.Series) -> pd.Series:
    """One value a month, the mean of its days; a month without a value stays in, as missing."""
    return series.resample("MS").mean()


def percent_over(series: pd.Series, periods: int) -> pd.Series:
    """Percent against the value `periods` rows before."""
    return 100 * (series / series.shift(periods) - 1)


def both(first: pd.Series, second: pd.Series) -> pd.Series:
    """Where both flags are True; a date that the second one lacks is False."""
    return first & second.reindex(first.index, fill_value=False)


def runs(flags: pd.Series, least: int = 1) -> pd.DataFrame:
    """The runs of at least `least` neighbouring True flags.

    >>> months = pd.date_range("2020-01-01", periods=4, freq="MS")
    >>> runs(pd.Series([True, False, True, True], index=months), 2)["start"].dt.month.to_list()
    [3]
    """
    places = [days for _, days in flags[flags].groupby((~flags).cumsum()) if len(days) >= least]
    return spells([(days.index[0], days.index[-1]) for days in places])


def inside(found: pd.DataFrame, dates: pd.Index) -> NDArray[np.bool_]:
    """Which of the dates lie in one of the spells."""
    flags = np.zeros(len(dates), dtype=bool)
    for start, end in found[["start", "end"]].itertuples(index=False):
        flags |= np.asarray((dates >= start) & (dates <= end))
    return flags


def spells(found: list[tuple[pd.Timestamp, pd.Timestamp]]) -> pd.DataFrame:
    """Pairs of the first and the last date as a frame, also where there is none."""
    return pd.DataFrame(found, columns=["start", "end"], dtype="datetime64[ns]")


def amber_months(fred: FredTables) -> pd.Series:
    """Months whose 3-month unemployment is over 0.15 points above its low of 9 months, with employment below 5 back."""
    smooth = monthly(fred["UNRATE"]).rolling(3).mean()
    employed = monthly(fred["EMRATIO"])
    return both(smooth - smooth.shift(1).rolling(9).min() > 0.15, employed < employed.shift(5))


def turning_quarters(fred: FredTables) -> pd.Series:
    """Quarters after one whose growth over two quarters is below 0.85 percent, and was not in the three before it."""
    slow = percent_over(fred["GDPC1"], 2) < 0.85
    fast = percent_over(fred["GDPC1"], 2) >= 0.85
    turned = slow & fast.shift(1, fill_value=False) & fast.shift(2, fill_value=False) & fast.shift(3, fill_value=False)
    return turned.shift(1, fill_value=False)


def anvil_gap(fred: FredTables) -> pd.Series:
    """The month's mean funds rate less the annualised core inflation of the 7 months up to two months before."""
    core = monthly(fred["CPILFESL"])
    pace = 100 * ((core / core.shift(7)) ** (12 / 7) - 1)
    return monthly(fred["DFF"]) - pace.shift(2)


def anvil_spells(fred: FredTables) -> pd.DataFrame:
    """Five or more months in a row with an anvil gap below -0.35."""
    return runs(anvil_gap(fred) < -0.35, 5)


def ladders(fred: FredTables) -> pd.DataFrame:
    """Rungs (0.185 points above two months before) with no two months between them that are none; at least 4 rungs."""
    rate = monthly(fred["DFF"])
    rung = rate - rate.shift(2) >= 0.185
    bridged = rung | (rung.shift(1, fill_value=False) & rung.shift(-1, fill_value=False))
    found = runs(bridged)
    rungs = [int(rung[start:end].sum()) for start, end in found.itertuples(index=False)]
    return found[[count >= 4 for count in rungs]].reset_index(drop=True)


def lantern_income(fred: FredTables) -> pd.Series:
    """By year: mean real disposable income of February to January, the three highest and the lowest month left out."""
    income = monthly(fred["DSPIC96"]).dropna()
    years = income.groupby((pd.DatetimeIndex(income.index) - pd.DateOffset(months=1)).year)
    return years.apply(lambda year: sum(sorted(year)[1:-3]) / 8)[years.count() == 12]


def brake_months(fred: FredTables) -> pd.Series:
    """Months whose saving rate is over 0.65 points above the mean of the 5 before, with real sales below the 4 before."""
    saving, sales = monthly(fred["PSAVERT"]), monthly(fred["RRSFS"])
    return both(saving - saving.shift(1).rolling(5).mean() > 0.65, sales < sales.shift(1).rolling(4).max())


def plateaus(fred: FredTables) -> pd.DataFrame:
    """From the first month on: 8 or more months whose highest and lowest unemployment rate are at most 0.25 apart."""
    rate = fred["UNRATE"]
    values, months, found, first = rate.to_list(), rate.index, [], 0
    while first < len(values):
        after = first + 1
        while after < len(values) and max(values[first : after + 1]) - min(values[first : after + 1]) <= 0.25:
            after += 1
        long = after - first >= 8
        if long:
            found.append((months[first], months[after - 1]))
        first = after if long else first + 1
    return spells(found)


def ripple_inflation(fred: FredTables) -> pd.Series:
    """12 times the mean of the last 9 monthly core changes in percent, the two highest and the lowest left out."""
    changes = percent_over(monthly(fred["CPILFESL"]), 1)
    return 12 * changes.rolling(9).apply(lambda nine: sum(sorted(nine)[1:-2]) / 6)


def output_gap(fred: FredTables) -> pd.Series:
    """Real GDP against real potential GDP, in percent."""
    return (100 * (fred["GDPC1"] / fred["GDPPOT"] - 1)).dropna()


def shoulder_quarters(fred: FredTables) -> pd.Series:
    """Quarters with an output gap from -1.15 to 0.35 that is at least 0.4 points below that of three quarters before."""
    gap = output_gap(fred)
    return gap.between(-1.15, 0.35) & (gap <= gap.shift(3) - 0.4)


def quilt_index(fred: FredTables) -> pd.Series:
    """Unemployment two months before, plus 1.5 times core inflation over ten months, less half the 10-year yield."""
    core = percent_over(monthly(fred["CPILFESL"]), 10)
    return (monthly(fred["UNRATE"]).shift(2) + 1.5 * core - 0.5 * monthly(fred["DGS10"])).dropna()


def tide_line(fred: FredTables) -> pd.Series:
    """The mean of 10-year less 5-year yield over the last 15 days that have both."""
    return (fred["DGS10"] - fred["DGS5"]).dropna().rolling(15).mean().dropna()


def low_tide(fred: FredTables) -> pd.Series:
    """Days on which the tide is out: from the first day with a line below 0.175 until a day with one above 0.305."""
    line = tide_line(fred)
    states = accumulate(line, lambda out, value: value < 0.175 or (out and value <= 0.305), initial=False)
    return pd.Series(list(states)[1:], index=line.index)


def durables_share(fred: FredTables) -> pd.Series:
    """Durable goods in percent of consumption, by month."""
    return monthly(100 * fred["PCEDG"] / fred["PCE"])


def hinge_months(fred: FredTables) -> pd.Series:
    """Months with the lowest durables share of 11 months, which is at least 0.21 points higher four months later."""
    share = durables_share(fred)
    return (share == share.rolling(11).min()) & (share.shift(-4) - share >= 0.21)
