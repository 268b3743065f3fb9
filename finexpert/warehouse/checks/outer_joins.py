"""A LEFT JOIN that a condition of WHERE turns into a plain join.

FROM agents a LEFT JOIN policies p ON p.agent_id = a.agent_id WHERE p.status = 'ACTIVE'      an agent without such a policy is left out

A plain join leaves them out as well. Sent back where the question asks for those without a match too; else said, since who asks may mean either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import group_keys
from finexpert.warehouse.checks.reading.probing import SMALL, Probe
from finexpert.warehouse.checks.reading.select import Read, rows_of, text_of
from finexpert.warehouse.dates import words
from finexpert.warehouse.keys import singular

_ALSO_WITHOUT = re.compile(
    r"\b(?:including|include|incl|also|even)\b[^.?;]{0,60}?\b(?:without|none|(?:with|has|have|had|made) no)\b(?P<what>(?:\s+[a-z']+){0,3})"
    r"|\b(?:zero|0) if\b|\b(?:including|include|even|also)\b[^.?;]{0,40}\b(?:has|have|had|did|do|does) (?:not|never)\b",
    re.IGNORECASE,
)
# What a row without a match can meet, or is written around.
_KEEPING = (exp.Is, exp.Coalesce, exp.Or, exp.Case, exp.If, exp.Exists, exp.Query, exp.NullSafeEQ)


def check_outer_joins(one: Read, probe: Probe, question: str = "") -> list[str]:
    """Notes on rows that an outer join keeps and a condition leaves out; raises QueryError where the question asks for them."""
    notes = []
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or scope.external_columns or not _are_small(one):
            continue
        for join in select.args.get("joins") or []:
            if join.side == "LEFT" and (left := _left_out(one, scope, join.this.alias_or_name, probe)):
                if asks_for_all(question, _table(one, scope, join)):
                    raise QueryError(f"{left}: put the condition into the ON of the LEFT JOIN")
                notes.append(left)
        joined = [name for join in select.args.get("joins") or [] for name in _table(one, scope, join)]
        if asks_for_all(question, joined) and (left := _not_joined(one, scope, probe)):
            raise QueryError(left)
    return list(dict.fromkeys(notes))


def asks_for_all(question: str, joined: Sequence[str]) -> bool:
    """Whether a question asks for what has no row in the joined tables as well; what else is without something, is not meant.

    >>> asks_for_all("How many loans has each customer, including those without loans?", ["loans"])
    True
    >>> asks_for_all("How many loans has each customer, including loans without collateral?", ["loans"])
    False
    """
    match = _ALSO_WITHOUT.search(question)
    if match is None:
        return False
    said = {singular(word) for word in (match["what"] or "").lower().split()} - {"any", "a", "an", "such"}
    return not said or bool(said & {singular(word) for name in joined for word in words(name)})


def _table(one: Read, scope: Scope, join: exp.Join) -> list[str]:
    table = one.base_of(scope, join.this.alias_or_name)
    return [table.name] if table is not None else []


def _are_small(one: Read) -> bool:
    return all(table.rows is not None and table.rows <= SMALL for table in one.used)


def _left_out(one: Read, scope: Scope, name: str, probe: Probe) -> str:
    """What is said of rows that only a condition on the other side of a LEFT JOIN leaves out; nothing where none is."""
    conditions = _conditions(scope.expression)
    undoing = [each for each in conditions if _undoes(each, name)]
    keys = _shown(scope.expression, {name})
    if not undoing or not keys:
        return ""
    rest = [each for each in conditions if all(column.table != name for column in each.find_all(exp.Column))]
    if not _loses(keys, _rows(one, scope, rest), _rows(one, scope, conditions), probe):
        return ""
    said = " AND ".join(text_of(one, each, keep_tables=True) for each in undoing)
    table = one.base_of(scope, name)
    return f"{said} leaves out each {_named(one, keys)} without such a row of {table.name if table else name}, which the LEFT JOIN keeps"


def _not_joined(one: Read, scope: Scope, probe: Probe) -> str:
    """What goes back where the first source has rows that the plain joins of a SELECT leave out; nothing where none is."""
    select = scope.expression
    joins = select.args.get("joins") or []
    if not joins or any(join.side or join.kind not in ("", "INNER") for join in joins):
        return ""
    others = {join.this.alias_or_name for join in joins}
    keys = _shown(select, others)
    conditions = _conditions(select)
    own = [each for each in conditions if not others & {column.table for column in each.find_all(exp.Column)}]
    if not keys or not _loses(keys, _rows(one, scope, own, 0), _rows(one, scope, conditions), probe):
        return ""
    named = ", ".join(sorted(others))
    return f"each {_named(one, keys)} without a row of {named} is left out, and the question asks for those too: LEFT JOIN, with its conditions in the ON"


def _conditions(select: exp.Expr) -> list[exp.Expr]:
    where = select.args.get("where")
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def _rows(one: Read, scope: Scope, conditions: Sequence[exp.Expr], joins: int | None = None) -> exp.Select:
    return rows_of(one, scope, exp.and_(*conditions, copy=True) if conditions else None, joins)


def _loses(keys: Sequence[exp.Expr], every: exp.Select, kept: exp.Select, probe: Probe) -> bool:
    """Whether some keys of all rows are none of those kept."""
    for rows in (every, kept):
        rows.set("expressions", [key.copy().as_(f"c{number}") for number, key in enumerate(keys)])
    with_ = every.args.pop("with_", None)
    kept.args.pop("with_", None)
    lost = exp.select("1").from_(exp.except_(every, kept).subquery("left_out"))
    lost.set("with_", with_)
    return probe.any_row(lost) is True


def _named(one: Read, keys: Sequence[exp.Expr]) -> str:
    return ", ".join(text_of(one, key) for key in keys[:3])


def _undoes(condition: exp.Expr, name: str) -> bool:
    """Whether a condition on the other side of a join is never met by a row without a match."""
    tables = {column.table for column in condition.find_all(exp.Column)}
    return tables == {name} and condition.find(*_KEEPING) is None


def _shown(select: exp.Expr, names: set[str]) -> list[exp.Expr]:
    """What tells the rows or groups of the other sources apart; nothing where all become one row, or what is joined tells them apart."""
    if not isinstance(select, exp.Select):
        return []
    aggregates = any(made.find(exp.AggFunc) for made in select.selects)
    keys = group_keys(select) if aggregates or select.args.get("group") else [made.unalias() for made in select.selects]
    own = [
        key
        for key in keys
        if key.find(exp.Column) and not names & {column.table for column in key.find_all(exp.Column)}
    ]
    return own if len(own) == len(keys) or not aggregates else []
