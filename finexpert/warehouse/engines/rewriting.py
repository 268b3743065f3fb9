"""What sqlglot leaves as it is and a database reads otherwise, rewritten before the translation.

    arg_max(date, value)      ->   (array_agg(date ORDER BY value DESC) FILTER (...))[1]    in PostgreSQL
    date + INTERVAL 1 MONTH   ->   finexpert_add(date, 1, 'month', 'date')    in SQLite, which has no dates of its own

A rewriting keeps the rows: what cannot be kept is refused. The names `finexpert_...` are defined in `sqlite_functions.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from sqlglot import exp
from sqlglot.expressions import DType as Kind

from finexpert.errors import QueryError

Rule = Callable[[exp.Expression], exp.Expression]
TEXTS = (Kind.TEXT, Kind.VARCHAR, Kind.CHAR)
WHOLE = (Kind.INT, Kind.BIGINT, Kind.SMALLINT, Kind.TINYINT, Kind.UBIGINT, Kind.UINT)
DATES = (Kind.DATE,)
TIMES = (Kind.TIMESTAMP, Kind.TIMESTAMPNTZ, Kind.DATETIME, Kind.TIMESTAMPTZ)
UNITS = ("day", "week", "month", "quarter", "year")
PG_PARTS: dict[type[exp.Expression], str] = {
    exp.DayOfWeek: "DOW",
    exp.DayOfYear: "DOY",
    exp.Week: "WEEK",
    exp.WeekOfYear: "WEEK",
}
PARTS: dict[type[exp.Expression], str] = {
    exp.DayOfYear: "doy",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Year: "year",
    exp.Month: "month",
    exp.Quarter: "quarter",
    exp.Day: "day",
    exp.DayOfWeek: "dow",
}


def rewrite(tree: exp.Query, dialect: str) -> exp.Query:
    """The tree with what the dialect needs; every node must have its type."""
    for select in tree.find_all(exp.Select):
        _group_by_all(select)
    for query in list(tree.find_all(exp.Query)):
        _order_by_all(query)
    for rule in (_both, *_OF_DIALECT.get(dialect, ())):
        tree = bottom_up(tree, rule)
    return tree


def bottom_up(tree: exp.Query, rule: Rule) -> exp.Query:
    """The tree with every node replaced by what the rule makes of it, inner ones first; a node keeps its type."""
    for node in reversed(list(tree.walk())):
        made = rule(cast(exp.Expression, node))
        if made is node:
            continue
        made.type = made.type or node.type
        if node is tree:
            return cast(exp.Query, made)
        node.replace(made)
    return tree


def sorts_text(tree: exp.Query) -> bool:
    """Whether the order of texts matters, which a database may take from a language instead of from the characters."""
    kinds = (exp.Ordered, exp.Min, exp.Max, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Greatest, exp.Least)
    return any(is_a(node.this, TEXTS) for node in tree.find_all(*kinds))


def is_a(node: object, kinds: tuple[Kind, ...]) -> bool:
    """Whether a node has one of these types."""
    return isinstance(node, exp.Expression) and node.type is not None and node.type.this in kinds


def _group_by_all(select: exp.Select) -> None:
    group = select.args.get("group")
    if group is None or not group.args.get("all"):
        return
    plain = [one.unalias() for one in select.expressions if not _aggregates(one)]
    if plain:
        group.set("all", None)
        group.set("expressions", [one.copy() for one in plain])
    else:
        select.set("group", None)


def _aggregates(node: exp.Expression) -> bool:
    return any(not isinstance(found.parent, exp.Window) for found in node.find_all(exp.AggFunc))


def _order_by_all(query: exp.Query) -> None:
    order = query.args.get("order")
    if order is None or len(order.expressions) != 1 or order.expressions[0].this.name.upper() != "ALL":
        return
    first = order.expressions[0]
    if not isinstance(first.this, exp.Var):
        return
    order.set("expressions", [])
    for name, one in zip(query.named_selects, query.selects, strict=True):
        key = exp.column(exp.to_identifier(name, quoted=True))
        key.type = one.type
        order.append("expressions", exp.Ordered(this=key, desc=first.args.get("desc"), nulls_first=False))


def _both(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, exp.AnyValue):
        return exp.Max(this=node.this.this)
    if isinstance(node, exp.Log) and node.expression and node.this.name == "10":
        return exp.Log(this=node.expression)
    if isinstance(node, exp.Contains) and is_a(node.this, TEXTS):
        return exp.GT(this=exp.StrPosition(this=node.this, substr=node.expression), expression=exp.Literal.number(0))
    return node


def _postgres(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Filter) and isinstance(node.this, exp.ArgMax | exp.ArgMin):
        return _best(node.this, node.expression.this)
    if isinstance(node, exp.ArgMax | exp.ArgMin) and not node.args.get("count"):
        return node if isinstance(node.parent, exp.Filter) else _best(node)
    if isinstance(node, exp.DateFromParts):
        return exp.Anonymous(this="MAKE_DATE", expressions=[node.args["year"], node.args["month"], node.args["day"]])
    if isinstance(node, exp.Sum | exp.Avg) and is_a(node.this, (Kind.BOOLEAN,)):
        return type(node)(this=exp.cast(node.this, "int"))
    if isinstance(node, exp.Log) and not node.expression and not is_a(node.this, (Kind.DOUBLE, Kind.FLOAT)):
        return exp.Log(this=exp.cast(node.this, "double"))
    if isinstance(node, exp.Round) and not node.args.get("decimals") and not is_a(node.this, WHOLE):
        return exp.Round(this=exp.cast(node.this, "decimal"))
    if isinstance(node, tuple(PG_PARTS)):
        return exp.Extract(this=exp.var(PG_PARTS[type(node)]), expression=node.this)
    return node


def _best(node: exp.Expression, *conditions: exp.Expression) -> exp.Expression:
    """arg_max(a, b): the first of the a sorted by b, where both are there."""
    present = (exp.Not(this=exp.Is(this=one.copy(), expression=exp.Null())) for one in (node.this, node.expression))
    there = exp.and_(*present, *conditions)
    key = exp.Ordered(this=node.expression, desc=isinstance(node, exp.ArgMax), nulls_first=False)
    ordered = exp.ArrayAgg(this=exp.Order(this=node.this, expressions=[key]))
    found = exp.Filter(this=ordered, expression=exp.Where(this=there))
    return exp.Bracket(this=exp.Paren(this=found), expressions=[exp.Literal.number(1)], offset=1)


def _sqlite(node: exp.Expression) -> exp.Expression:
    rule = next((rule for kinds, rule in _SQLITE if isinstance(node, kinds)), None)
    return rule(node) if rule else node


def _call(name: str, *arguments: exp.Expression, kind: Kind | None = None) -> exp.Expression:
    made = exp.Anonymous(this=f"FINEXPERT_{name}", expressions=list(arguments))
    made.type = exp.DataType.build(kind) if kind else None
    return made


def _text(text: str) -> exp.Expression:
    return exp.Literal.string(text)


def _unit(node: exp.Expression | None) -> exp.Expression:
    unit = (node.name if node is not None else "").lower().rstrip("s")
    if unit not in UNITS:
        raise QueryError(f"the unit {unit or 'of this interval'} has no translation to sqlite: use {', '.join(UNITS)}")
    return _text(unit)


def _trunc(node: exp.Expression) -> exp.Expression:
    return _call("TRUNC", _unit(node.args.get("unit")), node.this, kind=Kind.DATE)


def _part(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Extract):
        return _call("PART", _text(node.this.name.lower()), node.expression, kind=Kind.BIGINT)
    return _call("PART", _text(PARTS[type(node)]), node.this, kind=Kind.BIGINT)


def _diff(node: exp.Expression) -> exp.Expression:
    return _call("DIFF", _unit(node.args.get("unit")), node.expression, node.this, kind=Kind.BIGINT)


def _plus(node: exp.Expression) -> exp.Expression:
    """Dates in SQLite are text: a plain + or - would take them for numbers."""
    this, other, sign = node.this, node.expression, -1 if isinstance(node, exp.Sub | exp.DateSub) else 1
    if isinstance(other, exp.Interval):
        count, unit = other.this, _unit(other.args.get("unit"))
        number = exp.cast(count, "int") if not isinstance(count, exp.Literal) else exp.Literal.number(count.name)
        kind = this.type.this if this.type else Kind.TIMESTAMP
        added = _call("ADD", this, exp.Mul(this=exp.Literal.number(sign), expression=number), unit, kind=kind)
        return exp.Anonymous(this="DATETIME", expressions=[added]) if is_a(node, TIMES) else added
    if is_a(this, DATES) and is_a(other, DATES) and sign < 0:
        return _call("DIFF", _text("day"), other, this, kind=Kind.BIGINT)
    if is_a(this, DATES) and is_a(other, WHOLE):
        return _call(
            "ADD", this, exp.Mul(this=exp.Literal.number(sign), expression=other), _text("day"), kind=Kind.DATE
        )
    if any(is_a(one, DATES + TIMES + (Kind.INTERVAL,)) or isinstance(one, exp.Interval) for one in (this, other)):
        raise QueryError("this sum of dates has no translation to sqlite: write date + INTERVAL 1 MONTH, or date_diff")
    return node


def _mod(node: exp.Expression) -> exp.Expression:
    if not (is_a(node.this, WHOLE) and is_a(node.expression, WHOLE)):
        raise QueryError("% of numbers that are not whole has no translation to sqlite: compute it in the script")
    return node


def _cast(node: exp.Expression) -> exp.Expression:
    target = node.args["to"].this
    if target in DATES + TIMES:
        made = exp.Anonymous(this="DATE" if target in DATES else "DATETIME", expressions=[node.this])
        made.type = node.args["to"].copy()
        return made
    if target in WHOLE and not is_a(node.this, WHOLE):
        return _call("WHOLE", node.this, kind=Kind.BIGINT)
    return node


def _divided(node: exp.Expression) -> exp.Expression:
    """Division by zero gives NULL in SQLite, which would go unnoticed."""
    if isinstance(node.expression, exp.Literal) and float(node.expression.name or 0) != 0:
        return node
    return _call("DIV", node.this, node.expression, kind=Kind.DOUBLE)


def _starts(node: exp.Expression) -> exp.Expression:
    return exp.EQ(this=exp.StrPosition(this=node.this, substr=node.expression), expression=exp.Literal.number(1))


def _named(node: exp.Expression) -> exp.Expression:
    if str(node.this).lower() == "date_part" and len(node.expressions) == 2:
        return _call("PART", _text(node.expressions[0].name.lower()), node.expressions[1], kind=Kind.BIGINT)
    return node


def _compared(node: exp.Expression) -> exp.Expression:
    """A text or a date beside a time is written as the other is, since both are compared as text."""
    sides = [
        side for side in (node.this, node.expression, node.args.get("low"), node.args.get("high")) if side is not None
    ]
    sides += node.expressions
    if not any(is_a(side, DATES + TIMES) for side in sides):
        return node
    name = "DATETIME" if any(is_a(side, TIMES) for side in sides) else "DATE"
    for side in sides:
        if is_a(side, TEXTS) or (name == "DATETIME" and is_a(side, DATES)):
            side.replace(exp.Anonymous(this=name, expressions=[side.copy()]))
    return node


_SQLITE: tuple[tuple[tuple[type, ...], Rule], ...] = (
    ((exp.TimestampTrunc, exp.DateTrunc), _trunc),
    ((exp.Extract, *PARTS), _part),
    ((exp.DateDiff,), _diff),
    ((exp.Add, exp.Sub, exp.DateAdd, exp.DateSub), _plus),
    ((exp.Mod,), _mod),
    ((exp.Cast,), _cast),
    ((exp.Div,), _divided),
    ((exp.StartsWith,), _starts),
    ((exp.Anonymous,), _named),
    ((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In), _compared),
)
_OF_DIALECT: dict[str, tuple[Rule, ...]] = {"postgres": (_postgres,), "sqlite": (_sqlite,)}
