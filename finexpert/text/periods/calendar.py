"""Fiscal years and quarters as days: which days a company's quarter has, and in which of its quarters a day falls.

    >>> apple = FiscalCalendar(9)
    >>> apple.quarter_days(2025, 1)
    (datetime.date(2024, 10, 1), datetime.date(2024, 12, 31))
    >>> apple.year_of(dt.date(2024, 10, 1)), FiscalCalendar(12).year_of(dt.date(2024, 10, 1))
    (2025, 2024)

A fiscal year has the number of the year in which it ends, and ends with a month: weeks (52/53) are not counted.
"""

from __future__ import annotations

import calendar
import datetime as dt
from dataclasses import dataclass

import pandas as pd

Days = tuple[dt.date, dt.date]


@dataclass(frozen=True)
class FiscalCalendar:
    """The calendar of a company whose fiscal year ends with a month, 1 to 12."""

    last_month: int = 12

    def __post_init__(self) -> None:
        if not 1 <= self.last_month <= 12:
            raise ValueError(f"a fiscal year ends with a month from 1 to 12, not {self.last_month}")

    @property
    def _quarterly(self) -> str:
        return f"Q-{calendar.month_abbr[self.last_month].upper()}"

    def year_days(self, year: int) -> Days:
        """First and last day of a fiscal year."""
        return self.quarter_days(year, 1)[0], self.quarter_days(year, 4)[1]

    def quarter_days(self, year: int, quarter: int) -> Days:
        """First and last day of a quarter of a fiscal year."""
        period = pd.Period(year=year, quarter=quarter, freq=self._quarterly)
        return period.start_time.date(), period.end_time.date()

    def year_of(self, day: dt.date) -> int:
        """The fiscal year in which a day falls."""
        return day.year + (1 if day.month > self.last_month else 0)

    def quarter_of(self, day: dt.date) -> tuple[int, int]:
        """The fiscal year and the quarter in which a day falls."""
        return self.year_of(day), (day.month - self.last_month - 1) % 12 // 3 + 1

    def quarter_before(self, year: int, quarter: int, count: int = 1) -> tuple[int, int]:
        """The quarter that many quarters earlier; later, where the count is negative."""
        number = year * 4 + quarter - 1 - count
        return number // 4, number % 4 + 1


def month_end(year: int, month: int) -> dt.date:
    """The last day of a month."""
    return dt.date(year, month, calendar.monthrange(year, month)[1])
