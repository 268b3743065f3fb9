"""A division by a column that is zero in some rows.

used_usd / limit_usd > 0.5      where both are 0: not a number, which is greater than any number, and sorts last

Where a database answers a division by zero with infinity, an average shows it; a condition or an order does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.joined import SMALL
from finexpert.warehouse.checks.probing import Probe
from finexpert.warehouse.checks.reading import Read, rows_of, text_of

# Others raise an error, or give NULL.
_INFINITE = frozenset(("duckdb", "clickhouse"))
_GUARDS = (exp.Case, exp.If, exp.Filter, exp.Nullif)


def check_division(one: Read, probe: Probe) -> None:
    """Raises QueryError for a division by what is zero in some of the rows."""
    # A larger table is not looked through for a zero: infinity in the result tells then.
    if one.dialect not in _INFINITE or any(table.rows is None or table.rows > SMALL for table in one.used):
        return
    for scope in one.scopes:
        if not isinstance(scope.expression, exp.Select) or not scope.expression.args.get("from_"):
            continue
        for node in _divisions(scope):
            divisor = node.expression.unnest()
            where = exp.and_(*_other_conditions(scope, node), divisor.copy().eq(exp.Literal.number(0)))
            if probe.any_row(rows_of(one, scope, where)) is True:
                raise QueryError(
                    f"{text_of(one, node)} divides by {text_of(one, divisor)}, which is zero in some of the rows: "
                    f"write NULLIF({text_of(one, divisor)}, 0), or leave these rows out"
                )


def _divisions(scope: Scope) -> Iterator[exp.Div]:
    """The divisions of single rows by columns of this SELECT that nothing guards."""
    select = scope.expression
    for node in scope.walk():
        if not isinstance(node, exp.Div) or node.find_ancestor(exp.Select) is not select:
            continue
        columns = list(node.expression.find_all(exp.Column))
        computed = node.expression.find(exp.AggFunc, exp.Window, exp.Query, *_GUARDS)
        guard = node.find_ancestor(*_GUARDS, exp.Select)
        own = all(column.table in scope.sources for column in columns)
        if columns and own and computed is None and guard is select:
            yield node


def _other_conditions(scope: Scope, node: exp.Div) -> list[exp.Expr]:
    where = scope.expression.args.get("where")
    if where is None:
        return []
    conditions = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    return [condition.copy() for condition in conditions if all(part is not node for part in condition.walk())]
