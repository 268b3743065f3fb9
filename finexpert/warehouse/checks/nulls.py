"""A NOT IN whose list holds a NULL, which is never true.

    customer_id NOT IN (SELECT customer_id FROM blocked)     and one row of blocked has no customer

Nothing is left where it stands alone; beside OR, in a CASE or in a FILTER it makes a number that is wrong in silence.
"""

from __future__ import annotations

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, runnable, text_of, withs


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
