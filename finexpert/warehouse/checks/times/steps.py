"""A row before that is not the period before.

lag(revenue, 1) OVER (ORDER BY month), asked "growth to the year before"      one row back is a month back
lag(revenue, 12) OVER (ORDER BY month), where a month has no row               twelve rows back are thirteen months back
lag(revenue) OVER (ORDER BY year), where 2020 has no row                       the row before is that of 2019
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import called, through
from finexpert.warehouse.checks.reading.probing import Probe, is_small
from finexpert.warehouse.checks.reading.select import Read, runnable, text_of, withs
from finexpert.warehouse.dates import kind_of_type, words

_UNITS = ("year", "quarter", "month")
_SHORT = {"year": r"yoy|y/y|annual\s+(?:growth|change)", "quarter": r"qoq|q/q", "month": r"mom|m/m"}
# Only what is compared with a period before is asked of it: "the last day of the quarter before" may be a definition.
_COMPARED = (
    r"\b(?:{unit}[\s-](?:over|on)[\s-]{unit}|{short}|(?:to|than|from|over|against|vs\.?|versus|with)\s+(?:that\s+of\s+)?"
    r"(?:the\s+same\s+\w+\s+(?:of|in)\s+)?(?:the\s+|a\s+)?(?:(?:previous|prior|preceding)\s+{unit}|{unit}\s+(?:before|earlier)))\b"
)
_ASKED = [(unit, re.compile(_COMPARED.format(unit=unit, short=_SHORT[unit]), re.IGNORECASE)) for unit in _UNITS]
# How many days lie between the same days of two such periods, at least and at most: years of 52 and 53 weeks are meant too.
_DAYS = {"year": (360, 372), "quarter": (84, 98), "month": (25, 35)}
# Steps of shorter periods, over which one row back is taken for a longer one; of days, a row back is meant as a day.
_SHORTER = {"year": [_DAYS["quarter"], _DAYS["month"]], "quarter": [_DAYS["month"]], "month": []}
_YEARS = frozenset(("year", "yr", "y", "fy"))


def check_steps(one: Read, probe: Probe, question: str) -> list[str]:
    """Notes on rows without the period before; raises QueryError where no row before is of that period."""
    asked = [unit for unit, said in _ASKED if said.search(question)]
    # Of several kinds of periods it cannot be told which window is for which.
    if len(asked) != 1 or not all(map(is_small, one.used)):
        return []
    return list(dict.fromkeys(note for scope in one.scopes for note in _of_scope(one, scope, probe, asked[0])))


def _of_scope(one: Read, scope: Scope, probe: Probe, unit: str) -> Iterator[str]:
    select = scope.expression
    windows = [
        node
        for node in scope.find_all(exp.Window)
        if isinstance(node.this, exp.Lag | exp.Lead) and node.args.get("order")
    ]
    if not isinstance(select, exp.Select) or scope.external_columns or len({_back(node) for node in windows}) > 1:
        return
    for node in windows:
        step = _step(one, scope, node, unit)
        if step is None:
            continue
        key, least, most = step
        steps = _steps(select, node, key)
        if probe.any_row(_among(one, scope, steps, exp.not_(_between(least, most)))) is not True:
            continue
        back = f"{text_of(one, node.this)} looks at a row that is not one {unit} away"
        if probe.any_row(_among(one, scope, steps, _between(least, most))) is True:
            yield f"{back} in some rows, where a period between has none"
        elif any(probe.any_row(_among(one, scope, steps, _between(*days))) for days in _SHORTER[unit]):
            raise QueryError(
                f"{back}, and the question asks for the {unit} before: join it by its own {unit}, or look as many rows back as a {unit} has"
            )


def _between(least: int, most: int) -> exp.Expr:
    """The condition for a step of so many days."""
    low, high = exp.Literal.number(least), exp.Literal.number(most)
    return exp.Between(this=exp.Abs(this=exp.column("step")), low=low, high=high)


def _back(node: exp.Window) -> str:
    return node.this.args["offset"].sql() if node.this.args.get("offset") is not None else "1"


def _step(one: Read, scope: Scope, node: exp.Window, unit: str) -> tuple[exp.Expr, int, int] | None:
    """The distance between a row and the one before, and its least and most for one period; None where it cannot be told."""
    parts = [part.this for part in node.args["order"].expressions]
    if len(parts) != 1:
        return None
    key = called(parts[0], scope)
    made, within = through(key, scope)
    is_year = isinstance(made, exp.Year) or (isinstance(made, exp.Extract) and made.name.upper() == "YEAR")
    origin = one.origin(made, within) if isinstance(made, exp.Column) else None
    if origin is not None and not kind_of_type(origin.column.type):
        numbers = "INT" in origin.column.type.upper() and set(words(origin.column.name)) & _YEARS
        is_year = origin.column.dates == "year" or bool(numbers)
    if is_year:
        return (key, 1, 1) if unit == "year" else None
    is_day = (
        isinstance(made, exp.DateTrunc | exp.TimestampTrunc | exp.LastDay)
        or (origin is not None and kind_of_type(origin.column.type) is not None)
        or (isinstance(made, exp.Cast) and made.to.is_type(*exp.DataType.TEMPORAL_TYPES))
    )
    return (exp.cast(key, "date"), *_DAYS[unit]) if is_day else None


def _steps(select: exp.Select, node: exp.Window, key: exp.Expr) -> exp.Select:
    """The SELECT with the distance between each row and the one that is looked at."""
    select = select.copy()
    before = node.copy()
    before.this.set("this", key.copy())
    before.this.set("default", None)
    less: exp.Expr = exp.Sub(this=key.copy(), expression=before)
    if isinstance(key, exp.Cast):
        less = exp.DateDiff(this=key.copy(), expression=before, unit=exp.var("DAY"))
    select.set("expressions", [less.as_("step")])
    for name in ("order", "limit", "qualify", "offset", "with_", "distinct"):
        select.set(name, None)
    return select


def _among(one: Read, scope: Scope, steps: exp.Select, condition: exp.Expr) -> exp.Select:
    found = (
        exp.select("1")
        .from_(steps.copy().subquery("steps"))
        .where(exp.column("step").is_(exp.null()).not_(), condition.copy())
    )
    for with_ in withs(one, scope):
        found.set("with_", with_.copy())
    return runnable(found)
