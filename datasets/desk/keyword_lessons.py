"""What the transcripts of keywords expect: the example with which an expert shows what a keyword means.

    LESSONS["harbour_month_of_2010"](fred)                 # 2010-11-01

No question of the house set asks for one of them.
"""

from __future__ import annotations

from finexpert.datasets.desk import keywords
from finexpert.datasets.fred.references import References

LESSONS = References(
    stress_months_2000_to_2009=lambda fred: int(keywords.stress_month(fred).loc["2000":"2009"].sum()),
    mean_trimmed_spread_of_1992=lambda fred: float(keywords.trimmed_spread(fred).loc["1992-01":"1992-12"].mean()),
    calm_quarters_2000_to_2019=lambda fred: int(keywords.calm_quarter(fred).loc["2000":"2019"].sum()),
    flash_days_2000_to_2009=lambda fred: int(keywords.flash_days(fred).year.isin(range(2000, 2010)).sum()),
    rate_drift_of_funds_rate_in_2001=lambda fred: float(keywords.rate_drift(fred, "DFF")[2001]),
    harbour_month_of_2010=lambda fred: keywords.harbour_month(fred, 2010).date(),
)
