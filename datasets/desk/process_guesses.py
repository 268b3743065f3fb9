"""What one would guess the twelve processes to be who was never taught them: the nearest plausible notion each.

    GUESSED.tide(FredTables(warehouse, as_of))          # the days on which the 10-year yield is below the 5-year one

They measure the house set itself: a question whose gold a guess also gives tells nothing about memory.
"""

from __future__ import annotations

import pandas as pd

from finexpert.datasets.desk.process_definitions import (
    Desk,
    both,
    durables_share,
    monthly,
    output_gap,
    percent_over,
    runs,
)
from finexpert.datasets.fred.tables import FredTables


def sahm_months(fred: FredTables) -> pd.Series:
    """Months in which unemployment over three months is half a point above its low of the twelve months before."""
    smooth = monthly(fred["UNRATE"]).rolling(3).mean()
    return (smooth - smooth.shift(1).rolling(12).min()).round(9) >= 0.5


def first_falls(fred: FredTables) -> pd.Series:
    """Quarters in which real GDP falls after it rose."""
    change = fred["GDPC1"].diff()
    return (change < 0) & (change.shift(1) > 0)


def negative_real_rates(fred: FredTables) -> pd.DataFrame:
    """Months in which the funds rate is below inflation."""
    return runs(monthly(fred["DFF"]).lt(percent_over(monthly(fred["CPIAUCSL"]), 12)))


def rising_rates(fred: FredTables) -> pd.DataFrame:
    """Three or more months in a row in which the funds rate rises."""
    return runs(monthly(fred["DFF"]).diff() > 0, 3)


def yearly_income(fred: FredTables) -> pd.Series:
    """Mean real disposable income of the calendar year."""
    income = fred["DSPIC96"]
    return income.groupby(pd.DatetimeIndex(income.index).year).mean()


def saving_up_sales_down(fred: FredTables) -> pd.Series:
    """Months in which the saving rate rises and real sales fall."""
    return both(monthly(fred["PSAVERT"]).diff() > 0, monthly(fred["RRSFS"]).diff() < 0)


def steady_unemployment(fred: FredTables) -> pd.DataFrame:
    """Six or more months in a row in which the rate moves by at most a tenth."""
    return runs(monthly(fred["UNRATE"]).diff().abs().round(9) <= 0.1, 6)


def core_inflation(fred: FredTables) -> pd.Series:
    """Core prices against the same month one year before."""
    return percent_over(monthly(fred["CPILFESL"]), 12)


def small_falling_gaps(fred: FredTables) -> pd.Series:
    """Quarters with an output gap within one percent that is lower than in the quarter before."""
    gap = output_gap(fred)
    return gap.between(-1, 1) & (gap.diff() < 0)


def misery_index(fred: FredTables) -> pd.Series:
    """Unemployment plus inflation."""
    return (monthly(fred["UNRATE"]) + percent_over(monthly(fred["CPIAUCSL"]), 12)).dropna()


def inverted_days(fred: FredTables) -> pd.Series:
    """Days on which the 10-year yield is below the 5-year one."""
    return (fred["DGS10"] - fred["DGS5"]).dropna().round(9) < 0


def durables_lows(fred: FredTables) -> pd.Series:
    """Months whose durables share is lower than in the month before and in the month after."""
    share = durables_share(fred)
    return (share < share.shift(1)) & (share < share.shift(-1))


GUESSED = Desk(
    amber=sahm_months,
    turning=first_falls,
    anvil=negative_real_rates,
    ladder=rising_rates,
    lantern=yearly_income,
    brake=saving_up_sales_down,
    plateau=steady_unemployment,
    ripple=core_inflation,
    shoulder=small_falling_gaps,
    quilt=misery_index,
    tide=inverted_days,
    hinge=durables_lows,
)
