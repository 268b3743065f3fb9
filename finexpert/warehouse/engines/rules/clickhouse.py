"""What ClickHouse computes without a word where other engines give NULL or know earlier days: written so that it does as they do.

    lag(fee) OVER (ORDER BY day)     0 in the first row, if fee cannot be NULL   ->  lag(toNullable(fee)) OVER (ORDER BY day)
    CAST('1947-01-01' AS DATE)       1970-01-01, where its days begin            ->  CAST('1947-01-01' AS Date32), from 1900 on
    SELECT a > b                     1 or 0                                      ->  CAST(a > b AS Bool)
    CAST('...' AS DateTime)          the same, and whole seconds                 ->  CAST('...' AS DateTime64(6))

The settings of a session do the rest: see `engines/kinds.py`.
"""

from __future__ import annotations

from sqlglot import exp

_AT_EDGES = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
_NAMED = ("laginframe", "leadinframe")


def strict(tree: exp.Query) -> exp.Query:
    """The tree with values that may be NULL at the edge of a window, dates of the long kind, and truth that is no number.

    >>> import sqlglot
    >>> strict(sqlglot.parse_one("SELECT lag(a) OVER (ORDER BY CAST(d AS DATE)) FROM t", read="clickhouse")).sql("clickhouse")
    'SELECT lag(toNullable(a)) OVER (ORDER BY CAST(d AS Date32)) FROM t'
    >>> strict(sqlglot.parse_one("SELECT a > b AS more FROM t", read="clickhouse")).sql("clickhouse")
    'SELECT CAST(a > b AS Nullable(Bool)) AS "more" FROM t'
    """
    for part in tree.selects:
        made = part.unalias()
        if isinstance(made, exp.Predicate | exp.Connector | exp.Not):
            named = exp.alias_(exp.cast(made.copy(), "boolean"), part.alias or made.sql("clickhouse"), quoted=True)
            part.replace(named)
    for node in list(tree.walk()):
        if isinstance(node, exp.Cast) and node.to.is_type("date"):
            node.to.set("this", exp.DataType.Type.DATE32)
        elif isinstance(node, exp.Cast) and node.to.is_type("timestamp", "datetime"):
            node.set("to", exp.DataType.build("DateTime64(6)", dialect="clickhouse"))
        elif isinstance(node, exp.Anonymous) and node.name.lower() in _NAMED and node.expressions:
            node.set("expressions", [_nullable(node.expressions[0]), *node.expressions[1:]])
        elif isinstance(node, _AT_EDGES):
            node.set("this", _nullable(node.this))
    return tree


def _nullable(value: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="toNullable", expressions=[value.copy()])
