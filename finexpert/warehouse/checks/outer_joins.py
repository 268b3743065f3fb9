"""A LEFT JOIN that a condition of WHERE turns into a plain join.

FROM agents a LEFT JOIN policies p ON p.agent_id = a.agent_id WHERE p.status = 'ACTIVE'      an agent without such a policy is left out

Sent back where the question asks for those without a match too; else said, since who asks may mean either.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import group_keys
from finexpert.warehouse.checks.reading.joined import SMALL
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, rows_of, text_of

_ALSO_WITHOUT = re.compile(
    r"\b(?:including|include|also|even|incl)\b[^.?;]{0,60}\b(?:without|no|none|zero|0|not|never|nothing)\b"
    r"|\b(?:zero|0) (?:if|where|when|for those)\b|\bwhether or not\b",
    re.IGNORECASE,
)
# What a row without a match can meet, or is written around.
_KEEPING = (exp.Is, exp.Coalesce, exp.Or, exp.Case, exp.If, exp.Exists, exp.Query, exp.NullSafeEQ)


def check_outer_joins(one: Read, probe: Probe, question: str = "") -> list[str]:
    """Notes on rows that an outer join keeps and a condition leaves out; raises QueryError where the question asks for them."""
    notes = []
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or scope.external_columns or select.args.get("where") is None:
            continue
        for join in select.args.get("joins") or []:
            if join.side == "LEFT" and (left := _left_out(one, scope, join.this.alias_or_name, probe)):
                if _ALSO_WITHOUT.search(question):
                    raise QueryError(f"{left}: put the condition into the ON of the LEFT JOIN")
                notes.append(left)
    return list(dict.fromkeys(notes))


def _left_out(one: Read, scope: Scope, name: str, probe: Probe) -> str:
    """What is said of rows that only a condition on the other side of a LEFT JOIN leaves out; nothing where none is."""
    where = scope.expression.args["where"].this
    conditions = list(where.flatten()) if isinstance(where, exp.And) else [where]
    undoing = [each for each in conditions if _undoes(each, name)]
    keys = _shown(scope.expression, name)
    if not undoing or not keys or any(table.rows is None or table.rows > SMALL for table in one.used):
        return ""
    rest = [each for each in conditions if all(column.table != name for column in each.find_all(exp.Column))]
    every, kept = (rows_of(one, scope, exp.and_(*some, copy=True) if some else None) for some in (rest, conditions))
    for rows in (every, kept):
        rows.set("expressions", [key.copy().as_(f"c{number}") for number, key in enumerate(keys)])
    with_ = every.args.pop("with_", None)
    kept.args.pop("with_", None)
    lost = exp.select("1").from_(exp.except_(every, kept).subquery("left_out"))
    lost.set("with_", with_)
    if probe.any_row(lost) is not True:
        return ""
    said = " AND ".join(text_of(one, each, keep_tables=True) for each in undoing)
    what = ", ".join(text_of(one, key) for key in keys[:3])
    table = one.base_of(scope, name)
    return f"{said} leaves out each {what} without such a row of {table.name if table else name}, which the LEFT JOIN keeps"


def _undoes(condition: exp.Expr, name: str) -> bool:
    """Whether a condition on the other side of a join is never met by a row without a match."""
    tables = {column.table for column in condition.find_all(exp.Column)}
    return tables == {name} and condition.find(*_KEEPING) is None


def _shown(select: exp.Expr, name: str) -> list[exp.Expr]:
    """What tells the rows or groups of the other sources apart; nothing where all become one row, or what is joined tells them apart."""
    if not isinstance(select, exp.Select):
        return []
    aggregates = any(made.find(exp.AggFunc) for made in select.selects)
    keys = group_keys(select) if aggregates or select.args.get("group") else [made.unalias() for made in select.selects]
    own = [
        key for key in keys if key.find(exp.Column) and all(column.table != name for column in key.find_all(exp.Column))
    ]
    return own if len(own) == len(keys) or not aggregates else []
