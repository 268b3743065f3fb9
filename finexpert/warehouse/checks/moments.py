"""A moment compared with a day, which means that day's midnight.

executed_at BETWEEN DATE '2023-01-01' AND DATE '2023-01-31'     leaves out the trades of 31 January after midnight

Told only where rows lie later on that day, so that a column of midnights may be compared with days.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.period import day_of
from finexpert.warehouse.checks.reading.probing import Probe, table_name
from finexpert.warehouse.checks.reading.select import Origin, Read, columns_of, text_of
from finexpert.warehouse.dates import kind_of_type

_FIRST = 200_000


def check_moments(one: Read, probe: Probe) -> None:
    """Raises QueryError for a comparison that cuts a day at its midnight."""
    for column, scope in columns_of(one):
        for node, day in _compared(column):
            origin = one.origin(column, scope)
            if origin is None or kind_of_type(origin.column.type) != "timestamp":
                continue
            if _holds_moments(origin, probe) and probe.any_row(_later_that_day(origin, day, one.dialect)) is True:
                after = day + dt.timedelta(days=1)
                name = text_of(one, column)
                raise QueryError(
                    f"{text_of(one, node)} takes {day} as its midnight, and {origin} holds moments later on that day: write {name} < DATE '{after}' "
                    f"up to the end of that day, {name} >= DATE '{after}' for after it, or compare CAST({name} AS DATE)"
                )


def _compared(column: exp.Column) -> Iterator[tuple[exp.Expr, dt.date]]:
    """The comparison that a column stands in, if it cuts a day at its midnight."""
    node = column.parent
    if isinstance(node, exp.Between):
        ends = [node.args["high"]] if node.this is column else []
    elif isinstance(node, exp.In):
        ends = node.expressions if node.this is column else []
    elif isinstance(node, exp.LTE | exp.GT | exp.EQ) and node.this is column:
        ends = [node.expression]
    elif isinstance(node, exp.GTE | exp.LT | exp.EQ) and node.expression is column:
        # The day stands first.
        ends = [node.this]
    else:
        return
    for end in ends:
        if (day := day_of(end, whole=True)) is not None:
            yield node, day


def _holds_moments(origin: Origin, probe: Probe) -> bool:
    """Whether a first part of the column holds more than midnights: a large one is not looked through for what it may not hold."""
    column = exp.column(origin.column.name, quoted=True)
    first = exp.select(column).from_(table_name(origin.table.name)).limit(_FIRST).subquery("first_rows")
    midnight = exp.cast(exp.cast(column.copy(), "date"), "timestamp")
    return probe.any_row(exp.select("1").from_(first).where(column.copy().neq(midnight))) is not False


def _later_that_day(origin: Origin, day: dt.date, dialect: str) -> exp.Select:
    column = exp.column(origin.column.name, quoted=True)
    # SQLite keeps moments as texts.
    start, end = (
        moment if dialect == "sqlite" else exp.cast(moment, "timestamp")
        for one in (day, day + dt.timedelta(days=1))
        for moment in [exp.Literal.string(f"{one} 00:00:00")]
    )
    return exp.select("1").from_(table_name(origin.table.name)).where(column > start, column < end)
