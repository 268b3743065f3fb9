"""What a SELECT groups by, and whether a group holds several values."""

from __future__ import annotations

from sqlglot import exp


def group_keys(select: exp.Expr) -> list[exp.Expr]:
    """What a SELECT groups by, with an expression in the place of its number."""
    group = select.args.get("group") if isinstance(select, exp.Select) else None
    if not isinstance(select, exp.Select) or group is None:
        return []
    projected = [part.unalias() for part in select.selects]
    if group.args.get("all"):
        return [part for part in projected if not part.find(exp.AggFunc)]
    by_number = {str(number): part for number, part in enumerate(projected, 1)}
    return [
        by_number.get(part.name, part) if isinstance(part, exp.Literal) and not part.is_string else part
        for part in group.expressions
    ]


def group_columns(select: exp.Expr) -> list[exp.Column]:
    """The columns that a SELECT groups by, where they are columns."""
    return [key for key in group_keys(select) if isinstance(key, exp.Column)]


def of_several(rows: exp.Select, groups: int) -> exp.Select:
    """The SELECT that gives a row where c0 of some rows has several values within one group of c1, c2 and so on.

    >>> of_several(exp.select("a AS c0").from_("t"), 0).sql()
    'SELECT 1 FROM (SELECT COUNT(DISTINCT c0) AS several FROM (SELECT a AS c0 FROM t) AS first_rows) AS counted WHERE several > 1'
    """
    counted = exp.select("COUNT(DISTINCT c0) AS several").from_(rows.subquery("first_rows"))
    if groups:
        counted = counted.group_by(*(exp.column(f"c{number}") for number in range(1, groups + 1)))
    return exp.select("1").from_(counted.subquery("counted")).where("several > 1")
