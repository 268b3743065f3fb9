"""What is up to the database: the rows that a LIMIT without an order keeps, and any value of several.

SELECT country FROM customers GROUP BY country LIMIT 1              any country
SELECT any_value(balance) FROM accounts                             any balance
SELECT DISTINCT ON (account_no) account_no, balance FROM balances   the balance of any day
SELECT account_no FROM balances ORDER BY balance LIMIT 1            where missing ones come first
SELECT arg_max(balance, day) FROM balances GROUP BY customer_id     of any of a customer's accounts
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import group_keys, of_several
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, runnable, text_of, withs
from finexpert.warehouse.checks.reading.ties import are_tied, looked_at

_FIRST = 20_000


def check_arbitrary(one: Read, probe: Probe) -> None:
    """Raises QueryError for a LIMIT without ORDER BY that keeps some of several different rows, and for any value of several."""
    for scope in one.scopes:
        _check_any_value(one, scope, probe)
        _check_distinct_on(one, scope, probe)
        _check_greatest(one, scope, probe)
        _check_missing_first(one, scope, probe)
        limit = _limit(scope)
        if limit is not None and _keeps_some(one, scope, limit, probe):
            raise QueryError(
                f"LIMIT {limit} keeps any {'row' if limit == 1 else f'{limit} rows'} of several different ones: say with ORDER BY which"
            )


def _check_any_value(one: Read, scope: Scope, probe: Probe) -> None:
    select = scope.expression
    if not isinstance(select, exp.Select) or not select.args.get("from_") or scope.external_columns:
        return
    for node in scope.walk():
        own = isinstance(node, exp.First | exp.Last | exp.AnyValue) and node.find_ancestor(exp.Select) is select
        if (
            not own
            or not isinstance(node.this, exp.Column)
            or node.find_ancestor(exp.Window, exp.Filter, exp.Select) is not select
        ):
            continue
        rows = rows_of(one, scope, own_where(scope))
        groups = group_keys(select)
        kept = [node.this, *groups]
        rows.set("expressions", [part.copy().as_(f"c{number}") for number, part in enumerate(kept)])
        if probe.any_row(of_several(rows.limit(_FIRST), len(groups))) is True:
            raise QueryError(
                f"{text_of(one, node)} takes any of several values: say which, as with max or arg_max, or group by it"
            )


def _check_distinct_on(one: Read, scope: Scope, probe: Probe) -> None:
    """Raises QueryError for a DISTINCT ON that keeps any of several different rows, as one without an order does."""
    select = scope.expression
    distinct = select.args.get("distinct") if isinstance(select, exp.Select) else None
    on = distinct.args.get("on") if distinct is not None else None
    if on is None or not isinstance(select, exp.Select) or select.args.get("group") is not None:
        return
    keys, order = on.expressions, select.args.get("order")
    if are_tied(one, scope, probe, looked_at(one, select), keys, order.expressions if order is not None else ()):
        raise QueryError(
            f"DISTINCT ON ({', '.join(text_of(one, key) for key in keys)}) keeps any of several different rows: say with ORDER BY which comes first, "
            "and add what tells apart those that are equal in it"
        )


def _check_greatest(one: Read, scope: Scope, probe: Probe) -> None:
    """Raises QueryError for a number that stands beside the greatest of another column in several rows, as of several accounts of a day."""
    for node in scope.walk():
        if not isinstance(node, exp.ArgMax | exp.ArgMin) or node.args.get("count") is not None:
            continue
        value, by = node.this, node.expression
        origin = one.origin(value, scope) if isinstance(value, exp.Column) else None
        # Of texts, as the name of the largest, any is a true one.
        if (
            origin is None
            or origin.column.is_text
            or node.find_ancestor(exp.Filter, exp.Window, exp.Select) is not scope.expression
        ):
            continue
        order = [exp.Ordered(this=by, desc=isinstance(node, exp.ArgMax), nulls_first=False)]
        if are_tied(one, scope, probe, [value], group_keys(scope.expression), order, known=True):
            raise QueryError(
                f"{text_of(one, node)} takes any of several values, since several rows share that {text_of(one, by)}: aggregate them before, or "
                "group by what tells them apart"
            )


def _check_missing_first(one: Read, scope: Scope, probe: Probe) -> None:
    """Raises QueryError for a LIMIT that keeps rows because what orders them is missing there, where a database puts these first."""
    select = scope.expression
    # DuckDB puts them last, unless it is told to.
    if one.dialect == "duckdb" or not isinstance(select, exp.Select):
        return
    if select.args.get("distinct") is not None or scope.external_columns:
        return
    order, limit = select.args.get("order"), _number(select.args.get("limit"))
    first = order.expressions[0] if order is not None else None
    if limit is None or not isinstance(first, exp.Ordered) or not first.args.get("nulls_first"):
        return
    made = {projected.alias_or_name: projected.unalias() for projected in select.selects}
    by_number = {str(number): projected for number, projected in enumerate(select.selects, 1)}
    said = first.this
    key = by_number[said.name].unalias() if said.name in by_number else made.get(said.name, said)
    kept = select.copy()
    kept.set("with_", None)
    kept = kept.select((said if key.find(exp.Window) else key).copy().as_("ordered_by"))
    counted = exp.select("COUNT(*) AS n", "COUNT(ordered_by) AS known").from_(kept.subquery("kept"))
    found = exp.select("1").from_(counted.subquery("counted")).where(f"n >= {limit}", "known < n")
    for with_ in withs(one, scope):
        found.set("with_", with_.copy())
    if probe.any_row(runnable(found)) is True:
        raise QueryError(
            f"ORDER BY {text_of(one, first.this)} LIMIT {limit} keeps rows in which {text_of(one, key)} is missing, since these come first here: "
            "leave them out with IS NOT NULL"
        )


def _limit(scope: Scope) -> int | None:
    """The number of rows that a SELECT keeps, where nothing orders them."""
    select = scope.expression
    if not isinstance(select, exp.Select) or select.args.get("order") is not None or scope.external_columns:
        return None
    sources = [source.expression for source in scope.sources.values() if isinstance(source, Scope)]
    ordered = any(source.args.get("order") is not None for source in sources)
    if ordered or select.find_ancestor(exp.Exists) is not None:
        return None
    return _number(select.args.get("limit"))


def _number(limit: exp.Expr | None) -> int | None:
    number = limit.args.get("expression") if limit is not None else None
    return int(number.name) if isinstance(number, exp.Literal) and number.name.isdigit() else None


def _keeps_some(one: Read, scope: Scope, limit: int, probe: Probe) -> bool:
    whole = scope.expression.copy()
    if not isinstance(whole, exp.Select):
        return False
    # Of so many rows two are different, or all are told to be the same.
    whole = whole.limit(limit + _FIRST)
    whole.set("with_", None)
    rows = exp.select("*").distinct().from_(whole.subquery("kept"))
    for with_ in withs(one, scope):
        rows.set("with_", with_.copy())
    return probe.any_row(runnable(rows.offset(limit))) is True
