"""Values that are none, and what they make of a comparison.

    customer_id NOT IN (SELECT customer_id FROM blocked)     never true where a row of blocked has no customer
    v > 50, ORDER BY v DESC LIMIT 1, arg_max(id, v)          take rows in which v is NaN, which DuckDB and PostgreSQL hold for the greatest

Of a NOT IN nothing is left where it stands alone; beside OR, in a CASE or in a FILTER it makes a number that is wrong in silence.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, runnable, text_of, withs

_ENGINES_WITH_NAN = frozenset(("duckdb", "postgres"))
_FLOATS = ("DOUBLE", "FLOAT", "REAL")
_COMPARED = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NEQ, exp.Between, exp.ArgMax, exp.Ordered)
# Larger tables are not looked through for what is rare.
_MOST = 1_000_000


def check_nulls(one: Read, probe: Probe) -> None:
    """Raises QueryError for a NOT IN over a list that holds a NULL."""
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, exp.In) and _is_negated(node) and _holds_null(node, list(withs(one, scope)), probe):
                raise QueryError(
                    f"{text_of(one, node.this)} NOT IN (...): the list of NOT IN holds a NULL, so that it is never true; write NOT EXISTS, "
                    "or leave NULL out"
                )


def _is_negated(node: exp.In) -> bool:
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Not)


def _holds_null(node: exp.In, before: list[exp.With], probe: Probe) -> bool:
    if any(isinstance(listed, exp.Null) for listed in node.expressions):
        return True
    query = node.args.get("query")
    inner = query.this if isinstance(query, exp.Subquery) else query
    if not isinstance(inner, exp.Query) or not inner.selects:
        return False
    name = inner.selects[0].alias_or_name
    rows = inner.copy().subquery("listed")
    found = exp.select("1").from_(rows).where(exp.column(name, table="listed").is_(exp.null()))
    for with_ in before:
        found.set("with_", with_.copy())
    return probe.any_row(runnable(found)) is True


def check_nan(one: Read, probe: Probe) -> None:
    """Raises QueryError where rows are compared or ordered by a column that is NaN in some of them."""
    for scope in one.scopes if one.dialect in _ENGINES_WITH_NAN else ():
        for column, node in _measured(one, scope):
            is_nan = exp.EQ(
                this=exp.cast(column.copy(), "double"), expression=exp.cast(exp.Literal.string("NaN"), "double")
            )
            if probe.any_row(rows_of(one, scope, own_where(scope, is_nan))) is True:
                raise QueryError(
                    f"{text_of(one, node)}: {column.name} is NaN in some rows, which count as greater than every number here; leave them out, "
                    f"as with {column.name} <> 'NaN'"
                )


def _measured(one: Read, scope: Scope) -> Iterator[tuple[exp.Column, exp.Expr]]:
    """The columns of fractions by which a SELECT compares or orders, each once, with where; not those that it looks at for NaN itself."""
    select, seen = scope.expression, set[str]()
    if not isinstance(select, exp.Select) or scope.external_columns or not select.args.get("from_"):
        return
    for column in scope.find_all(exp.Column):
        node = column.find_ancestor(*_COMPARED, exp.Select)
        if not isinstance(node, _COMPARED) or column.sql() in seen or _is_of_group(column, node) or _comes_last(node):
            continue
        origin = one.origin(column, scope)
        if origin is None or not any(kind in origin.column.type.upper() for kind in _FLOATS):
            continue
        if origin.table.rows is None or origin.table.rows > _MOST or _looks_at_nan(select, column):
            continue
        seen.add(column.sql())
        yield column, node


def _comes_last(node: exp.Expr) -> bool:
    """Whether an order puts NaN behind all numbers, or only shows it."""
    if not isinstance(node, exp.Ordered):
        return False
    select = node.find_ancestor(exp.Select)
    kept = node.find_ancestor(exp.Window, exp.Select) is not select or (select and select.args.get("limit"))
    return not node.args.get("desc") or not kept


def _is_of_group(column: exp.Column, node: exp.Expr) -> bool:
    """Whether an aggregate stands between a column and what compares it: its NaN is seen in the result."""
    inside = column.find_ancestor(exp.AggFunc, type(node))
    return inside is not node and isinstance(inside, exp.AggFunc)


def _looks_at_nan(select: exp.Select, column: exp.Column) -> bool:
    for node in select.find_all(exp.IsNan, exp.Literal, exp.Anonymous):
        if isinstance(node, exp.IsNan) or any(word in node.name.lower() for word in ("nan", "finite")):
            test = node.parent if isinstance(node, exp.Literal) and node.parent is not None else node
            if any(each.name == column.name for each in test.find_all(exp.Column)):
                return True
    return False
