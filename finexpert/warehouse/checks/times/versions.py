"""Rows that hold from a day to a day, of which two hold on the day of the change.

d BETWEEN v.valid_from AND v.valid_to       where valid_to of one row is valid_from of the next: that day has both
avg(v.valid_to - v.valid_from)              where valid_to of the last row is 9999-12-31
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.flat import flat
from finexpert.warehouse.checks.reading.joined import all_conditions
from finexpert.warehouse.checks.reading.probing import SMALL, Probe
from finexpert.warehouse.checks.reading.select import Read, columns_of, own_where, rows_of, text_of
from finexpert.warehouse.dates import kind_of_type, words
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import Column, TableSchema

_NUMBERED = frozenset(("version", "revision", "rev", "seq", "sequence", "no", "nr", "number", "row"))
_FAR = "2200-01-01"
_FAR_DAY = re.compile(r"(2[2-9]|[3-9]\d)\d\d-\d\d-\d\d")
_LASTS = (exp.Sub, exp.DateDiff, exp.TimestampDiff, exp.TsOrDsDiff, exp.Anonymous)
_GUARDS = (exp.Case, exp.If, exp.Least, exp.Filter, exp.Nullif)


def check_versions(one: Read, probe: Probe) -> None:
    """Raises QueryError for a day that two rows of one thing hold on, and for the length of what has no end."""
    for scope in one.scopes:
        if isinstance(scope.expression, exp.Select) and scope.expression.args.get("from_"):
            for span in spans(one, scope):
                _check_change(one, scope, span, probe)
    _check_lengths(flat(one), probe)


@dataclass(frozen=True)
class Span:
    """A time that has to lie between two columns of one table; `closed` says that the last day belongs to it."""

    at: exp.Expr
    first: exp.Column
    last: exp.Column
    node: exp.Expr
    closed: bool


def spans(one: Read, scope: Scope) -> Iterator[Span]:
    """The conditions of a SELECT that a time lies in the time of a row."""
    conditions = list(all_conditions(scope.expression))
    begun = [(at, first) for node in conditions for at, first in _after(node)]
    for node in conditions:
        if isinstance(node, exp.Between):
            pairs = [(node.this, node.args["low"], node.args["high"], True)]
        else:
            pairs = [
                (at, first, last, closed)
                for at, last, closed in _before(node)
                for other, first in begun
                if other.sql() == at.sql()
            ]
        for at, first, last, closed in pairs:
            low, high = _date_of(one, scope, first), _date_of(one, scope, last)
            if low is None or high is None or low.table != high.table or low.name == high.name:
                continue
            if all(column.table != low.table for column in at.find_all(exp.Column)):
                yield Span(at, low, high, node, closed)


def _after(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """What has to lie at or after what."""
    if isinstance(node, exp.GTE | exp.GT):
        yield node.this, node.expression
    elif isinstance(node, exp.LTE | exp.LT):
        yield node.expression, node.this


def _before(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr, bool]]:
    """What has to lie before what, and whether it may be equal."""
    if isinstance(node, exp.LTE | exp.LT):
        yield node.this, node.expression, isinstance(node, exp.LTE)
    elif isinstance(node, exp.GTE | exp.GT):
        yield node.expression, node.this, isinstance(node, exp.GTE)


def _date_of(one: Read, scope: Scope, end: exp.Expr) -> exp.Column | None:
    """The column of dates of a table that an end of a span is; what stands for a missing one beside it says nothing else."""
    node = end.this if isinstance(end, exp.Coalesce) else end
    if not isinstance(node, exp.Column) or one.base_of(scope, node.table) is None:
        return None
    origin = one.origin(node, scope)
    return node if origin is not None and _holds_dates(origin.column) else None


def _holds_dates(column: Column) -> bool:
    return bool(kind_of_type(column.type) or column.dates)


def _check_change(one: Read, scope: Scope, span: Span, probe: Probe) -> None:
    table = one.base_of(scope, span.last.table)
    if not span.closed or table is None or table.rows is None or table.rows > SMALL:
        return
    thing = thing_of(table, {span.first.name.lower(), span.last.name.lower()})
    if not thing or scope.external_columns:
        return
    next_ = exp.select("1").from_(from_named(table.name).as_("next_row")).where(
        *(exp.column(name, table="next_row", quoted=True).eq(exp.column(name, table=span.last.table, quoted=True)) for name in thing),
        exp.column(span.first.name, table="next_row", quoted=True).eq(span.last.copy()),
        exp.LT(this=span.first.copy(), expression=span.last.copy()),
    )  # fmt: skip
    rows = rows_of(one, scope, own_where(scope))
    if (
        probe.any_row(rows.where(exp.EQ(this=span.at.copy(), expression=span.last.copy()), exp.Exists(this=next_)))
        is True
    ):
        at, first, last = (text_of(one, part, keep_tables=True) for part in (span.at, span.first, span.last))
        raise QueryError(
            f"{text_of(one, span.node, keep_tables=True)} finds two rows of {table.name} on the day of a change, which ends the one and begins the "
            f"next: write {at} >= {first} AND {at} < {last}"
        )


def thing_of(table: TableSchema, ends: set[str]) -> list[str]:
    """The columns that say what the rows of a table are versions of: of its key, else the only foreign key."""
    for key in table.keys:
        left = [name for name in key if name.lower() not in ends]
        named = [name for name in left if not set(words(name)) & _NUMBERED]
        if named and len(named) < len(key):
            return named
    others = {key.columns for key in table.foreign_keys}
    return list(others.pop()) if len(others) == 1 else []


def _check_lengths(one: Read, probe: Probe) -> None:
    """Raises QueryError where a length is added up or averaged to an end that stands for none."""
    for node in (one.select or exp.Select()).find_all(exp.Literal):
        over = node.find_ancestor(exp.Sum, exp.Avg, exp.Median, exp.Select)
        is_far = node.is_string and _FAR_DAY.match(node.name) and node.find_ancestor(*_LASTS, exp.AggFunc) is not over
        if is_far and isinstance(over, exp.AggFunc) and node.find_ancestor(exp.Least, exp.Case, exp.AggFunc) is over:
            raise QueryError(
                f"{text_of(one, over)} counts up to {node.name}, which is no end: leave what has none out, or count it up to today"
            )
    for column, scope in columns_of(one):
        over = column.find_ancestor(exp.AggFunc, exp.Select)
        origin = one.origin(column, scope) if isinstance(over, exp.Sum | exp.Avg | exp.Median) else None
        if over is None or origin is None or not _holds_dates(origin.column) or scope.external_columns:
            continue
        if (
            column.find_ancestor(*_LASTS, exp.Select) is scope.expression
            or column.find_ancestor(*_GUARDS, exp.Select) is not scope.expression
        ):
            continue
        if any(table.rows is None or table.rows > SMALL for table in one.used):
            continue
        far = exp.GTE(this=column.copy(), expression=_far(one, origin.column))
        if probe.any_row(rows_of(one, scope, own_where(scope, far))) is True:
            raise QueryError(
                f"{text_of(one, over)} takes days after the year 2200 for ends, and {origin} keeps them for what has none: leave these rows out, or "
                "count them up to today"
            )


def _far(one: Read, column: Column) -> exp.Expr:
    day = exp.Literal.string(_FAR)
    return day if one.dialect == "sqlite" or column.is_text else exp.cast(day, "date")
