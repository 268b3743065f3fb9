"""Dates, counts and quarters as they are written in a question, read into days and numbers.

    >>> days_of("december 31 , 2012"), days_of("June 2018")[1]
    ((datetime.date(2012, 12, 31), datetime.date(2012, 12, 31)), datetime.date(2018, 6, 30))

A date in digits alone is month/day/year or year-month-day. Words that are no date raise ValueError.
"""

from __future__ import annotations

import datetime as dt
import re

from finexpert.text.periods.calendar import month_end
from finexpert.text.periods.words import COUNTS, MONTHS, ORDINALS

_GLUED = re.compile(r"(\d{1,2})(\d{4})$")
_YEAR_WORDS = re.compile(r"fiscal|years?|financial|calendar|\bof\b")
_MONTHS_IN = {"month": 3.0, "quarter": 1.0, "week": 13.0}


def days_of(text: str) -> tuple[dt.date, dt.date]:
    """First and last day of a date or of a month."""
    # "december 312012" is a date whose comma was lost.
    numbers = [int(number) for number in re.findall(r"\d+", _GLUED.sub(r"\1 \2", text.strip()))]
    word = re.search(r"[a-z]{3,}", text.lower())
    if word is None:
        year, month, day = numbers if numbers[0] > 31 else (numbers[2], numbers[0], numbers[1])
        return dt.date(year, month, day), dt.date(year, month, day)
    month = next((number for name, number in MONTHS.items() if name in text.lower()), 0)
    if len(numbers) == 1:
        return dt.date(numbers[0], month, 1), month_end(numbers[0], month)
    only = dt.date(numbers[1], month, numbers[0])
    return only, only


def years_before(day: dt.date, count: int) -> dt.date:
    """The same day some years earlier, the end of February for the end of February.

    >>> years_before(dt.date(2012, 2, 29), 1)
    datetime.date(2011, 2, 28)
    """
    if day == month_end(day.year, day.month):
        return month_end(day.year - count, day.month)
    return day.replace(year=day.year - count)


def is_year_alone(text: str) -> bool:
    """Whether words are a year and no date: "fiscal 2014", not "June 2014"."""
    return not re.search(r"[/-]|\d\d?\D+\d{4}|[a-z]{3}", _YEAR_WORDS.sub("", text.lower()))


def is_calendar(text: str) -> bool:
    """Whether words say that a year is one of the calendar."""
    return bool(re.match(r"\s*(?:calendar|cy)", text, re.IGNORECASE))


def count_of(word: str | None) -> int:
    """A number in digits or in a word; 1 where there is none."""
    if not word:
        return 1
    return int(word) if word.isdigit() else COUNTS[word.lower()]


def quarter_number(words: str) -> int:
    """1 to 4.

    >>> quarter_number("Q3"), quarter_number("1q"), quarter_number("fourth quarter")
    (3, 1, 4)
    """
    if digit := re.search(r"q([1-4])|([1-4])q", words.lower()):
        return int(digit[1] or digit[2])
    return ORDINALS[re.split(r"[ -]", words.lower().strip())[0]]


def quarters_in(unit: str, count: int) -> int:
    """How many quarters some months, weeks or quarters are.

    >>> quarters_in("months", 9), quarters_in("weeks", 39), quarters_in("quarter", 1)
    (3, 3, 1)
    """
    return next((round(count / size) for word, size in _MONTHS_IN.items() if unit.startswith(word)), 4)
