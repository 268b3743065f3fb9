"""What a SELECT groups by, and whether a group holds several values.

GROUP BY ROLLUP (region, segment)     three groupings: by both, by region, and of all rows
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, product

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

Keys = list[exp.Expr]
# A CUBE of more keys is read as its finest grouping and the total.
_MOST_CUBED = 6


def group_sets(select: exp.Expr) -> list[Keys]:
    """The keys of each grouping that a SELECT gives: one, but for ROLLUP, CUBE and GROUPING SETS, which add totals.

    >>> import sqlglot
    >>> def keys(by): return [[key.sql() for key in keys] for keys in group_sets(sqlglot.parse_one(f"SELECT a, b FROM t GROUP BY {by}"))]
    >>> keys("1, b"), keys("b, ROLLUP (a)"), keys("GROUPING SETS ((a, b), ())")
    ([['a', 'b']], [['b', 'a'], ['b']], [['a', 'b'], []])
    >>> group_sets(sqlglot.parse_one("SELECT a FROM t"))
    []
    """
    group = select.args.get("group") if isinstance(select, exp.Select) else None
    if not isinstance(select, exp.Select) or group is None:
        return []
    projected = [part.unalias() for part in select.selects]
    if group.args.get("all"):
        return [[part for part in projected if not part.find(exp.AggFunc)]]
    by_number = {str(number): part for number, part in enumerate(projected, 1)}
    parts = [_sets_of(part, by_number) for part in group.expressions]
    # MySQL and Hive write them behind the keys.
    if group.args.get("rollup") or group.args.get("cube"):
        made = exp.Rollup if group.args.get("rollup") else exp.Cube
        parts = [_sets_of(made(expressions=list(group.expressions)), by_number)]
    return [list(chain.from_iterable(sets)) for sets in product(*parts)]


def _sets_of(part: exp.Expr, by_number: dict[str, exp.Expr]) -> list[Keys]:
    if isinstance(part, exp.GroupingSets):
        return [keys for inner in part.expressions for keys in _sets_of(inner, by_number)]
    if isinstance(part, exp.Rollup):
        steps = [_sets_of(inner, by_number)[0] for inner in part.expressions]
        return [list(chain.from_iterable(steps[:count])) for count in range(len(steps), -1, -1)]
    if isinstance(part, exp.Cube):
        steps = [_sets_of(inner, by_number)[0] for inner in part.expressions]
        counts = range(len(steps), -1, -1) if len(steps) <= _MOST_CUBED else (len(steps), 0)
        return [list(chain.from_iterable(some)) for count in counts for some in combinations(steps, count)]
    if isinstance(part, exp.Tuple):
        return [[_meant(inner, by_number) for inner in part.expressions]]
    return [[_meant(part, by_number)]]


def _meant(key: exp.Expr, by_number: dict[str, exp.Expr]) -> exp.Expr:
    key = key.unnest()
    return by_number.get(key.name, key) if isinstance(key, exp.Literal) and not key.is_string else key


def group_keys(select: exp.Expr) -> Keys:
    """What a SELECT groups by, with an expression in the place of its number; of several groupings the keys of all."""
    return list({key.sql(): key for keys in group_sets(select) for key in keys}.values())


def called(key: exp.Expr, scope: Scope) -> exp.Expr:
    """What orders the rows of a SELECT, where it is called by the name of a result.

    >>> import sqlglot
    >>> from sqlglot.optimizer.scope import traverse_scope
    >>> (scope,) = traverse_scope(sqlglot.parse_one("SELECT a + b AS c FROM t ORDER BY c"))
    >>> called(exp.column("c"), scope).sql(), called(exp.column("c", table="t"), scope).sql()
    ('a + b', 't.c')
    """
    select = scope.expression
    if not isinstance(key, exp.Column) or key.table or not isinstance(select, exp.Select):
        return key
    return next((made.unalias() for made in select.selects if made.alias_or_name == key.name), key)


def through(node: exp.Expr, scope: Scope) -> tuple[exp.Expr, Scope]:
    """What gives the values of a column, where that is written in a SELECT inside."""
    source = scope.sources.get(node.table) if isinstance(node, exp.Column) else None
    if not isinstance(source, Scope) or not isinstance(source.expression, exp.Select):
        return node, scope
    made = next((each.unalias() for each in source.expression.selects if each.alias_or_name == node.name), None)
    return through(made, source) if made is not None else (node, scope)


def common_keys(select: exp.Expr) -> Keys:
    """The keys of which each group has one value: of several groupings those that are in all of them."""
    sets = group_sets(select)
    texts = [{key.sql() for key in keys} for keys in sets]
    return [key for key in sets[0] if all(key.sql() in text for text in texts)] if sets else []


def has_totals(select: exp.Expr) -> bool:
    """Whether a SELECT gives totals beside its groups."""
    return len(group_sets(select)) > 1


def shown(select: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a SELECT that say what its groups are called and in which order they stand, and change no sum."""
    if not isinstance(select, exp.Select):
        return
    yield from (part for part in select.selects if isinstance(part.unalias(), exp.Column))
    yield from (part for name in ("group", "order") if (part := select.args.get(name)) is not None)


def columns_of(keys: Sequence[exp.Expr]) -> list[exp.Column]:
    """The columns among some keys; those that USING makes one are each of them.

    >>> [column.sql() for column in columns_of([exp.column("a"), exp.func("coalesce", exp.column("k", "t"), exp.column("k", "u"))])]
    ['a', 't.k', 'u.k']
    """
    return [
        column
        for key in keys
        for column in ([key.this, *key.expressions] if _is_of_using(key) else [key])
        if isinstance(column, exp.Column)
    ]


def _is_of_using(key: exp.Expr) -> bool:
    return isinstance(key, exp.Coalesce) and all(part.name == key.this.name for part in key.expressions)


def group_columns(select: exp.Expr) -> list[exp.Column]:
    """The columns that a SELECT groups by, where they are columns."""
    return columns_of(group_keys(select))


def of_several(rows: exp.Select, groups: int) -> exp.Select:
    """The SELECT that gives a row where c0 of some rows has several values within one group of c1, c2 and so on.

    >>> of_several(exp.select("a AS c0").from_("t"), 0).sql()
    'SELECT 1 FROM (SELECT COUNT(DISTINCT c0) AS several FROM (SELECT a AS c0 FROM t) AS first_rows) AS counted WHERE several > 1'
    """
    counted = exp.select("COUNT(DISTINCT c0) AS several").from_(rows.subquery("first_rows"))
    if groups:
        counted = counted.group_by(*(exp.column(f"c{number}") for number in range(1, groups + 1)))
    return exp.select("1").from_(counted.subquery("counted")).where("several > 1")
