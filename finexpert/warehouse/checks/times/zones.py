"""AT TIME ZONE applied the wrong way round.

naive_at AT TIME ZONE 'America/New_York'                        takes a moment without a zone for one in New York; a day of it is one of UTC
zoned_at AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York'     takes the hours of UTC for those of New York
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.select import Read, text_of
from finexpert.warehouse.dates import kind_of_type

_ENGINES = frozenset(("duckdb", "postgres"))
# What makes a day or an hour of a moment: of one with a zone, in the zone of the session, which is UTC.
_PARTS = (exp.Date, exp.TsOrDsToDate, exp.DateTrunc, exp.TimestampTrunc, exp.Extract, exp.Year, exp.Month, exp.Quarter, exp.Week, exp.Day,
          exp.DayOfWeek, exp.DayOfMonth, exp.DayOfYear, exp.TimeToStr)  # fmt: skip
_NAMED = frozenset(
    ("hour", "minute", "dayname", "monthname", "date_part", "isodow", "weekday", "week", "yearweek", "to_char")
)
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_UTC = frozenset(("utc", "gmt", "etc/utc", "z"))


def check_zones(one: Read, question: str) -> None:
    """Raises QueryError for days and hours of a moment that AT TIME ZONE made one with a zone of; who asks for UTC may mean them."""
    asked = set(re.findall(r"[a-z/]+", question.lower())) & _UTC
    for scope in one.scopes if one.dialect in _ENGINES and not asked else ():
        for node, inner, zone in _placed(scope):
            if zone.lower() in _UTC or not _makes_parts(node):
                continue
            above = node.parent if node.parent is not None else node
            if _is_naive(one, inner, scope):
                raise QueryError(
                    f"{text_of(one, above)}: AT TIME ZONE {zone!r} takes {text_of(one, inner)}, which has no zone, for local time there, and days and "
                    f"hours of that are those of UTC; for a column in UTC write {text_of(one, inner)} AT TIME ZONE 'UTC' AT TIME ZONE {zone!r}, and for one "
                    "in local time the column alone"
                )
            if (twice := _two(inner)) is not None and _is_zoned(one, twice, scope):
                raise QueryError(
                    f"{text_of(one, above)}: {text_of(one, twice)} has a zone, so that one AT TIME ZONE {zone!r} gives its local time, and a second one "
                    "takes that for the time of another place"
                )


def _placed(scope: Scope) -> Iterator[tuple[exp.Expr, exp.Expr, str]]:
    """Each change of zone, with what it is of and which zone it names."""
    for node in scope.find_all(exp.AtTimeZone, exp.Anonymous):
        if isinstance(node, exp.AtTimeZone):
            zone, inner = node.args["zone"], node.this
        elif node.name.lower() == "timezone" and len(node.expressions) == 2:
            zone, inner = node.expressions
        else:
            continue
        if isinstance(zone, exp.Literal):
            yield node, inner.unnest(), zone.name


def _two(node: exp.Expr) -> exp.Expr | None:
    """What a change of zone is of."""
    called = isinstance(node, exp.Anonymous) and node.name.lower() == "timezone" and len(node.expressions) == 2
    inner: exp.Expr | None = node.this if isinstance(node, exp.AtTimeZone) else node.expressions[1] if called else None
    return inner.unnest() if inner is not None else None


def _makes_parts(node: exp.Expr) -> bool:
    """Whether a day or an hour is made of a moment, or it is compared with one without a zone."""
    above = node.parent
    while isinstance(above, exp.Paren | exp.Var):
        above = above.parent
    if isinstance(above, exp.Cast):
        return above.to.is_type("date", "timestamp", "time") and not isinstance(above.parent, exp.AtTimeZone)
    if isinstance(above, _COMPARED):
        others = [
            each for each in (above.this, *map(above.args.get, ("expression", "low", "high"))) if each is not None
        ]
        return any(
            isinstance(other, exp.Cast) and other.to.is_type("date", "timestamp") and other.find(exp.Column) is None
            for other in others
        )
    named = above.name if isinstance(above, exp.Anonymous) else above.sql_name() if isinstance(above, exp.Func) else ""
    return isinstance(above, _PARTS) or named.lower() in _NAMED


def _is_naive(one: Read, node: exp.Expr, scope: Scope) -> bool:
    return _kind(one, node, scope) == "naive"


def _is_zoned(one: Read, node: exp.Expr, scope: Scope) -> bool:
    return _kind(one, node, scope) == "zoned"


def _kind(one: Read, node: exp.Expr, scope: Scope) -> str:
    origin = one.origin(node, scope) if isinstance(node, exp.Column) else None
    type_ = origin.column.type.upper() if origin is not None else ""
    if kind_of_type(type_) != "timestamp":
        return ""
    return "zoned" if "WITH TIME ZONE" in type_ or "TZ" in type_ else "naive"
