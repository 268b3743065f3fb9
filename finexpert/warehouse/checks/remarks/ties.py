"""Rows that are equal to the last one kept, and are left out.

ORDER BY n DESC LIMIT 1                       leaves out another with the same n
row_number() OVER (ORDER BY n DESC) <= 3      the same, where rank() keeps both
arg_max(customer_id, n)                       is any of those with the greatest n
mode(kind)                                    is any of those that stand most often
first(id ORDER BY score DESC)                 is any of those with the first score
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.grouping import group_keys
from finexpert.warehouse.checks.reading.probing import Probe, is_small
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, runnable, text_of
from finexpert.warehouse.checks.reading.ties import are_tied

_FEW = 10


def ties(one: Read, probe: Probe) -> list[str]:
    """Notes on rows that are left out though they are equal to one that is kept; this runs the SELECT again, with a change."""
    select = one.select
    if not isinstance(select, exp.Select) or not all(map(is_small, one.used)):
        return []
    return list(
        dict.fromkeys(
            [
                *_behind_limit(one, select, probe),
                *_behind_number(one, select, probe),
                *_beside_greatest(one, probe),
                *_most_frequent(one, probe),
                *_first_of(one, probe),
            ]
        )
    )


def _behind_limit(one: Read, select: exp.Select, probe: Probe) -> Iterator[str]:
    order, limit = select.args.get("order"), select.args.get("limit")
    number = limit.expression.name if limit is not None and isinstance(limit.expression, exp.Literal) else ""
    if order is None or not number.isdigit() or not 0 < int(number) <= _FEW:
        return
    if select.args.get("distinct") is not None or select.args.get("offset") is not None:
        return
    said = order.expressions[0].this
    made = {projected.alias_or_name: projected.unalias() for projected in select.selects}
    made |= {str(place): projected.unalias() for place, projected in enumerate(select.selects, 1)}
    key = made.get(said.name, said)
    kept = select.copy()
    kept.set("expressions", [key.copy().as_("ordered_by"), *kept.expressions])
    kept.set("order", exp.Order(expressions=[_ordered(order.expressions[0], key)]))
    values = probe.first(runnable(kept), int(number) + 1)
    if len(values) == int(number) + 1 and values[-1] == values[-2]:
        yield f"LIMIT {number} leaves out a row that is equal to the last one kept in {text_of(one, key)}"


def _ordered(first: exp.Expr, key: exp.Expr) -> exp.Expr:
    ordered = first.copy()
    ordered.set("this", key.copy())
    return ordered


def _behind_number(one: Read, select: exp.Select, probe: Probe) -> Iterator[str]:
    """Rows that a bound on row_number() leaves out, and one on rank() would keep."""
    numbered = [
        node for node in select.find_all(exp.Window) if isinstance(node.this, exp.RowNumber) and node.args.get("order")
    ]
    if len(numbered) != 1 or select.args.get("limit") is not None or not _is_bounded(select, numbered[0]):
        return
    counts = []
    for ranked in (False, True):
        kept = select.copy()
        if ranked:
            window = next(node for node in kept.find_all(exp.Window) if isinstance(node.this, exp.RowNumber))
            window.set("this", exp.Anonymous(this="RANK"))
        kept.set("order", None)
        before = kept.args.get("with_")
        kept.set("with_", None)
        counted = exp.select("COUNT(*) AS n").from_(kept.subquery("kept"))
        if before is not None:
            counted.set("with_", before.copy())
        counts.append(probe.first(runnable(counted), 1))
    if all(counts) and counts[1][0] > counts[0][0]:
        by = ", ".join(text_of(one, part.this) for part in numbered[0].args["order"].expressions)
        yield f"row_number() leaves out rows that are equal in {by} to one that is kept: rank() would keep them"


def _is_bounded(select: exp.Select, window: exp.Window) -> bool:
    """Whether a condition keeps the first of the numbers: as a row that is deleted for being twice does, a 1 of a partition is meant."""
    if window.args.get("partition_by"):
        return False
    alias = window.parent.alias if isinstance(window.parent, exp.Alias) else ""
    for node in select.find_all(exp.EQ, exp.LT, exp.LTE):
        bound = node.this
        if (isinstance(bound, exp.Column) and bound.name == alias) or bound == window:
            return True
    return False


def _beside_greatest(one: Read, probe: Probe) -> Iterator[str]:
    """Names that stand beside the greatest number, where several have it."""
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or select.args.get("group") is not None or scope.external_columns:
            continue
        for node in scope.find_all(exp.ArgMax, exp.ArgMin):
            if (
                node.args.get("count") is not None
                or node.find_ancestor(exp.Filter, exp.Window, exp.Select) is not select
            ):
                continue
            rows = rows_of(one, scope, own_where(scope))
            rows.set("expressions", [node.this.copy().as_("c0"), node.expression.copy().as_("c1")])
            made = "MAX" if isinstance(node, exp.ArgMax) else "MIN"
            placed = exp.select("c0", "c1", f"{made}(c1) OVER () AS best").from_(rows.subquery("r"))
            several = exp.select("COUNT(DISTINCT c0) AS n").from_(placed.subquery("p")).where("c1 = best")
            if probe.any_row(exp.select("1").from_(several.subquery("counted")).where("n > 1")) is True:
                yield f"{text_of(one, node)} is one of several with the same {text_of(one, node.expression)}"


def _most_frequent(one: Read, probe: Probe) -> Iterator[str]:
    """The value that stands most often, where another stands as often."""
    for scope in one.scopes:
        select = scope.expression
        for node in scope.find_all(exp.Mode):
            value = node.this or _ordered_within(node)
            inside = node.find_ancestor(exp.Filter, exp.Window, exp.Select) is not select
            if (
                inside
                or not isinstance(select, exp.Select)
                or scope.external_columns
                or not isinstance(value, exp.Column)
            ):
                continue
            keys = group_keys(select)
            rows = rows_of(one, scope, own_where(scope, value.copy().is_(exp.null()).not_()))
            rows.set("expressions", [part.copy().as_(f"c{number}") for number, part in enumerate([value, *keys])])
            groups = [exp.column(f"c{number}") for number in range(1, len(keys) + 1)]
            counted = exp.select("*", "COUNT(*) AS n").from_(rows.subquery("r")).group_by("c0", *groups)
            counted.set("expressions", [exp.column("c0"), *groups, exp.Count(this=exp.Star()).as_("n")])
            most = exp.Window(this=exp.Max(this=exp.column("n")), partition_by=[key.copy() for key in groups])
            placed = exp.select(*groups, "n", most.as_("best")).from_(counted.subquery("counted"))
            several = exp.select("1").from_(placed.subquery("placed")).where("n = best")
            several = several.group_by(*groups) if groups else several
            if probe.any_row(several.having("COUNT(*) > 1")) is True:
                yield f"{text_of(one, node.parent if node.this is None and node.parent else node)} is one of several that stand as often"


def _ordered_within(node: exp.Mode) -> exp.Expr | None:
    """What mode() WITHIN GROUP (ORDER BY x) is of."""
    above = node.parent
    order = above.expression if isinstance(above, exp.WithinGroup) else None
    return order.expressions[0].this if isinstance(order, exp.Order) and order.expressions else None


def _first_of(one: Read, probe: Probe) -> Iterator[str]:
    """The first of an order, where several come first."""
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or scope.external_columns or not select.args.get("from_"):
            continue
        for node, value, keys, order in _firsts(scope, select):
            if are_tied(one, scope, probe, [value], keys, order, known=True):
                by = ", ".join(text_of(one, part.this) for part in order)
                yield f"{text_of(one, node)} is one of several with the same {by}"


def _firsts(scope: Scope, select: exp.Select) -> Iterator[tuple[exp.Expr, exp.Expr, list[exp.Expr], list[exp.Expr]]]:
    """What takes the first of an order: the node, what it gives, the keys of its groups and the order."""
    for greatest in scope.find_all(exp.ArgMax, exp.ArgMin) if select.args.get("group") is not None else ():
        own = greatest.find_ancestor(exp.Filter, exp.Window, exp.Select) is select
        if own and greatest.args.get("count") is None:
            first = exp.Ordered(this=greatest.expression, desc=isinstance(greatest, exp.ArgMax), nulls_first=False)
            yield greatest, greatest.this, group_keys(select), [first]
    for node in scope.find_all(exp.First, exp.Bracket, exp.FirstValue):
        above = node.find_ancestor(exp.Filter, exp.Window, exp.Select)
        if isinstance(node, exp.FirstValue):
            if isinstance(above, exp.Window) and (order := above.args.get("order")) is not None:
                yield above, node.this, list(above.args.get("partition_by") or []), order.expressions
            continue
        inner = node.this.unnest()
        if isinstance(node, exp.Bracket):
            place = node.expressions[0] if len(node.expressions) == 1 else None
            if (
                not isinstance(inner, exp.ArrayAgg)
                or not isinstance(place, exp.Literal)
                or place.name not in ("0", "1")
            ):
                continue
            inner = inner.this
        if above is select and isinstance(inner, exp.Order):
            yield node, inner.this, group_keys(select), inner.expressions
