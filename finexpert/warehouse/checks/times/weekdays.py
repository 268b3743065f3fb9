"""Days of the week as numbers, which every function counts in its own way.

"on Mondays", dayofweek(x) = 0           0 is Sunday on DuckDB
"at the weekend", dow IN (5, 6)          Friday and Saturday
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.select import Read, text_of

_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_WEEKEND = frozenset((0, 6))
_EVERY = frozenset(range(7))
_DAY = re.compile(
    r"\b(sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)days?\b|\b(weekends?)\b|\b(weekdays|working days|business days)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile("[0-7]")
# What a function gives for Sunday, Monday, ..., Saturday; on DuckDB and PostgreSQL, and where it differs.
_FROM_0 = (0, 1, 2, 3, 4, 5, 6)
_FROM_1 = (1, 2, 3, 4, 5, 6, 7)
_ISO = (7, 1, 2, 3, 4, 5, 6)
_MONDAY_0 = (6, 0, 1, 2, 3, 4, 5)
_DOW = {"duckdb": _FROM_0, "postgres": _FROM_0, "mysql": _FROM_1, "spark": _FROM_1}
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)
_PARTS = {"dow": "dow", "dayofweek": "dow", "weekday": "dow", "isodow": "iso", "dayofweek_iso": "iso"}


def check_weekdays(one: Read, question: str) -> None:
    """Raises QueryError where the question names days of the week and the SELECT compares with the numbers of others."""
    asked = _asked(question)
    found = [each for each in _comparisons(one) if each[2]] if asked else []
    taken = frozenset().union(*(days for _, _, days in found))
    if not found or taken >= asked or taken == _EVERY - asked:
        return
    node, numbers, days = found[0]
    told = ", ".join(f"{number} is {name}" for number, name in sorted(zip(numbers, _NAMES, strict=True)))
    raise QueryError(f"{text_of(one, node)} takes {_told(days)}, and the question says {_told(asked)}: here {told}")


def _told(days: frozenset[int]) -> str:
    return " and ".join(_NAMES[day] for day in sorted(days))


def _asked(question: str) -> frozenset[int]:
    """The days of the week that a question names, Sunday as 0.

    >>> sorted(_asked("Were there more orders on Mondays than at weekends?")), sorted(_asked("on the last day"))
    ([0, 1, 6], [])
    """
    found: set[int] = set()
    for day, weekend, working in _DAY.findall(question):
        if day:
            found.add(next(place for place, name in enumerate(_NAMES) if name.lower().startswith(day.lower()[:3])))
        found |= _WEEKEND if weekend else set()
        found |= _EVERY - _WEEKEND if working else set()
    return frozenset(found)


def _comparisons(one: Read) -> Iterator[tuple[exp.Expr, tuple[int, ...], frozenset[int]]]:
    """Comparisons of a day's number: the node, what the function gives for each day, and the days that it takes."""
    for node in (one.select or exp.Select()).find_all(*_COMPARED):
        numbers = _numbering(node.this, one.dialect)
        if numbers is not None:
            yield node, numbers, frozenset(day for day, number in enumerate(numbers) if _takes(node, number))


def _numbering(node: exp.Expr, dialect: str) -> tuple[int, ...] | None:
    """What an expression gives for Sunday, Monday, ...; None where it is no day of the week."""
    while isinstance(node, exp.Cast | exp.TryCast | exp.Paren):
        node = node.this
    if isinstance(node, exp.TimeToStr):
        written = node.args["format"].name
        # PostgreSQL's own letters stand here as others.
        return {"%w": _FROM_0, "%u": _ISO}.get(written) if dialect in ("duckdb", "sqlite") else None
    if isinstance(node, exp.DayOfWeekIso):
        return _ISO
    if isinstance(node, exp.DayOfWeek):
        return _DOW.get(dialect)
    part = _part(node, dialect)
    if part == "monday":
        return _MONDAY_0
    return _ISO if part == "iso" else _DOW.get(dialect) if part == "dow" else None


def _part(node: exp.Expr, dialect: str) -> str | None:
    """The part of a date that EXTRACT, date_part or a function of that name takes."""
    if isinstance(node, exp.Extract):
        return _PARTS.get(node.name.lower())
    if not isinstance(node, exp.Anonymous) or not node.expressions:
        return None
    called = node.name.lower()
    if called == "weekday" and dialect in ("mysql", "spark"):
        return "monday"
    return _PARTS.get(node.expressions[0].name.lower() if called in ("date_part", "datepart") else called)


def _takes(node: exp.Expr, number: int) -> bool:
    """Whether a comparison holds for a number; one with anything but numbers holds for none."""
    if isinstance(node, exp.In):
        return number in {_value(each) for each in node.expressions}
    if isinstance(node, exp.Between):
        low, high = _value(node.args["low"]), _value(node.args["high"])
        return low is not None and high is not None and low <= number <= high
    other = _value(node.expression)
    if other is None:
        return False
    if isinstance(node, exp.GT | exp.GTE):
        return number > other or (number == other and isinstance(node, exp.GTE))
    if isinstance(node, exp.LT | exp.LTE):
        return number < other or (number == other and isinstance(node, exp.LTE))
    # What <> leaves out is as good a sign as what is taken.
    return number == other


def _value(node: exp.Expr) -> int | None:
    return int(node.name) if isinstance(node, exp.Literal) and _DIGIT.fullmatch(node.name) else None
