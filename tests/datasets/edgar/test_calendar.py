"""Fiscal calendars: which year and quarter a period is, for years that end in any month and have 52 or 53 weeks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.edgar.calendar import FiscalCalendar, FiscalYear
from finexpert.datasets.edgar.facts import Figure, read_facts

New = Callable[[int, str], Any]
day = dt.date.fromisoformat


def figure(start: str | None, end: str) -> Figure:
    return Figure("us-gaap:Revenues", "USD", day(start) if start else None, day(end))


CALENDAR_YEARS = FiscalCalendar(
    [
        FiscalYear(2020, day("2020-01-01"), day("2020-12-31")),
        FiscalYear(2021, day("2021-01-01"), day("2021-12-31")),
        FiscalYear(2022, day("2022-01-01"), day("2022-12-31"), closed=False),
    ]
)


@pytest.mark.parametrize(
    ("start", "end", "name"),
    [
        ("2021-01-01", "2021-03-31", (2021, "Q1")),
        ("2021-04-01", "2021-06-30", (2021, "Q2")),
        ("2021-07-01", "2021-09-30", (2021, "Q3")),
        ("2021-10-01", "2021-12-31", (2021, "Q4")),
        ("2021-01-01", "2021-06-30", (2021, "6M")),
        ("2021-01-01", "2021-09-30", (2021, "9M")),
        ("2021-01-01", "2021-12-31", (2021, "FY")),
        ("2020-12-31", "2021-12-31", (2021, "FY")),  # tagged a day early
        ("2021-01-03", "2022-01-01", (2021, "FY")),
        ("2020-07-01", "2021-06-30", None),  # twelve months that end in June
        ("2021-07-01", "2021-12-31", None),  # the second half
        ("2021-03-01", "2021-03-31", None),  # a month
        ("2021-02-15", "2021-05-15", None),  # a quarter that is none of the year's
        ("2020-01-01", "2021-12-31", None),  # two years
        ("2022-01-01", "2022-03-31", (2022, "Q1")),  # of the year that is under way
        ("2022-04-01", "2022-06-30", (2022, "Q2")),
        ("2022-01-01", "2022-09-30", (2022, "9M")),
        ("2019-01-01", "2019-12-31", None),  # before the calendar
        ("2023-01-01", "2023-03-31", None),  # after it
    ],
)
def test_periods_of_calendar_years(start: str, end: str, name: tuple[int, str] | None) -> None:
    assert CALENDAR_YEARS.name_of(figure(start, end)) == name


@pytest.mark.parametrize(
    ("weeks", "start", "end"),
    [
        ((13, 13, 13, 13), "2021-02-01", "2022-01-30"),
        ((13, 13, 13, 14), "2021-02-01", "2022-02-06"),
        ((12, 12, 12, 16), "2020-08-31", "2021-08-29"),
        ((16, 12, 12, 12), "2021-01-31", "2022-01-29"),
        ((12, 12, 12, 17), "2022-08-29", "2023-09-03"),
    ],
)
def test_quarters_of_weeks(weeks: tuple[int, ...], start: str, end: str) -> None:
    calendar = FiscalCalendar([FiscalYear(2021, day(start), day(end))])
    begins, first = day(start), day(start)
    for number, length in enumerate(weeks, 1):
        ends = begins + dt.timedelta(weeks=length) - dt.timedelta(days=1)
        assert calendar.name_of(Figure("x", "USD", begins, ends)) == (2021, f"Q{number}")
        so_far = {1: "Q1", 2: "6M", 3: "9M", 4: "FY"}[number]
        assert calendar.name_of(Figure("x", "USD", first, ends)) == (2021, so_far)
        begins = ends + dt.timedelta(days=1)


def of(new: New, folder: Path, *years: tuple[str, str, str, int | None]) -> FiscalCalendar:
    """The calendar of annual reports: filed, first day, last day, the year that the report names."""
    filer = new(7, "Cedar Inc.")
    for filed, start, end, name in years:
        filer.file("10-K", filed, name, "FY", ("NetIncomeLoss", start, end, 1e6), ("Assets", None, end, 1e6))
    return FiscalCalendar.of(read_facts(filer.write(folder)).facts)


@pytest.mark.parametrize(
    ("years", "names"),
    [
        # Named after the year in which it ends, and after the one in which it starts.
        ([("2021-03-19", "2020-02-01", "2021-01-31", 2021)], [2021]),
        ([("2021-03-10", "2020-02-02", "2021-01-30", 2020)], [2020]),
        # 52 weeks that end about New Year: the first days of January belong to the year before.
        ([("2020-02-20", "2018-12-30", "2019-12-28", 2019), ("2021-02-20", "2019-12-29", "2021-01-02", 2020)], [2019, 2020]),
        # One report names a wrong year; most do not.
        ([("2019-02-20", "2018-01-01", "2018-12-31", 2018), ("2020-02-20", "2019-01-01", "2019-12-31", 2020),
          ("2021-02-20", "2020-01-01", "2020-12-31", 2020)], [2018, 2019, 2020]),
        # A day of overlap is a slip, and neither year is lost.
        ([("2020-11-01", "2018-10-01", "2019-09-30", 2019), ("2021-11-01", "2019-09-29", "2020-09-26", 2020)], [2019, 2020]),
        # From a year that ends in June to one that ends in December.
        ([("2019-08-20", "2018-07-01", "2019-06-30", 2019), ("2021-02-20", "2020-01-01", "2020-12-31", 2020)], [2019, 2020]),
    ],
)  # fmt: skip
def test_names_of_years(
    new_filer: New, tmp_path: Path, years: list[tuple[str, str, str, int]], names: list[int]
) -> None:
    calendar = of(new_filer, tmp_path, *years)
    assert [year.name for year in calendar.years if year.closed] == names


def test_no_report_names_a_year(new_filer: New, tmp_path: Path) -> None:
    calendar = of(new_filer, tmp_path, ("2021-02-20", "2020-01-01", "2020-12-31", None))
    assert calendar.years == ()
    assert calendar.name_of(figure("2020-01-01", "2020-12-31")) is None


def test_years_of_one_name_have_none(new_filer: New, tmp_path: Path) -> None:
    calendar = of(
        new_filer,
        tmp_path,
        ("2021-01-20", "2019-02-01", "2020-01-31", 2020),
        ("2021-02-20", "2020-02-01", "2021-01-31", 2021),
        ("2022-02-20", "2021-01-01", "2021-12-31", 2021),
    )
    names = [year.name for year in calendar.years]
    assert len(names) == len(set(names))


def test_moments_have_a_name_only_at_the_end_of_a_period(facts_folder: Path) -> None:
    calendar = FiscalCalendar.of(read_facts(facts_folder / "CIK0000001001.json").facts)
    named = {end: calendar.name_of(figure(None, end)) for end in
             ("2019-12-31", "2020-12-31", "2021-03-31", "2021-06-30", "2021-09-30", "2021-12-31", "2022-02-10", "2021-05-01")}  # fmt: skip
    assert named == {
        "2019-12-31": (2019, "FY"), "2020-12-31": (2020, "FY"), "2021-03-31": (2021, "Q1"), "2021-06-30": (2021, "Q2"),
        "2021-09-30": (2021, "Q3"), "2021-12-31": (2021, "FY"), "2022-02-10": None, "2021-05-01": None,
    }  # fmt: skip
