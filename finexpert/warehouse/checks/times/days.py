"""A day that is in no calendar.

ordered_on <= '2023-02-30'      SQLite compares it as a text or takes 2 March, MySQL compares with nothing

Zero dates and days beyond every calendar (9999-99-99) stand for no day on purpose.
"""

from __future__ import annotations

import calendar
import re

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read

_DAY = re.compile(r"\s*(1[89]\d\d|2[01]\d\d)([-/.])(\d{1,2})\2(\d{1,2})(?:[ T].*)?")


def check_days(one: Read, probe: Probe) -> None:
    """Raises QueryError for a text that is written as a day and is none."""
    for literal in (one.select or exp.Select()).find_all(exp.Literal):
        if literal.is_string and (last := last_day(literal.name)):
            raise QueryError(f"'{literal.name}' is no day: {last}")


def last_day(text: str) -> str:
    """What to write in place of a day that is in no calendar; nothing for a text that is a day, or no day at all.

    >>> last_day("2023-02-30"), last_day("2023-02-28"), last_day("9999-99-99"), last_day("2024-13-01")
    ('the last one of that month is 2023-02-28', '', '', 'a year has 12 months')
    """
    match = _DAY.fullmatch(text)
    if match is None:
        return ""
    year, month, day = int(match[1]), int(match[3]), int(match[4])
    # MySQL keeps a month without a day as its day zero.
    if not month or not day:
        return ""
    if month > 12:
        return "a year has 12 months"
    last = calendar.monthrange(year, month)[1]
    return f"the last one of that month is {year}{match[2]}{month:02d}{match[2]}{last}" if day > last else ""
