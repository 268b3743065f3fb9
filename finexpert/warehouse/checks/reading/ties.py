"""Rows that share the first place in an order: which of them is taken is up to the database.

arg_max(balance, day) GROUP BY customer_id      a customer with two accounts has two balances of the last day
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of

# What comes first is told by all rows: tables of more are not sorted for it.
_MOST = 1_000_000
_FIRST = 200_000


def are_tied(
    one: Read,
    scope: Scope,
    probe: Probe,
    given: Sequence[exp.Expr],
    keys: Sequence[exp.Expr],
    order: Sequence[exp.Expr] = (),
    *,
    known: bool = False,
) -> bool:
    """Whether, within one group of some keys, several rows come first in an order and differ in what is given.

    Without an order all rows of a group come first. With `known` a row in which what is given is missing is none.
    """
    parts = [*given, *keys, *order]
    if not given or any(part.find(exp.AggFunc, exp.Window, exp.Query) for part in parts):
        return False
    if order and any(table.rows is None or table.rows > _MOST for table in one.used):
        return False
    rows = rows_of(one, scope, own_where(scope))
    if known:
        rows = rows.where(*(part.copy().is_(exp.null()).not_() for part in given))
    named = [part.copy().as_(f"k{number}") for number, part in enumerate([*keys, *given])]
    names = [exp.column(part.alias) for part in named]
    if order:
        first = exp.Order(expressions=[part.copy() for part in order])
        place = exp.Window(this=exp.Rank(), partition_by=[key.copy() for key in keys], order=first)
        rows.set("expressions", [*named, place.as_("place")])
        different = exp.select(*names).distinct().from_(rows.subquery("placed")).where("place = 1")
    else:
        rows.set("expressions", named)
        different = exp.select(*names).distinct().from_(rows.limit(_FIRST).subquery("first_rows"))
    several = exp.select("1").from_(different.subquery("different_rows"))
    grouped = [name.copy() for name in names[: len(keys)]]
    return probe.any_row(several.group_by(*grouped).having("COUNT(*) > 1") if grouped else several.offset(1)) is True


def looked_at(one: Read, select: exp.Select) -> list[exp.Expr]:
    """What of a SELECT's columns is more than a number of rows, and is read by the SELECTs around it; all, where there are none."""
    made = [projected for projected in select.selects if projected.find(exp.Window) is None]
    if one.select is None or select.find_ancestor(exp.Select) is None:
        return [projected.unalias() for projected in made]
    inside = {id(node) for node in select.walk()}
    read = {column.name for column in one.select.find_all(exp.Column) if id(column) not in inside}
    return [projected.unalias() for projected in made if projected.alias_or_name in read]
