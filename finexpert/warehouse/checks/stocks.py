"""A sum over several days of what is counted anew each day.

sum(balance) over a table of balances with a row an account and day     each day's money once more

Told by names and by rows: a column that says what is there at a time, in a table whose keys are not one column, over more than one day.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import common_keys, has_totals, shown
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, rows_of, text_of
from finexpert.warehouse.dates import words

_AT_A_TIME = frozenset(
    (
        "balance",
        "balances",
        "holding",
        "holdings",
        "outstanding",
        "inventory",
        "headcount",
        "exposure",
        "aum",
        "nav",
        "position",
    )
)
_VALUES = frozenset(("market", "book", "fair", "carrying"))
_SNAPSHOTS = _AT_A_TIME | {
    "positions",
    "snapshot",
    "snapshots",
    "eod",
    "exposures",
    "navs",
    "stock",
    "valuation",
    "valuations",
}


def check_stocks(one: Read, probe: Probe) -> None:
    """Raises QueryError for a sum of balances of several days."""
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, exp.Sum):
                _check_sum(one, node, scope, probe)


def _check_sum(one: Read, node: exp.Sum, scope: Scope, probe: Probe) -> None:
    for column in node.find_all(exp.Column):
        origin = one.origin(column, scope)
        if origin is None or one.base_of(scope, column.table) is None or not _is_at_a_time(origin):
            continue
        day = origin.table.date_column
        if day is None or _is_told_apart(scope, day) or node.find_ancestor(exp.Window, exp.Filter) is not None:
            continue
        if _are_several(one, scope, exp.column(day, table=column.table), probe):
            raise QueryError(
                f"{text_of(one, node)} adds up rows of several days, and {origin} says what was there on each: keep one day, as the last "
                f"{day} that the question means, or group by {day}"
            )


def _is_at_a_time(origin: Origin) -> bool:
    table = origin.table
    if any(len(key) == 1 for key in table.keys):
        return False
    said = set(words(origin.column.name))
    about = set(words(table.name.rpartition(".")[2])) | set(words(table.date_column or ""))
    return bool(about & _SNAPSHOTS) and bool(said & _AT_A_TIME or (said & _VALUES and "value" in said))


def _is_told_apart(scope: Scope, day: str) -> bool:
    """Whether the SELECT groups by the day, joins by it, or says more of it than a condition on a span does."""
    select = scope.expression
    where = select.args.get("where")
    parts = [where] if where is not None else []
    # A total of ROLLUP adds up all days, though a day is among its keys.
    if has_totals(select) and day.lower() not in {key.name.lower() for key in common_keys(select)}:
        parts += shown(select)
    inside = {id(node) for part in parts for node in part.walk()}
    return any(
        column.name.lower() == day.lower() and id(column) not in inside for column in select.find_all(exp.Column)
    )


def _are_several(one: Read, scope: Scope, day: exp.Column, probe: Probe) -> bool:
    where = scope.expression.args.get("where")
    rows = rows_of(one, scope, where.this if where is not None else None)
    rows.set("expressions", [day.as_("d")])
    first, every = rows.copy().limit(1).subquery(), rows.subquery("days")
    # It ends at the first row of another day.
    return probe.any_row(exp.select("1").from_(every).where(exp.column("d", table="days").neq(first))) is True
