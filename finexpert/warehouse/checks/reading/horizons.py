"""Whether every table of a SELECT can be seen as of a day, and which column tells.

SELECT ... FROM trades JOIN accounts USING (account_id), as of 2022-06-30
    trades is seen by executed_at; accounts has no date, and describes what trades refers to: it is read as it stands today, and that is said
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import AsOfError
from finexpert.warehouse.checks.reading.select import Read, unwrapped
from finexpert.warehouse.dates import KINDS
from finexpert.warehouse.schema import TableSchema


def check_horizon(one: Read, day: dt.date) -> list[str]:
    """Notes on how each table is seen as of a day; raises AsOfError for a table of which that can't be told."""
    notes = []
    described = _described(one)
    for table in one.used:
        if table.timeless:
            continue
        if table.date is None:
            if table.name not in described:
                raise AsOfError(_unknown(table, day))
            kept = "".join(f", and {outer} as of then" for outer in _kept_beside(one, table))
            notes.append(f"{table.name} has no date column: it is read as it stands today, not as of {day}{kept}")
        elif not table.date.declared:
            others = f" (it also has {', '.join(table.date.others)})" if table.date.others else ""
            form = f", of {KINDS[table.date.kind]}: rows of another form are left out" if KINDS[table.date.kind] else ""
            notes.append(f"{table.name} is seen up to {day} by {table.date.name}{others}{form}")
    return notes


def _described(one: Read) -> set[str]:
    """The tables whose rows are reached from a table that has a date: by a key, or by an equality that the SELECT itself writes.

    They describe what is seen as of the day; without a dated table to start from, nothing does.
    """
    reached = {table.name for table in one.used if table.date is not None or table.timeless}
    ties = {(table.name, key.table) for table in one.used for key in table.foreign_keys}
    ties |= {pair for left, right in _equalities(one) for pair in ((left, right), (right, left))}
    ties |= set(_looked_up(one))
    used = {table.name for table in one.used}
    while new := {other for name, other in ties if name in reached and other in used} - reached:
        reached |= new
    return reached


def _kept_beside(one: Read, table: TableSchema) -> list[str]:
    """The outer joins that look dated tables up for rows of a table without dates, and keep these where they find nothing."""
    found = []
    for scope in one.scopes:
        conditions = _conditions(scope.expression, "where")
        for join in scope.expression.args.get("joins") or [] if isinstance(scope.expression, exp.Select) else []:
            if join.side not in ("LEFT", "RIGHT", "FULL") or join.kind in ("SEMI", "ANTI"):
                continue
            for equal in (join.args.get("on") or exp.true()).find_all(exp.EQ):
                for kept, told in ((equal.left, equal.right), (equal.right, equal.left)):
                    column, joined = unwrapped(told), unwrapped(kept).text("table") == join.this.alias_or_name
                    origin = one.origin(column, scope) if isinstance(column, exp.Column) else None
                    if (
                        origin is not None
                        and origin.table.date is not None
                        and _table_of(one, kept, scope) == table.name
                        and (join.side == "FULL" or joined is (join.side == "RIGHT"))
                        # A condition on what was looked up leaves out the rows for which there is nothing.
                        and not any(_needs(condition, column.text("table")) for condition in conditions)
                    ):
                        found.append(f"a {join.side} JOIN keeps its rows that have no row of {origin.table.name}")
    return list(dict.fromkeys(found))


def _needs(condition: exp.Expr, name: str) -> bool:
    """Whether a condition holds of no row in which a source has nothing."""
    if not isinstance(condition, exp.Between | exp.In | exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        return False
    sides = [unwrapped(side) for part in ("this", "expression") if (side := condition.args.get(part)) is not None]
    return any(isinstance(side, exp.Column) and side.table == name for side in sides)


def _equalities(one: Read) -> Iterator[tuple[str, str]]:
    """Pairs of tables of which a column of one has to equal a column of the other, whatever its case and blanks.

    An equality that need not hold, below OR or NOT, ties nothing: all rows of the other table are read beside it.
    """
    for scope in one.scopes:
        for condition in _conditions(scope.expression, "where", "having", "qualify", "joins"):
            yield from _tied(one, scope, condition)


def _tied(one: Read, scope: Scope, condition: exp.Expr) -> set[tuple[str, str]]:
    if isinstance(condition, exp.Or):
        # What every way to meet it says.
        first, second = (
            {pair for part in _parts(side) for pair in _tied(one, scope, part)}
            for side in (condition.left, condition.right)
        )
        return {pair for pair in first if pair in second or pair[::-1] in second}
    if not isinstance(condition, exp.EQ):
        return set()
    return set(_pair(_table_of(one, condition.left, scope), _table_of(one, condition.right, scope)))


def _conditions(select: exp.Expr, *clauses: str) -> list[exp.Expr]:
    """The conditions of some clauses of a SELECT that have to hold, each on its own."""
    if not isinstance(select, exp.Select):
        return []
    roots = [
        root
        for clause in clauses
        if (part := select.args.get(clause)) is not None
        for root in ([join.args.get("on") for join in part] if clause == "joins" else [part.this])
    ]
    return [condition for root in roots if root is not None for condition in _parts(root)]


def _parts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a condition that all have to hold."""
    plain = condition.unnest()
    if isinstance(plain, exp.And):
        yield from _parts(plain.left)
        yield from _parts(plain.right)
    else:
        yield plain


def _looked_up(one: Read) -> Iterator[tuple[str, str]]:
    """Pairs of a table and another among whose values a column of it has to be: x IN (SELECT y FROM other)."""
    for scope in one.scopes:
        for node in scope.find_all(exp.In):
            query = node.args.get("query")
            inner = next((each for each in one.scopes if query and each.expression is query.unnest()), None)
            if inner is not None and isinstance(inner.expression, exp.Select):
                made = inner.expression.expressions[0].unalias()
                yield from _pair(_table_of(one, node.this, scope), _table_of(one, made, inner))


def _pair(left: str | None, right: str | None) -> Iterator[tuple[str, str]]:
    if left and right and left != right:
        yield left, right


def _table_of(one: Read, side: exp.Expr, scope: Scope) -> str | None:
    """The table of a column, below what changes its case and blanks."""
    column = unwrapped(side)
    origin = one.origin(column, scope) if isinstance(column, exp.Column) else None
    return origin.table.name if origin is not None else None


def _unknown(table: TableSchema, day: dt.date) -> str:
    dates = [
        column.name for column in table.columns if column.dates or column.type.upper().startswith(("DATE", "TIMESTAMP"))
    ]
    which = f"none of {', '.join(dates)} tells when a row became known" if dates else "it has no date column"
    return (
        f"{table.name} cannot be seen as of {day}: {which}. Say in the semantic model which column does, or that the table is timeless "
        f"(`finexpert model init` writes one), or ask without --as-of"
    )
