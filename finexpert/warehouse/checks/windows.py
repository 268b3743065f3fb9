"""A window whose order does not tell its rows apart, so that the row before is any of several.

lag(price) OVER (ORDER BY day)                      over several symbols: the price before may be another symbol's
lag(price) OVER (ORDER BY symbol, day)              the first price of a symbol comes after the last of another one
lag(price) OVER (PARTITION BY symbol)               no order at all
last_value(price) OVER (... ORDER BY day)           ends at the row itself
row_number() OVER (PARTITION BY symbol ORDER BY day) = 1    where two prices of a day come first
"""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, text_of
from finexpert.warehouse.checks.reading.ties import are_tied, looked_at
from finexpert.warehouse.dates import may_be_date

_NEIGHBOURS = (exp.Lag, exp.Lead)
_BY_PLACE = (*_NEIGHBOURS, exp.FirstValue, exp.LastValue, exp.NthValue)
_FIRST = 200_000


class _Over(NamedTuple):
    """A window with what it says itself and what the window that it names says: OVER w, OVER (w ROWS ...)."""

    node: exp.Window
    partition: list[exp.Expr]
    order: exp.Order | None
    spec: exp.WindowSpec | None


def _over(window: exp.Window, select: exp.Select) -> _Over:
    named = {each.this.name.lower(): each for each in select.args.get("windows") or []}
    said, seen, here = _Over(window, [], None, None), set[str](), window
    while True:
        args = here.args
        said = _Over(window, said.partition or args.get("partition_by") or [], said.order or args.get("order"),
                     said.spec or args.get("spec"))  # fmt: skip
        name = str(here.alias or "").lower()
        if name in seen or name not in named:
            return said
        seen.add(name)
        here = named[name]


def check_windows(one: Read, probe: Probe) -> None:
    """Raises QueryError for a window whose rows have no order, one that several rows share, or one that runs over several series."""
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or not select.args.get("from_"):
            continue
        for window in scope.walk():
            if not isinstance(window, exp.Window) or window.find_ancestor(exp.Select) is not select:
                continue
            over = _over(window, select)
            _check_end(one, over)
            if select.args.get("group") is None:
                _check_order(one, scope, over, probe)


def _check_end(one: Read, window: _Over) -> None:
    """Raises QueryError for the last value up to the row itself, which is the row's own."""
    # With IGNORE NULLS it fills gaps.
    last = isinstance(window.node.this, exp.LastValue) and window.order is not None
    if last and window.spec is None:
        raise QueryError(
            f"{text_of(one, window.node)} ends at the row itself and gives its own value: write ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING, "
            "or first_value with the order turned round"
        )


def _check_order(one: Read, scope: Scope, window: _Over, probe: Probe) -> None:
    by_rows = window.spec is not None and str(window.spec.args.get("kind")).upper() == "ROWS"
    order, function = window.order, window.node.this
    by_place = function.find(*_BY_PLACE) is not None
    if order is None and by_place and _is_shared(one, scope, window, probe):
        raise QueryError(f"{text_of(one, window.node)} has no order: say with ORDER BY which row comes before")
    if isinstance(function, exp.RowNumber):
        _check_chosen(one, scope, window, probe)
    near = by_rows or function.find(*_NEIGHBOURS) is not None
    if order is not None and near and _is_shared(one, scope, window, probe):
        raise QueryError(
            f"{text_of(one, window.node)}: several rows have the same place in this order, and which comes before is up to the database: "
            "PARTITION BY what tells them apart, keep one of them, or aggregate before"
        )
    series = _series(one, scope, window)
    if near and series is not None and _is_shared(one, scope, window, probe, [series]):
        raise QueryError(
            f"{text_of(one, window.node)} goes on from one {series.name} to the next: write PARTITION BY {series.name} in place of ordering by it"
        )


def _check_chosen(one: Read, scope: Scope, window: _Over, probe: Probe) -> None:
    """Raises QueryError for a number that chooses among different rows which nothing orders, or which share the first place."""
    select, chosen = scope.expression, _chooses(one, window.node)
    if not isinstance(select, exp.Select) or not chosen or (window.order is not None and chosen != "first"):
        return
    given = looked_at(one, select)
    order = window.order.expressions if window.order is not None else ()
    if not are_tied(one, scope, probe, given, window.partition, order):
        return
    if window.order is None:
        raise QueryError(
            f"{text_of(one, window.node)} has no order, and its number chooses among different rows: say with ORDER BY which comes first"
        )
    raise QueryError(
        f"{text_of(one, window.node)}: different rows come first in this order, and which of them is number 1 is up to the database: add to ORDER BY "
        "what tells them apart, use rank() where all of them are meant, or aggregate before"
    )


def _chooses(one: Read, window: exp.Window) -> str:
    """Whether a number of rows chooses among them: "first" where it keeps the first row, "some" where others, else nothing."""
    above = window.parent
    numbers: list[exp.Expr] = []
    if isinstance(above, exp.Alias):
        clauses = list(one.select.find_all(exp.Where, exp.Qualify)) if one.select is not None else []
        numbers += [
            column for clause in clauses for column in clause.find_all(exp.Column) if column.name == above.alias
        ]
    elif isinstance(window.find_ancestor(exp.Qualify, exp.Select), exp.Qualify):
        numbers.append(window)
    if any(map(_is_first, numbers)):
        return "first"
    return "some" if numbers else ""


def _is_first(number: exp.Expr) -> bool:
    """Whether a number of rows stands in a comparison that 1 alone meets."""
    test = number.parent
    for kind, most in ((exp.EQ, "1"), (exp.LTE, "1"), (exp.LT, "2")):
        if isinstance(test, kind) and test.this is number and test.expression.name == most:
            return True
    return False


def _series(one: Read, scope: Scope, window: _Over) -> exp.Column | None:
    """The text that a window without partitions orders by before it orders by something else."""
    keys = [ordered.this for ordered in window.order.expressions] if window.order is not None else []
    if len(keys) < 2 or window.partition or not isinstance(keys[0], exp.Column):
        return None
    origin = one.origin(keys[0], scope)
    # Who looks at the row before's text as well tells the series apart.
    looked_at = any(node.this == keys[0] for node in scope.find_all(*_NEIGHBOURS))
    text = origin is not None and origin.column.is_text and not may_be_date(origin.column.name)
    return keys[0] if text and not looked_at else None


def _is_shared(one: Read, scope: Scope, window: _Over, probe: Probe, keys: list[exp.Expr] | None = None) -> bool:
    """Whether several rows have the same place in a window's order, or the same values of some keys."""
    places = [ordered.this for ordered in window.order.expressions] if window.order is not None else []
    keys = [*window.partition, *places] if keys is None else keys
    if any(key.find(exp.AggFunc, exp.Window, exp.Query) for key in keys):
        return False
    rows = rows_of(one, scope, own_where(scope))
    rows.set(
        "expressions", [key.copy().as_(f"k{number}") for number, key in enumerate(keys or [exp.Literal.number(1)])]
    )
    names = [exp.column(f"k{number}") for number in range(len(keys) or 1)]
    found = exp.select("1").from_(rows.limit(_FIRST).subquery("first_rows")).group_by(*names)
    return probe.any_row(found.having("COUNT(*) > 1")) is True
