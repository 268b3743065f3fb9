"""What words of time mean: each rule of `words` read into years, quarters and days.

    reader = Reader(FiscalCalendar(12), dt.date(2025, 3, 1))
    reader.read("ago", <match of "6 years ago">)   ->  PeriodReading(years=(2019,), ...)

One method a rule, named like it. A chained rule needs an anchor, the reading that "that" stands for. Words that make no
sense, such as February 31, have no reading.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from finexpert.text.periods.calendar import FiscalCalendar
from finexpert.text.periods.days import (
    count_of,
    days_of,
    is_calendar,
    is_year_alone,
    quarter_number,
    quarters_in,
    years_before,
)

_EARLIEST, _LATEST = 1900, 2099
_LONGEST = 100
_OWN_YEARS = {"this": 0, "current": 0, "same": 0, "next": -1, "following": -1}


@dataclass(frozen=True)
class PeriodReading:
    """Years and quarters of the company, and the days from first to last."""

    years: tuple[int, ...]
    quarters: tuple[int, ...] = ()
    fiscal: bool = False
    first: dt.date | None = None
    last: dt.date | None = None
    relative: bool = False


class Reader:
    """Reads matches of the rules for one company's calendar and one day that counts as today."""

    def __init__(self, calendar: FiscalCalendar, as_of: dt.date) -> None:
        self._calendar = calendar
        self._today = as_of.date() if isinstance(as_of, dt.datetime) else as_of

    def read(self, rule: str, match: re.Match[str]) -> PeriodReading | None:
        """The meaning of a match; None for a chained one, and where there is none."""
        if rule.startswith("chained"):
            return None
        try:
            reading: PeriodReading | None = getattr(self, f"_{rule}")(match)
        except ValueError:
            return None
        return reading

    def chained(self, rule: str, match: re.Match[str], anchor: PeriodReading | None) -> PeriodReading | None:
        """The meaning of words that count from another time; from today where there is no anchor."""
        if match.groupdict().get("anchor"):
            anchor = self._year_reading(match["anchor"])
        if anchor is None:
            anchor = PeriodReading((self._today.year,))
        if rule == "chained_same_quarter":
            if not anchor.quarters:
                year, quarter = self._calendar.quarter_of(self._today)
                return self._quarter_reading(year - 1, (quarter,), False, relative=True)
            return self._quarter_reading(anchor.years[0] - 1, anchor.quarters, anchor.fiscal, relative=True)
        count = count_of(match.groupdict().get("count"))
        back = bool(match["before"])
        if rule == "chained_span":
            year = anchor.years[0] if back else anchor.years[-1]
            return self._years(year - count if back else year + 1, year - 1 if back else year + count, False, True)
        if match["unit"].startswith("quarter"):
            start = (anchor.years[0], anchor.quarters[0]) if anchor.quarters else self._calendar.quarter_of(self._today)
            year, quarter = self._calendar.quarter_before(*start, count if back else -count)
            return self._quarter_reading(year, (quarter,), anchor.fiscal, relative=True)
        year = anchor.years[0] - count if back else anchor.years[-1] + count
        fiscal = anchor.fiscal or bool(match["fiscal"])
        if anchor.quarters and "count" in match.groupdict():
            return self._quarter_reading(year, anchor.quarters, fiscal, relative=True)
        return self._years(year, year, fiscal, relative=True)

    # years

    def _bare_year(self, match: re.Match[str]) -> PeriodReading | None:
        return self._year_reading(match[0])

    def _marked_year(self, match: re.Match[str]) -> PeriodReading | None:
        return self._year_reading(match[0])

    def _short_year(self, match: re.Match[str]) -> PeriodReading | None:
        return self._year_reading(match["year"])

    def _span(self, match: re.Match[str]) -> PeriodReading | None:
        return self._from_to(match["from"], match["to"])

    def _since(self, match: re.Match[str]) -> PeriodReading | None:
        start = self._end_reading(match["from"])
        if start is None or start.first is None or start.first > self._today:
            return start
        last = self._calendar.year_of(self._today) if start.fiscal else self._today.year
        return self._between(start, max(last, start.years[0]), self._today)

    def _decade(self, match: re.Match[str]) -> PeriodReading | None:
        year = int(match["decade"])
        return self._years(year, year + 9, False)

    # relative to today

    def _ago(self, match: re.Match[str]) -> PeriodReading | None:
        count, unit = count_of(match["count"]), match["unit"].lower()
        if unit.startswith("quarter"):
            return self._quarters_back(count)
        year = self._this_year(match) - count * (10 if unit.startswith("decade") else 1)
        return self._years(year, year, bool(match["fiscal"]), relative=True)

    def _last_some(self, match: re.Match[str]) -> PeriodReading | None:
        groups = match.groupdict()
        count, unit = count_of(groups.get("count")), match["unit"].lower()
        if unit.startswith("quarter"):
            return self._quarters_between(self._quarter_back(count), self._quarter_back(1), relative=True)
        years = count * (10 if unit.startswith("decade") else 1)
        now = self._this_year(match)
        return self._years(now - years, now - 1, bool(groups.get("fiscal")), relative=True)

    def _next_some(self, match: re.Match[str]) -> PeriodReading | None:
        count = count_of(match["count"])
        if match["unit"].lower().startswith("quarter"):
            return self._quarters_between(self._quarter_back(-1), self._quarter_back(-count), relative=True)
        now = self._this_year(match)
        return self._years(now + 1, now + count, bool(match["fiscal"]), relative=True)

    def _own(self, match: re.Match[str]) -> PeriodReading | None:
        back = -1 if match["next"] else {"last": 1, "past": 1, "this": 0, "current": 0}[match["which"].lower()]
        if match["unit"].lower() == "quarter":
            return self._quarters_back(back)
        year = self._this_year(match) - back
        return self._years(year, year, bool(match["fiscal"]), relative=True)

    def _year_to_date(self, match: re.Match[str]) -> PeriodReading | None:
        year, quarter = self._calendar.quarter_of(self._today)
        first = self._calendar.year_days(year)[0]
        return PeriodReading((year,), tuple(range(1, quarter + 1)), False, first, self._today, True)

    # quarters and halves

    def _quarter(self, match: re.Match[str]) -> PeriodReading | None:
        year = self._year_reading(match["year"])
        if year is None:
            return None
        fiscal = year.fiscal or "fiscal" in match["quarter"].lower()
        quarter = quarter_number(match["quarter"])
        if is_calendar(match["year"]) or match.groupdict().get("calendar"):
            year_then, quarter_then = self._calendar.quarter_of(
                FiscalCalendar().quarter_days(year.years[0], quarter)[0]
            )
            return self._quarter_reading(year_then, (quarter_then,), fiscal=False)
        return self._quarter_reading(year.years[0], (quarter,), fiscal)

    def _quarters(self, match: re.Match[str]) -> PeriodReading | None:
        last = self._year_reading(match["last"])
        first = self._year_reading(match["year"]) if match["year"] else last
        if first is None or last is None:
            return None
        start, end = (first.years[0], quarter_number(match["from"])), (last.years[0], quarter_number(match["to"]))
        return self._quarters_between(start, end, fiscal=last.fiscal)

    def _quarter_of_own_year(self, match: re.Match[str]) -> PeriodReading | None:
        words = match["year"].lower()
        back = next((by for word, by in _OWN_YEARS.items() if word in words), 1)
        now = self._calendar.year_of(self._today) if "fiscal" in words else self._today.year
        return self._quarter_reading(now - back, (quarter_number(match["quarter"]),), "fiscal" in words, relative=True)

    def _quarter_alone(self, match: re.Match[str]) -> PeriodReading | None:
        return PeriodReading((), (quarter_number(match["quarter"]),))

    def _half(self, match: re.Match[str]) -> PeriodReading | None:
        year = self._year_reading(match["year"])
        word = (match["ordinal"] or match["half"] or match["before"]).lower()
        quarters = (1, 2) if word in ("first", "1") else (3, 4)
        return self._quarter_reading(year.years[0], quarters, year.fiscal) if year else None

    # days

    def _date(self, match: re.Match[str]) -> PeriodReading | None:
        return self._end_reading(match[0])

    def _ended(self, match: re.Match[str]) -> PeriodReading | None:
        end = self._end_reading(match["end"])
        if end is None or end.last is None:
            return None
        unit, count = match["unit"].lower(), count_of(match["count"])
        fiscal = bool(match["fiscal"]) or end.fiscal
        if is_year_alone(match["end"]):
            return self._years(end.years[-1] - count + 1, end.years[-1], fiscal) if unit.startswith("year") else end
        if unit.startswith("year") or quarters_in(unit, count) == 4:
            # A year that ends on a day has that day's year, whatever calendar was assumed.
            years = count if unit.startswith("year") else 1
            first = years_before(end.last, years) + dt.timedelta(days=1)
            return PeriodReading(
                tuple(range(end.last.year - years + 1, end.last.year + 1)), (), fiscal, first, end.last
            )
        # A quarter of 13 weeks may end a few days into the next month.
        last = self._calendar.quarter_of(end.last - dt.timedelta(days=7 if end.last.day <= 7 else 0))
        quarters = quarters_in(unit, count)
        if not 1 <= quarters <= 3:
            return self._years(last[0], last[0], fiscal, end=end.last)
        return self._quarters_between(self._calendar.quarter_before(*last, quarters - 1), last, fiscal=fiscal)

    # helpers

    def _this_year(self, match: re.Match[str]) -> int:
        fiscal = match.groupdict().get("fiscal")
        return self._calendar.year_of(self._today) if fiscal else self._today.year

    def _years(
        self, first: int, last: int, fiscal: bool, relative: bool = False, end: dt.date | None = None
    ) -> PeriodReading | None:
        if not _EARLIEST <= first <= last <= _LATEST or last - first >= _LONGEST:
            return None
        end = end or self._calendar.year_days(last)[1]
        return PeriodReading(
            tuple(range(first, last + 1)), (), fiscal, min(self._calendar.year_days(first)[0], end), end, relative
        )

    def _quarter_reading(
        self, year: int, quarters: tuple[int, ...], fiscal: bool, relative: bool = False
    ) -> PeriodReading | None:
        return self._quarters_between((year, quarters[0]), (year, quarters[-1]), fiscal, relative)

    def _quarters_between(
        self, first: tuple[int, int], last: tuple[int, int], fiscal: bool = False, relative: bool = False
    ) -> PeriodReading | None:
        if not _EARLIEST <= first[0] <= last[0] <= _LATEST or first > last or last[0] - first[0] >= _LONGEST:
            return None
        count = min((last[0] - first[0]) * 4 + last[1] - first[1] + 1, 4)
        quarters = tuple(sorted({(first[1] - 1 + place) % 4 + 1 for place in range(count)}))
        days = self._calendar.quarter_days(*first)[0], self._calendar.quarter_days(*last)[1]
        return PeriodReading(tuple(range(first[0], last[0] + 1)), quarters, fiscal, *days, relative)

    def _quarter_back(self, count: int) -> tuple[int, int]:
        return self._calendar.quarter_before(*self._calendar.quarter_of(self._today), count)

    def _quarters_back(self, count: int) -> PeriodReading | None:
        year, quarter = self._quarter_back(count)
        return self._quarter_reading(year, (quarter,), False, relative=True)

    def _from_to(self, first: str, last: str) -> PeriodReading | None:
        start, end = self._end_reading(first), self._end_reading(last)
        if start is None or end is None or end.last is None:
            return None
        if end.years[-1] < start.years[0]:
            return None
        return self._between(start, end.years[-1], end.last, end.fiscal)

    def _between(self, start: PeriodReading, year: int, last: dt.date, fiscal: bool = False) -> PeriodReading | None:
        reading = self._years(start.years[0], year, start.fiscal or fiscal, end=last)
        if reading is None or start.first is None:
            return reading
        return PeriodReading(reading.years, (), reading.fiscal, start.first, last)

    def _year_reading(self, text: str) -> PeriodReading | None:
        """A year as it is written: 2014, FY14, '14, fiscal 2014, calendar 2014."""
        digits = re.findall(r"\d+", text)[-1]
        year = int(digits)
        if len(digits) == 2:
            century = self._today.year // 100 * 100
            year += century if year <= self._today.year % 100 + 10 else century - 100
        if is_calendar(text):
            first, last = dt.date(year, 1, 1), dt.date(year, 12, 31)
            years = range(self._calendar.year_of(first), self._calendar.year_of(last) + 1)
            return PeriodReading(tuple(years), (), False, first, last)
        return self._years(year, year, bool(re.search(r"f|fiscal|financial", text, re.IGNORECASE)))

    def _end_reading(self, text: str) -> PeriodReading | None:
        """A day, a month or a year as a reading of the fiscal year in which it falls."""
        if is_year_alone(text):
            return self._year_reading(text)
        first, last = days_of(text)
        return PeriodReading((self._calendar.year_of(last),), (), False, first, last)
