"""The fiscal calendar of a company: which days its years and quarters end on, read from its own annual reports.

    Apple          FY 2023   2022-09-25 to 2023-09-30       Q1 ends 2022-12-31
    Walmart        FY 2021   2020-02-01 to 2021-01-31       named after the year in which it ends
    Target         FY 2020   2020-02-02 to 2021-01-30       named after the year in which it starts

How a company names its years is what most of its annual reports say of themselves. A period that fits no year of the calendar (a
transition period, twelve months that end in June) has no name: it is never taken for a year or a quarter.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from finexpert.datasets.edgar.facts import Fact, Figure, Filing

# A year of 52 or 53 weeks is often filed with the last day of the month in place of its own.
NEAR = dt.timedelta(days=10)
_YEAR = range(340, 381)
# A quarter of 12 to 17 weeks, and what has passed after two and three of them.
_SO_FAR = {"Q1": range(70, 126), "6M": range(155, 206), "9M": range(240, 301)}
_QUARTER = _SO_FAR["Q1"]
_ENDS = {"Q1": "Q1", "6M": "Q2", "9M": "Q3", "FY": "FY"}
_DAY = dt.timedelta(days=1)
# Lines that every statement of income or cash flows has, once a period.
ANCHORS = frozenset(
    (
        "us-gaap:NetIncomeLoss", "us-gaap:ProfitLoss", "us-gaap:IncomeTaxExpenseBenefit",
        "us-gaap:NetCashProvidedByUsedInOperatingActivities",
        "us-gaap:NetCashProvidedByUsedInOperatingActivitiesContinuingOperations",
        "ifrs-full:ProfitLoss", "ifrs-full:CashFlowsFromUsedInOperatingActivities",
    )
)  # fmt: skip


@dataclass(frozen=True)
class FiscalYear:
    """A fiscal year; `closed` says that an annual report was filed for it, or for a later one."""

    name: int
    start: dt.date
    end: dt.date
    closed: bool = True


@dataclass(frozen=True)
class FiscalPeriod:
    """A named part of a fiscal year and when it first stood in a filing."""

    year: int
    period: str
    start: dt.date
    end: dt.date
    filed: dt.date


class FiscalCalendar:
    """The fiscal years of a company, and the names of periods and moments in them."""

    def __init__(self, years: Sequence[FiscalYear], facts: Iterable[Fact] = ()) -> None:
        self.years = tuple(sorted(years, key=lambda year: year.start))
        self.periods = self._periods(facts)
        self._moments = {one.end: (one.year, _ENDS[one.period]) for one in self.periods if one.period in _ENDS}
        if self.years:
            # The balance sheet that the first year begins with.
            first = self.years[0]
            self._moments.setdefault(first.start - _DAY, (first.name - 1, "FY"))

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> FiscalCalendar:
        """The calendar of a company's facts; it has no years where no annual report names one."""
        anchors = [fact for fact in facts if fact.figure.concept in ANCHORS and fact.figure.start is not None]
        return cls(_years(anchors), anchors)

    def name_of(self, figure: Figure) -> tuple[int, str] | None:
        """The year and the period of a figure: FY, Q1 to Q4, 6M and 9M; of a moment FY, or the quarter that it ends."""
        if figure.start is None:
            return self._moments.get(figure.end)
        return self._named(figure.start, figure.end, figure.days)

    def _named(self, start: dt.date, end: dt.date, days: int) -> tuple[int, str] | None:
        for year in self.years:
            if start < year.start - NEAR or end > year.end + NEAR:
                continue
            at_end = year.closed and abs(end - year.end) <= NEAR
            if abs(start - year.start) <= NEAR:
                if days in _YEAR:
                    return (year.name, "FY") if at_end else None
                return next(((year.name, name) for name, length in _SO_FAR.items() if days in length), None)
            if days not in _QUARTER:
                return None
            so_far = (end - year.start).days + 1
            if at_end:
                return year.name, "Q4"
            return next(((year.name, _ENDS[name]) for name in ("6M", "9M") if so_far in _SO_FAR[name]), None)
        return None

    def _periods(self, facts: Iterable[Fact]) -> tuple[FiscalPeriod, ...]:
        found: dict[tuple[int, str, dt.date, dt.date], dt.date] = {}
        for fact in sorted(facts, key=lambda one: one.filing[:3]):
            if fact.figure.start is not None and (named := self.name_of_duration(fact.figure)):
                found.setdefault((*named, fact.figure.start, fact.figure.end), fact.filing.filed)
        return tuple(FiscalPeriod(*key, filed) for key, filed in sorted(found.items()))

    def name_of_duration(self, figure: Figure) -> tuple[int, str] | None:
        """The name of a period that is no moment."""
        return self._named(figure.start, figure.end, figure.days) if figure.start else None


def _years(anchors: Sequence[Fact]) -> list[FiscalYear]:
    annual = [fact for fact in anchors if fact.filing.is_annual and fact.figure.days in _YEAR]
    offset = _offset(annual)
    if offset is None:
        return []
    spans = Counter((fact.figure.start, fact.figure.end) for fact in annual if fact.figure.start is not None)
    years: list[FiscalYear] = []
    # The days that most facts name stand for the year; others near them are the same year, filed with another day.
    for start, end in sorted(spans, key=lambda span: (-spans[span], span[1])):
        if start is not None and not any(min(end, year.end) - max(start, year.start) > NEAR for year in years):
            years.append(FiscalYear(_year_of(end) + offset, start, end))
    years.sort(key=lambda year: year.start)
    # After a change of the calendar two years may have one name, and then neither has it.
    names = Counter(year.name for year in years)
    years = [year for year in years if names[year.name] == 1]
    if not years:
        return []
    last = years[-1]
    begins = last.end + _DAY
    return [*years, FiscalYear(last.name + 1, begins, begins + dt.timedelta(days=364), closed=False)]


def _offset(annual: Iterable[Fact]) -> int | None:
    """How far the name of a fiscal year is from the calendar year in which it ends, by most of the annual reports."""
    ends: dict[Filing, dt.date] = {}
    for fact in annual:
        if fact.filing.fiscal_year is not None and fact.filing.fiscal_period == "FY":
            ends[fact.filing] = max(fact.figure.end, ends.get(fact.filing, dt.date.min))
    counts = Counter(
        filing.fiscal_year - _year_of(end) for filing, end in ends.items() if filing.fiscal_year is not None
    )
    likely = {offset: count for offset, count in counts.items() if offset in (-1, 0, 1)}
    return max(likely, key=lambda offset: (likely[offset], -abs(offset))) if likely else None


def _year_of(end: dt.date) -> int:
    """The calendar year in which a fiscal year ends; one that ends in the first days of January ends with the year before.

    >>> _year_of(dt.date(2021, 1, 2)), _year_of(dt.date(2021, 1, 30))
    (2020, 2021)
    """
    return (end - dt.timedelta(days=15)).year
