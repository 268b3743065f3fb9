"""A moment compared with a day, which means that day's midnight.

executed_at BETWEEN DATE '2023-01-01' AND DATE '2023-01-31'     leaves out the trades of 31 January after midnight
executed_at <= last_day(DATE '2023-01-01')                      the same
JOIN fx_rates r ON r.rate_day = t.executed_at                   finds the rates of trades at midnight alone

Told only where rows lie later on that day, so that a column of midnights may be compared with days.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pandas as pd
from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.period import day_of
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, columns_of, text_of
from finexpert.warehouse.dates import kind_of_type
from finexpert.warehouse.profile import from_named

_FIRST = 200_000
# SQLite moves a day by texts, as in date('2023-02-01', '-1 day').
_COMPUTED = (exp.Add, exp.Sub, exp.DateAdd, exp.DateSub, exp.LastDay, exp.DateFromParts)


def check_moments(one: Read, probe: Probe) -> None:
    """Raises QueryError for a comparison that cuts a day at its midnight."""
    for column, scope in columns_of(one):
        for node, end, day in _compared(column, scope, probe):
            origin = one.origin(column, scope)
            if origin is None or kind_of_type(origin.column.type) != "timestamp":
                continue
            later = _later_as_text(origin, end, day) if one.dialect == "sqlite" else _later_that_day(origin, day)
            if _holds_moments(origin, probe) and probe.any_row(later) is True:
                # SQLite has no literals of days.
                after = f"{'' if one.dialect == 'sqlite' else 'DATE '}'{day + dt.timedelta(days=1)}'"
                name = text_of(one, column)
                raise QueryError(
                    f"{text_of(one, node)} takes {day} as its midnight, and {origin} holds moments later on that day: write {name} < {after} "
                    f"up to the end of that day, {name} >= {after} for after it, or compare {_day_of(name, one)}"
                )
        _check_equal(one, column, scope, probe)


def _check_equal(one: Read, column: exp.Column, scope: Scope, probe: Probe) -> None:
    """Raises QueryError for a column of moments that has to equal a column of days."""
    node = column.parent
    if not isinstance(node, exp.EQ):
        return
    other = node.expression if node.this is column else node.this
    moment, day = one.origin(column, scope), one.origin(other, scope) if isinstance(other, exp.Column) else None
    if moment is None or day is None or kind_of_type(moment.column.type) != "timestamp" or not _is_of_days(day):
        return
    if _holds_moments(moment, probe):
        raise QueryError(
            f"{text_of(one, node, keep_tables=True)} compares a moment with a day, which means that day's midnight, and {moment} holds moments "
            f"later on a day: compare {_day_of(text_of(one, column, keep_tables=True), one)}"
        )


def _day_of(moment: str, one: Read) -> str:
    return f"date({moment})" if one.dialect == "sqlite" else f"CAST({moment} AS DATE)"


def _is_of_days(origin: Origin) -> bool:
    return kind_of_type(origin.column.type) == "date" or origin.column.dates == "iso"


def _compared(column: exp.Column, scope: Scope, probe: Probe) -> Iterator[tuple[exp.Expr, exp.Expr, dt.date]]:
    """The comparison that a column stands in, if it cuts a day at its midnight, with its end and that day."""
    node = column.parent
    last = False
    if isinstance(node, exp.Between):
        ends, last = [node.args["high"]] if node.this is column else [], True
    elif isinstance(node, exp.In):
        ends = node.expressions if node.this is column else []
    elif isinstance(node, exp.LTE | exp.GT | exp.EQ) and node.this is column:
        ends, last = [node.expression], isinstance(node, exp.LTE)
    elif isinstance(node, exp.GTE | exp.LT | exp.EQ) and node.expression is column:
        # The day stands first.
        ends, last = [node.this], isinstance(node, exp.GTE)
    else:
        return
    for end in ends:
        meant = _given(end, scope)
        day = day_of(meant, whole=True)
        if day is None and last:
            day = _last_of_month(meant, probe)
        # After the last day of the calendar nothing comes.
        if day is not None and day < dt.date.max:
            yield node, meant, day


def _given(end: exp.Expr, scope: Scope) -> exp.Expr:
    """What a column of a WITH that holds the ends of a period says, as in WITH period AS (SELECT DATE '2023-01-31' AS last)."""
    source = scope.sources.get(end.table) if isinstance(end, exp.Column) else None
    select = source.expression if isinstance(source, Scope) else None
    if not isinstance(select, exp.Select) or select.args.get("from_") is not None:
        return end
    return next((made.unalias() for made in select.selects if made.alias_or_name == end.name), end)


def _last_of_month(end: exp.Expr, probe: Probe) -> dt.date | None:
    """The last day of a month, where an end is computed to be it, or written with its midnight.

    Other midnights are as likely meant as the end of the day before.
    """
    moved = isinstance(end, exp.Anonymous) and end.name.upper() in ("DATE", "DATETIME")
    if end.find(exp.Column, exp.Query) is not None or not (moved or end.find(*_COMPUTED) or day_of(end)):
        return None
    found = probe.first(exp.select(end.copy()), 1)
    moment = pd.to_datetime(str(found[0]), errors="coerce") if found else pd.NaT
    if not isinstance(moment, pd.Timestamp) or moment != moment.normalize():
        return None
    return moment.date() if moment.is_month_end else None


def _holds_moments(origin: Origin, probe: Probe) -> bool:
    """Whether a first part of the column holds more than midnights: a large one is not looked through for what it may not hold."""
    column = exp.column(origin.column.name, quoted=True)
    first = exp.select(column).from_(from_named(origin.table.name)).limit(_FIRST).subquery("first_rows")
    midnight = exp.cast(exp.cast(column.copy(), "date"), "timestamp")
    # A text of a midnight is more than that of its day.
    more = exp.Length(this=column.copy()) > 10 if probe.dialect == "sqlite" else column.copy().neq(midnight)
    return probe.any_row(exp.select("1").from_(first).where(more)) is not False


def _later_that_day(origin: Origin, day: dt.date) -> exp.Select:
    column = exp.column(origin.column.name, quoted=True)
    start, end = (
        exp.cast(exp.Literal.string(f"{one} 00:00:00"), "timestamp") for one in (day, day + dt.timedelta(days=1))
    )
    return exp.select("1").from_(from_named(origin.table.name)).where(column > start, column < end)


def _later_as_text(origin: Origin, said: exp.Expr, day: dt.date) -> exp.Select:
    """The same in SQLite, which keeps moments as texts: one of a midnight comes after the text of its day."""
    column = exp.column(origin.column.name, quoted=True)
    timed = day_of(said) is not None and day_of(said, whole=True) is None
    timed = timed or (isinstance(said, exp.Anonymous) and said.name.upper() == "DATETIME")
    start, end = f"{day} 00:00:00" if timed else str(day), str(day + dt.timedelta(days=1))
    later = column > exp.Literal.string(start)
    return exp.select("1").from_(from_named(origin.table.name)).where(later, column < exp.Literal.string(end))
