"""A window whose order does not tell its rows apart, so that the row before is any of several.

lag(price) OVER (ORDER BY day)      over several symbols: the price before may be another symbol's
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.probing import Probe
from finexpert.warehouse.checks.reading import Read, rows_of, text_of

_BY_PLACE = (exp.Lag, exp.Lead)
_FIRST = 200_000


def check_windows(one: Read, probe: Probe) -> None:
    """Raises QueryError for lag, lead or a frame of rows over an order that several rows share."""
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or not select.args.get("from_") or select.args.get("group") is not None:
            continue
        for window in _by_place(scope):
            if _is_shared(one, scope, window, probe):
                raise QueryError(
                    f"{text_of(one, window)}: several rows have the same place in this order, and which comes before is up to the database: "
                    "PARTITION BY what tells them apart, keep one of them, or aggregate before"
                )


def _by_place(scope: Scope) -> Iterator[exp.Window]:
    for node in scope.walk():
        if not isinstance(node, exp.Window) or node.find_ancestor(exp.Select) is not scope.expression:
            continue
        spec = node.args.get("spec")
        by_rows = spec is not None and str(spec.args.get("kind")).upper() == "ROWS"
        if node.args.get("order") is not None and (by_rows or node.find(*_BY_PLACE) is not None):
            yield node


def _is_shared(one: Read, scope: Scope, window: exp.Window, probe: Probe) -> bool:
    keys = [*(window.args.get("partition_by") or []), *(ordered.this for ordered in window.args["order"].expressions)]
    if any(key.find(exp.AggFunc, exp.Window, exp.Query) for key in keys):
        return False
    where = scope.expression.args.get("where")
    rows = rows_of(one, scope, where.this if where is not None else None)
    rows.set("expressions", [key.copy().as_(f"k{number}") for number, key in enumerate(keys)])
    names = [exp.column(f"k{number}") for number in range(len(keys))]
    found = exp.select("1").from_(rows.limit(_FIRST).subquery("first_rows")).group_by(*names)
    return probe.any_row(found.having("COUNT(*) > 1")) is True
