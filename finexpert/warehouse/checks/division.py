"""A division by what is zero in some rows or groups.

used_usd / limit_usd > 0.5              where both are 0: not a number, which is greater than any number, and sorts last
ORDER BY sum(used) / sum(lent) DESC     the group that lent nothing comes first

Where a database answers a division by zero with infinity, an average shows it; a condition or an order does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import group_keys
from finexpert.warehouse.checks.reading.probing import SMALL, Probe
from finexpert.warehouse.checks.reading.select import Read, rows_of, text_of

# Others raise an error, or give NULL.
_INFINITE = frozenset(("duckdb", "clickhouse"))
# An average with infinity in it is infinite, and a number of rows is not.
_KEEP_INFINITY = (exp.Alias, exp.Paren, exp.Sum, exp.Avg, exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Round)
_GUARDS = (exp.Case, exp.If, exp.Filter, exp.Nullif)


def check_division(one: Read, probe: Probe) -> list[str]:
    """Notes on divisors that were not looked at; raises QueryError for a division by what is zero in some of the rows or groups."""
    if one.dialect not in _INFINITE:
        return []
    # A larger table is not looked through for a zero.
    large = [table.name for table in one.used if table.rows is None or table.rows > SMALL]
    notes = []
    for scope in one.scopes:
        if not isinstance(scope.expression, exp.Select) or not scope.expression.args.get("from_"):
            continue
        for node in _divisions(scope):
            divisor = node.expression.unnest()
            where = "groups" if _is_of_groups(scope, node) else "rows"
            if large and not _is_shown(one, node):
                notes.append(
                    f"not looked at: whether {text_of(one, divisor)} is zero in some of the {where}, which makes {text_of(one, node)} infinite; "
                    f"{', '.join(large)} has more than {SMALL:,} rows, or an unknown number"
                )
            if not large and probe.any_row(_zeros(one, scope, node, divisor)) is True:
                raise QueryError(
                    f"{text_of(one, node)} divides by {text_of(one, divisor)}, which is zero in some of the {where}: "
                    f"write NULLIF({text_of(one, divisor)}, 0), or leave these {where} out"
                )
    return list(dict.fromkeys(notes))


def _is_shown(one: Read, node: exp.Expr) -> bool:
    """Whether the result itself is infinite where a division is: nothing chooses rows by it, or counts them."""
    above = node.parent
    while isinstance(above, _KEEP_INFINITY):
        above = above.parent
    return above is one.select and node.find_ancestor(exp.Where, exp.Having, exp.Order, exp.Qualify) is None


def _divisions(scope: Scope) -> Iterator[exp.Div]:
    """The divisions of this SELECT, but for those by a constant or a subquery, and those that something guards."""
    select = scope.expression
    for node in scope.walk():
        if not isinstance(node, exp.Div) or node.find_ancestor(exp.Select, *_GUARDS) is not select:
            continue
        columns = list(node.expression.find_all(exp.Column))
        own = all(column.table in scope.sources for column in columns)
        counts = node.expression.find(exp.Count) is not None
        if (columns or counts) and own and node.expression.find(exp.Query) is None:
            yield node


def _is_of_groups(scope: Scope, node: exp.Div) -> bool:
    """Whether a division is made once a group, and not once a row."""
    if isinstance(node.find_ancestor(exp.AggFunc, exp.Select), exp.AggFunc):
        return False
    aggregates = (found for found in node.expression.find_all(exp.AggFunc) if not isinstance(found.parent, exp.Window))
    return scope.expression.args.get("group") is not None or any(aggregates)


def _zeros(one: Read, scope: Scope, node: exp.Div, divisor: exp.Expr) -> exp.Select:
    """The SELECT for the rows or groups in which a divisor is zero, among those that the other conditions leave."""
    select = scope.expression
    conditions = _others(select.args.get("where"), node)
    rows = rows_of(one, scope, exp.and_(*conditions) if conditions else None)
    rows.set("expressions", [divisor.copy().as_("divisor")])
    if _is_of_groups(scope, node):
        # That there are no rows at all is told by what removed them.
        rows = rows.having("COUNT(*) > 0", *_others(select.args.get("having"), node))
        if keys := group_keys(select):
            rows = rows.group_by(*(key.copy() for key in keys))
    with_ = rows.args.pop("with_", None)
    found = exp.select("1").from_(rows.subquery("divided")).where("divisor = 0")
    found.set("with_", with_)
    return found


def _others(clause: exp.Expr | None, node: exp.Div) -> list[exp.Expr]:
    """The conditions of a WHERE or HAVING, but for the one that a division stands in."""
    if clause is None:
        return []
    conditions = clause.this.flatten() if isinstance(clause.this, exp.And) else [clause.this]
    return [condition.copy() for condition in conditions if all(part is not node for part in condition.walk())]
