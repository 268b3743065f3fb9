"""Time in a question: every case of periods.jsonl, asked on 2025-11-22, and what holds for any question."""

from __future__ import annotations

import datetime as dt
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.text.periods.calendar import FiscalCalendar
from finexpert.text.periods.in_question import Periods, resolve_periods

TODAY = dt.date(2025, 11, 22)
CASES = [
    json.loads(line) for line in Path(__file__).with_name("periods.jsonl").read_text(encoding="utf-8").splitlines()
]
PHRASES = (
    "6 years ago",
    "last year",
    "the prior year",
    "a year before that",
    "Q1 2025",
    "FY14",
    "from 2010 to 2013",
    "1999",
)
DAYS = st.dates(dt.date(1960, 1, 1), dt.date(2090, 12, 31))
ENDS = st.integers(1, 12)


def written(found: Periods) -> list[list[str]]:
    """The mentions as the file of cases writes them: words, years, quarters, whether fiscal, days."""
    rows = []
    for m in found.mentions:
        years = "-".join(dict.fromkeys(str(year) for year in (m.years[0], m.years[-1]))) if m.years else ""
        quarters = "".join(map(str, m.quarters))
        rows.append([m.text, years, quarters, "fiscal" if m.fiscal else "", f"{m.first}..{m.last}" if m.first else ""])
    return rows


def test_there_are_as_many_cases_as_promised() -> None:
    assert len(CASES) >= 120
    assert len({(case["question"], case.get("fiscal_year_end")) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["question"])[:50])
def test_words_mean(case: dict[str, Any]) -> None:
    found = resolve_periods(case["question"], TODAY, case.get("fiscal_year_end", 12))
    assert written(found) == case["mentions"]
    assert found.rewritten == case.get("rewritten", case["question"])
    assert found.years == {year for mention in found.mentions for year in mention.years}


def test_a_long_chain_counts_from_the_one_before() -> None:
    found = resolve_periods("revenue 6 years ago, the year before that and the year before that", TODAY)
    assert [mention.years for mention in found.mentions] == [(2019,), (2018,), (2017,)]


def test_as_of_may_be_a_moment() -> None:
    assert resolve_periods("so far this year", dt.datetime(2025, 3, 1, 12)).mentions[0].last == dt.date(2025, 3, 1)


@pytest.mark.parametrize("month", [0, 13, -1])
def test_there_is_no_such_month(month: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 12"):
        resolve_periods("2012", TODAY, month)


@given(st.text(max_size=200), DAYS, ENDS)
def test_any_text_has_a_meaning_or_none(text: str, day: dt.date, end: int) -> None:
    found = resolve_periods(text, day, end)
    assert found == resolve_periods(text, day, end)
    for mention in found.mentions:
        assert text[mention.start : mention.end] == mention.text
        assert set(mention.quarters) <= {1, 2, 3, 4}
        assert list(mention.years) == sorted(set(mention.years))
        assert mention.first is None or mention.last is None or mention.first <= mention.last


@given(st.lists(st.sampled_from(PHRASES), min_size=1, max_size=5), DAYS, ENDS)
def test_what_was_rewritten_means_the_same_on_any_day(phrases: list[str], day: dt.date, end: int) -> None:
    found = resolve_periods("sales in " + " and in ".join(phrases), day, end)
    later = resolve_periods(found.rewritten, dt.date(2095, 1, 1), end)
    assert [m.years for m in later.mentions] == [m.years for m in found.mentions] or any(
        mention.years and mention.years[0] < 1950 for mention in found.mentions
    )


@given(st.integers(1955, 2085), st.integers(1, 4), ENDS)
def test_a_quarter_holds_its_days_and_no_others(year: int, quarter: int, end: int) -> None:
    calendar = FiscalCalendar(end)
    first, last = calendar.quarter_days(year, quarter)
    assert calendar.quarter_of(first) == calendar.quarter_of(last) == (year, quarter)
    assert calendar.quarter_of(last + dt.timedelta(days=1)) == calendar.quarter_before(year, quarter, -1)
    assert calendar.year_days(year)[0] <= first <= last <= calendar.year_days(year)[1]
    assert last.month % 3 == end % 3


@given(st.integers(1955, 2085), st.integers(1, 40))
def test_so_many_years_ago(year: int, count: int) -> None:
    found = resolve_periods(f"revenue {count} years ago", dt.date(year, 6, 1))
    assert found.years == {year - count} or year - count < 1900


def test_it_stays_quick_on_a_long_question() -> None:
    started = time.process_time()
    resolve_periods("the first quarter of the year before the fiscal year 20 12, since from 2010 to " * 300, TODAY)
    assert time.process_time() - started < 5
