"""A SELECT with the SELECTs that only join and filter written into those that read them, so that all that is joined stands in one FROM.

WITH j AS (SELECT a.balance FROM accounts a JOIN trades t ...) SELECT sum(balance) FROM j
    ->  SELECT sum(a.balance) FROM accounts a JOIN trades t ...
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.merge_subqueries import merge_subqueries
from sqlglot.optimizer.scope import Scope, traverse_scope

from finexpert.warehouse.checks.reading.select import Read

# Nodes of a SELECT after a WITH is written out where it is read.
_LARGEST = 5_000


def flat(one: Read) -> Read:
    """The same SELECT with fewer SELECTs in it; as it is, where sqlglot cannot follow it.

    >>> from finexpert.warehouse.checks.reading.select import read
    >>> flat(read("WITH j AS (SELECT t.n FROM t WHERE t.n > 1) SELECT sum(n) AS s FROM j", "duckdb", [])).select.sql()
    'SELECT SUM(t.n) AS s FROM main.t AS t WHERE t.n > 1'
    """
    if one.select is None:
        return one
    try:
        return replace(one, select=merge_subqueries(_written_out(one.select.copy())))
    except (SqlglotError, RecursionError, ValueError, KeyError, AttributeError, TypeError):
        return one


def _written_out(tree: exp.Expr) -> exp.Expr:
    """The tree with each WITH that joins, and is read several times, in the place of its name: sqlglot merges those read once."""
    for scope in traverse_scope(tree):
        for name, (node, source) in scope.selected_sources.items():
            if not isinstance(node, exp.Table) or not isinstance(source, Scope) or not source.is_cte:
                continue
            body = source.expression
            recursive = body.find_ancestor(exp.With)
            if (
                not isinstance(body, exp.Select)
                or not body.args.get("joins")
                or (recursive is not None and recursive.args.get("recursive"))
            ):
                continue
            if sum(1 for _ in tree.walk()) > _LARGEST:
                return tree
            node.replace(body.copy().subquery(name))
    return tree
