"""The order of rows in DuckDB SQL, rewritten for MySQL and MariaDB.

    ORDER BY yoy                                   ->   ORDER BY yoy IS NULL, yoy: in DuckDB the NULLs come last
    SELECT ... QUALIFY row_number() OVER w = 1 ORDER BY date
        ->   SELECT ... FROM (SELECT ..., row_number() OVER w = 1 AS _kept, date AS _order0) AS _t WHERE _kept ORDER BY _order0

An ORDER BY within a subquery orders nothing there, so it is led out of the subquery that a QUALIFY or a DISTINCT ON becomes.
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

WITHIN = "_t"
KEPT = "_kept"


def ordered(node: exp.Expression) -> exp.Expression:
    """An ORDER BY with its NULLs where DuckDB has them."""
    keys: list[exp.Expression] = []
    for one in node.expressions:
        key, is_descending = _meant(one.this, node.parent), bool(one.args.get("desc"))
        # By itself MySQL has NULLs first, and last where the order is descending.
        if is_descending is bool(one.args.get("nulls_first")):
            missing = exp.Is(this=key.copy(), expression=exp.Null())
            keys.append(exp.Ordered(this=missing, desc=is_descending, nulls_first=not is_descending))
        keys.append(exp.Ordered(this=key, desc=is_descending, nulls_first=not is_descending))
    node.set("expressions", keys)
    return node


def _meant(key: exp.Expression, query: object) -> exp.Expression:
    """What a key stands for that is a number, or the name of a result."""
    if isinstance(query, exp.SetOperation) and key.is_int:
        return exp.column(exp.to_identifier(query.named_selects[int(key.name) - 1], quoted=True))
    if not isinstance(query, exp.Select):
        return key
    if key.is_int:
        return cast(exp.Expression, query.selects[int(key.name) - 1].unalias().copy())
    if isinstance(key, exp.Column) and not key.table:
        found = next((one for one in query.selects if one.alias_or_name == key.name), None)
        return cast(exp.Expression, found.unalias().copy()) if found is not None else key
    return key


def without_qualify(select: exp.Select) -> exp.Select:
    """The same rows in the same order, without QUALIFY and DISTINCT ON; the SELECT itself where it has neither."""
    distinct, qualify = select.args.get("distinct"), select.args.get("qualify")
    within = distinct.args.get("on") if distinct is not None else None
    if qualify is None and within is None:
        return select
    names, order = select.named_selects, select.args.get("order")
    keys = [_meant(one.this, select).copy() for one in order.expressions] if order is not None else []
    condition = qualify.this if qualify is not None else _first_of(cast(exp.Expression, within), order, keys)
    outer = exp.select(*(_column(name) for name in names))
    for clause in ("order", "limit", "offset", "qualify", "distinct"):
        found = select.args.get(clause)
        select.set(clause, None)
        if found is not None and clause != "qualify" and not (clause == "distinct" and within is not None):
            outer.set(clause, found)
    select.select(exp.alias_(condition, KEPT, quoted=True), copy=False)
    for number, key in enumerate(keys):
        select.select(exp.alias_(key, f"_order{number}", quoted=True), copy=False)
        outer.args["order"].expressions[number].set("this", _column(f"_order{number}"))
    if select.parent is not None:
        select.replace(outer)
    alias = exp.TableAlias(this=exp.to_identifier(WITHIN, quoted=True))
    return outer.from_(exp.Subquery(this=select, alias=alias), copy=False).where(_column(KEPT), copy=False)


def _first_of(groups: exp.Expression, order: exp.Expression | None, keys: list[exp.Expression]) -> exp.Expression:
    """Whether a row is the first of its group."""
    by = order.copy() if order is not None else None
    for one, key in zip(by.expressions if by is not None else (), keys, strict=True):
        one.set("this", key.copy())
    window = exp.Window(this=exp.RowNumber(), partition_by=[one.copy() for one in groups.expressions], order=by)
    return exp.EQ(this=window, expression=exp.Literal.number(1))


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(WITHIN, quoted=True))
