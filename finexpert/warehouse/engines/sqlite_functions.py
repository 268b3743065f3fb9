"""What a SELECT over SQLite may do, and the functions on dates that SQLite lacks.

    finexpert_trunc('quarter', '2024-05-17')      ->  2024-04-01
    finexpert_add('2024-01-31', 1, 'month')       ->  2024-02-29
    finexpert_diff('month', '2023-12-31', '2024-01-01')  ->  1    (borders crossed, as in DuckDB)

Dates are text in ISO form, as SQLite keeps them. The authorizer is SQLite's own: it is asked before a statement runs.
"""

from __future__ import annotations

import calendar
import datetime as dt
import sqlite3
from collections.abc import Collection

from finexpert.warehouse.engines.statement_rules import CTE_PREFIX

MAX_VALUE_BYTES = 16 << 20


def confine(connection: sqlite3.Connection, tables: Collection[str]) -> None:
    """From here on the connection can read these tables, and nothing else."""
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA case_sensitive_like = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    for function in (trunc, part, add, diff, div, whole):
        arguments = len(function.__annotations__) - 1
        connection.create_function(f"finexpert_{function.__name__}", arguments, function, deterministic=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    allowed = {table.lower() for table in tables}

    def decide(action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_DENY if (second or "").lower() == "load_extension" else sqlite3.SQLITE_OK
        if action != sqlite3.SQLITE_READ:
            return sqlite3.SQLITE_DENY
        # A view reads its own tables; an empty name is that of a subquery, and a CTE is read as a whole.
        inside = view is not None and view.lower() in allowed
        is_cte = not second and (first or "").startswith(CTE_PREFIX)
        if inside or is_cte or not first or first.lower() in allowed:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(decide)


def trunc(unit: str, date: str | None) -> str | None:
    """The first day of the date's week, month, quarter or year."""
    if date is None:
        return None
    day = _date(date)
    if unit == "week":
        day -= dt.timedelta(days=day.weekday())
    elif unit != "day":
        month = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1}[unit]
        day = day.replace(month=month, day=1)
    return day.isoformat()


def part(unit: str, date: str | None) -> int | None:
    """A part of a date as a number."""
    if date is None:
        return None
    day = _date(date)
    parts = {"year": day.year, "month": day.month, "day": day.day, "quarter": (day.month + 2) // 3}
    return (parts | {"dow": day.isoweekday() % 7, "doy": day.timetuple().tm_yday, "week": day.isocalendar().week})[unit]


def add(date: str | None, count: int | None, unit: str) -> str | None:
    """A date moved on, to the last day of a month that is shorter; a time of day stays."""
    if date is None or count is None:
        return None
    day = _date(date)
    if unit in ("day", "week"):
        moved = day + dt.timedelta(days=count * (7 if unit == "week" else 1))
    else:
        months = day.year * 12 + day.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
        year, month = divmod(months, 12)
        moved = dt.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
    return moved.isoformat() + date[10:]


def diff(unit: str, start: str | None, end: str | None) -> int | None:
    """How many borders of the unit lie between two dates."""
    if start is None or end is None:
        return None
    first, last = _date(start), _date(end)
    if unit == "day":
        return (last - first).days
    if unit == "week":
        return (_date(str(trunc("week", end))) - _date(str(trunc("week", start)))).days // 7
    months = (last.year - first.year) * 12 + last.month - first.month
    quarters = (last.year - first.year) * 4 + (last.month - 1) // 3 - (first.month - 1) // 3
    return {"month": months, "quarter": quarters, "year": last.year - first.year}[unit]


def div(one: float | None, other: float | None) -> float | None:
    """A quotient as floats; raises for a divisor 0, where SQLite itself would give NULL."""
    return None if one is None or other is None else one / other


def whole(number: float | str | None) -> int | None:
    """The nearest whole number, a half to the even one, as DuckDB casts."""
    return None if number is None else round(float(number))


def _date(text: str) -> dt.date:
    return dt.date.fromisoformat(str(text)[:10])
