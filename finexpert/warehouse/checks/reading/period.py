"""The time that a SELECT asks about, read from its conditions.

executed_at >= DATE '2023-01-01' AND executed_at < DATE '2024-01-01'   ->   2023-01-01 to 2023-12-31
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.select import Origin, Read, unwrapped
from finexpert.warehouse.dates import kind_of_type

_DAY = dt.timedelta(days=1)
Ends = tuple[dt.date | None, dt.date | None]


def period_of(one: Read) -> str | None:
    """The first and the last day that the conditions of a SELECT let through; None where they do not say both."""
    lower: list[dt.date] = []
    upper: list[dt.date] = []
    for scope in one.scopes:
        ends = [pair for node in scope.walk() for pair in ends_of(one, node, scope)]
        firsts = [first for first, _ in ends if first]
        lasts = [last for _, last in ends if last]
        # One end alone is a bound on something else, such as a rate known by a day.
        if firsts and lasts:
            lower.append(min(firsts))
            upper.append(max(lasts))
    return f"{min(lower)} to {max(upper)}" if lower and upper and min(lower) <= max(upper) else None


def seen_of(period: str, day: dt.date) -> tuple[str, list[str]]:
    """The part of a period that is seen as of a day, and what a person is told of the rest.

    >>> seen_of("2023-01-01 to 2023-12-31", dt.date(2023, 6, 30))[0]
    '2023-01-01 to 2023-06-30'
    """
    first, _, last = period.partition(" to ")
    if dt.date.fromisoformat(last) <= day:
        return period, []
    return f"{first} to {day}", [
        f"the conditions reach to {last}, and rows are seen up to {day}: nothing later is in it"
    ]


def ends_of(one: Read, node: exp.Expr, scope: Scope) -> Iterator[Ends]:
    """The first and the last day that a condition lets through, None for an end that it does not say; nothing for any other condition."""
    if isinstance(node, exp.Between):
        if _is_dated(one, node.this, scope):
            yield day_of(node.args["low"]), day_of(node.args["high"])
        return
    if not isinstance(node, exp.EQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        return
    left, right = node.this, node.expression
    if isinstance(node, exp.EQ) and (year := _year(one, left, right, scope)):
        yield dt.date(year, 1, 1), dt.date(year, 12, 31)
    elif _is_dated(one, left, scope) and (day := day_of(right)):
        # The last day of the calendar, 9999-12-31, stands for no end in many tables.
        after, before = (day + _DAY if day < dt.date.max else day), (day - _DAY if day > dt.date.min else day)
        yield {
            exp.EQ: (day, day), exp.GT: (after, None), exp.GTE: (day, None), exp.LT: (None, before), exp.LTE: (None, day),
        }[type(node)]  # fmt: skip


def _is_dated(one: Read, node: exp.Expr, scope: Scope) -> bool:
    node = node.this if isinstance(node, exp.Cast | exp.TsOrDsToDate | exp.Date) else unwrapped(node)
    origin: Origin | None = one.origin(node, scope) if isinstance(node, exp.Column) else None
    return origin is not None and bool(kind_of_type(origin.column.type) or origin.column.dates)


def _year(one: Read, left: exp.Expr, right: exp.Expr, scope: Scope) -> int | None:
    is_year = isinstance(left, exp.Year) or (isinstance(left, exp.Extract) and left.name.upper() == "YEAR")
    inner = left.expression if isinstance(left, exp.Extract) else left.this
    if is_year and isinstance(right, exp.Literal) and right.name.isdigit() and 1000 < int(right.name) < 3000:
        return int(right.name) if inner is not None and _is_dated(one, inner, scope) else None
    return None


def day_of(node: exp.Expr | None, *, whole: bool = False) -> dt.date | None:
    """The day that a literal says; with `whole` only where it says no time of the day.

    >>> import sqlglot
    >>> day_of(sqlglot.parse_one("TIMESTAMP '2023-01-31 10:00'")), day_of(sqlglot.parse_one("'2023-01-31 10:00'"), whole=True)
    (datetime.date(2023, 1, 31), None)
    """
    while isinstance(node, exp.Cast | exp.Paren | exp.TsOrDsToDate | exp.Date | exp.Timestamp):
        node = node.this
    if not isinstance(node, exp.Literal) or not node.is_string or (whole and len(node.name) != len("2023-01-31")):
        return None
    try:
        return dt.date.fromisoformat(node.name[:10])
    except ValueError:
        return None
