"""The time that a SELECT asks about, read from its conditions.

executed_at >= DATE '2023-01-01' AND executed_at < DATE '2024-01-01'   ->   2023-01-01 to 2023-12-31
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope
from sqlglot.optimizer.simplify import simplify

from finexpert.warehouse.checks.reading.select import Origin, Read, unwrapped
from finexpert.warehouse.dates import kind_of_type

_DAY = dt.timedelta(days=1)
_FOUR_DIGITS = re.compile("[0-9]{4}")
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
        if kind := _kind(one, node.this, scope):
            (low, _), (_, high) = (_days(node.args[end], kind) for end in ("low", "high"))
            yield low, high
        return
    if not isinstance(node, exp.EQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        return
    left, right = node.this, node.expression
    if isinstance(node, exp.EQ) and (year := _year(one, left, right, scope)):
        yield dt.date(year, 1, 1), dt.date(year, 12, 31)
    elif (kind := _kind(one, left, scope)) and (ends := _days(right, kind))[0]:
        first, last = ends[0], ends[1] or ends[0]
        # The last day of the calendar, 9999-12-31, stands for no end in many tables.
        after, before = (last + _DAY if last < dt.date.max else last), (first - _DAY if first > dt.date.min else first)
        yield {
            exp.EQ: (first, last), exp.GT: (after, None), exp.GTE: (first, None), exp.LT: (None, before), exp.LTE: (None, last),
        }[type(node)]  # fmt: skip


def _kind(one: Read, node: exp.Expr, scope: Scope) -> str:
    """How the values of a column of dates are written; nothing for any other expression."""
    node = node.this if isinstance(node, exp.Cast | exp.TsOrDsToDate | exp.Date) else unwrapped(node)
    origin: Origin | None = one.origin(node, scope) if isinstance(node, exp.Column) else None
    return (origin.column.dates or kind_of_type(origin.column.type) or "") if origin is not None else ""


def _days(node: exp.Expr | None, kind: str) -> Ends:
    """The first and the last day of what a literal says: a day, or a month where the column has no days."""
    day = day_of(node) or (day_of(_computed(node)) if node is not None and node.find(exp.Interval) else None)
    if day is not None or kind not in SORTED:
        return day, day
    node = node.unnest() if node is not None else None
    return span_of(node.name, kind) if isinstance(node, exp.Literal) else (None, None)


def _computed(node: exp.Expr) -> exp.Expr | None:
    """A day that is written as another one and a length of time; None where it rests on rows.

    >>> import sqlglot
    >>> _computed(sqlglot.parse_one("CAST('2026-11-27' AS DATE) - INTERVAL '7 days'", read="postgres")).sql()
    "CAST('2026-11-20' AS DATE)"
    """
    if node.find(exp.Column, exp.Query):
        return None
    node = node.copy()
    for length in node.find_all(exp.Interval):
        unit = length.args.get("unit")
        if unit is not None:
            length.set("unit", exp.var(unit.name.upper().removesuffix("S")))
    made: exp.Expr = simplify(node)
    return made


# Kinds whose values sort by time as they are written, and of which no other reading is at hand: the parts of a value.
SORTED = {
    "yyyymmdd": r"(\d{4})(\d\d)(\d\d)", "compact": r"(\d{4})(\d\d)(\d\d)", "slashed": r"(\d{4})/(\d\d)/(\d\d)",
    "yyyymm": r"(\d{4})(\d\d)", "compact month": r"(\d{4})(\d\d)", "month": r"(\d{4})-(\d\d)",
}  # fmt: skip


def span_of(value: object, kind: str) -> Ends:
    """The first and the last day of a value of such a kind.

    20240000 and 20240199 are bounds that some write: they lie between two days.

    >>> [str(day) for text, kind in ((20240229, "yyyymmdd"), ("2024-02", "month"), ("20240199", "compact")) for day in span_of(text, kind)]
    ['2024-02-29', '2024-02-29', '2024-02-01', '2024-02-29', '2024-02-01', '2024-01-31']
    """
    found = re.match(SORTED[kind], str(value))
    year, month, *days = map(int, found.groups()) if found else (0, 0)
    if not dt.MINYEAR < year < dt.MAXYEAR:
        return None, None
    if not 1 <= month <= 12:
        edge = dt.date(year if month < 1 else year + 1, 1, 1)
        return edge, edge - _DAY
    first, last = dt.date(year, month, 1), dt.date(year, month, calendar.monthrange(year, month)[1])
    if not days:
        return first, last
    if days[0] < 1:
        return first, first - _DAY
    return (first + _DAY * (days[0] - 1),) * 2 if days[0] <= last.day else (last + _DAY, last)


def _year(one: Read, left: exp.Expr, right: exp.Expr, scope: Scope) -> int | None:
    if (
        not isinstance(right, exp.Literal)
        or not _FOUR_DIGITS.fullmatch(right.name)
        or not 1000 < int(right.name) < 3000
    ):
        return None
    if isinstance(left, exp.IntDiv | exp.Div):
        parts = {"yyyymmdd": "10000", "yyyymm": "100"}
        return int(right.name) if parts.get(_kind(one, left.this, scope)) == left.expression.name else None
    is_year = isinstance(left, exp.Year) or (isinstance(left, exp.Extract) and left.name.upper() == "YEAR")
    inner = left.expression if isinstance(left, exp.Extract) else left.this
    return int(right.name) if is_year and inner is not None and _kind(one, inner, scope) else None


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
