"""An aggregate over more rows than those that it names.

count(CASE WHEN status = 'FILLED' THEN 1 ELSE 0 END)        0 is no NULL: every row is counted
avg(CASE WHEN status = 'FILLED' THEN 1 END)                 1, whatever the rows: the others are left out
SELECT sum(fees) FROM (... GROUP BY ROLLUP (region))        the total is added to the groups that it is the total of
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import has_totals
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, text_of

_TESTS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Like, exp.ILike, exp.Between, exp.Is, exp.And, exp.Or, exp.Not)  # fmt: skip


def check_counts(one: Read, probe: Probe) -> None:
    """Raises QueryError for an aggregate that takes rows in which its own condition does not hold, or totals for rows."""
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, exp.Count):
                _check_count(one, node)
            elif isinstance(node, exp.Avg):
                _check_average(one, node)
            if isinstance(node, exp.AggFunc) and not isinstance(node, exp.Min):
                _check_totals(one, scope, node)


def _check_count(one: Read, node: exp.Count) -> None:
    counted = node.this
    if isinstance(counted, exp.Distinct) and len(counted.expressions) == 1:
        # The number of kinds, where ELSE names a kind; 0 beside the keys of rows is none.
        otherwise = _otherwise(counted.expressions[0])
        wrong = _is_number(otherwise) and all(isinstance(one, exp.Column) for one in _results(counted.expressions[0]))
    else:
        otherwise = _otherwise(counted)
        wrong = isinstance(otherwise, exp.Literal | exp.Boolean)
    if wrong and otherwise is not None:
        raise QueryError(
            f"{text_of(one, node)} counts {text_of(one, otherwise)} as well, since it is not NULL: leave ELSE out, or add up 1 and 0 with sum"
        )
    test = counted.unnest() if isinstance(counted, exp.Expr) else None
    # OR NULL makes what is false NULL.
    or_null = isinstance(test, exp.Or) and any(isinstance(part, exp.Null) for part in test.flatten())
    if isinstance(test, _TESTS) and not or_null:
        raise QueryError(
            f"{text_of(one, node)} counts the rows in which the condition is false as well, since false is not NULL: "
            "write sum(CASE WHEN ... THEN 1 ELSE 0 END)"
        )


def _check_average(one: Read, node: exp.Avg) -> None:
    case = node.this.unnest() if isinstance(node.this, exp.Expr) else None
    results = list(_results(case))
    if not results or _otherwise(case) is not None or len({result.sql() for result in results}) > 1:
        return
    if _is_number(results[0]):
        raise QueryError(
            f"{text_of(one, node)} is {results[0].sql()} whatever the rows, since it leaves out those in which the condition is false: write ELSE 0"
        )


def _check_totals(one: Read, scope: Scope, node: exp.Expr) -> None:
    """Raises QueryError for an aggregate over the rows of a ROLLUP, where nothing tells the totals from the groups."""
    outer = scope.expression
    if not isinstance(outer, exp.Select) or any(outer.args.get(part) for part in ("where", "group", "qualify")):
        return
    for name in {column.table for column in node.find_all(exp.Column)} or set(scope.sources):
        source = scope.sources.get(name)
        inner = source.expression if isinstance(source, Scope) else None
        if not isinstance(inner, exp.Select) or not has_totals(inner) or node.find(exp.Case, exp.If) is not None:
            continue
        told = any(inner.args.get(part) for part in ("having", "qualify", "limit"))
        if not told and not outer.args.get("joins") and not isinstance(node.parent, exp.Filter | exp.Window):
            raise QueryError(
                f"{text_of(one, node)} takes the totals of ROLLUP, CUBE or GROUPING SETS for groups like the others: group by the keys alone, or "
                "keep one grouping, as with HAVING grouping(key) = 0"
            )


def _results(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """What a CASE or IF gives where a condition holds."""
    if isinstance(node, exp.Case):
        yield from (branch.args["true"].unnest() for branch in node.args["ifs"])
    elif isinstance(node, exp.If):
        yield node.args["true"].unnest()


def _otherwise(node: exp.Expr | None) -> exp.Expr | None:
    """What a CASE or IF gives where no condition holds; None where that is NULL."""
    node = node.unnest() if node is not None else None
    given = (
        node.args.get("default" if isinstance(node, exp.Case) else "false")
        if isinstance(node, exp.Case | exp.If)
        else None
    )
    return None if given is None or isinstance(given.unnest(), exp.Null) else given.unnest()


def _is_number(node: exp.Expr | None) -> bool:
    inner = node.this if isinstance(node, exp.Neg) else node
    return isinstance(inner, exp.Literal) and not inner.is_string
