"""An OR from which an AND takes one side away.

segment = 'retail' AND region = 'EMEA' OR region = 'APAC'      every account of APAC, and not the retail ones alone
"""

from __future__ import annotations

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.select import Read, text_of


def check_brackets(one: Read) -> list[str]:
    """Notes on an AND beside an OR; raises QueryError where the conditions around the OR are on one column."""
    notes = []
    for node in one.written.find_all(exp.Or) if one.written is not None else ():
        _check_brackets(one, node)
        if isinstance(node.this, exp.And) != isinstance(node.expression, exp.And):
            notes.append(f"in {text_of(one, node)}, AND binds before OR")
    return notes


def _check_brackets(one: Read, node: exp.Or) -> None:
    for side, other, ends in ((node.expression, node.this, (0, -1)), (node.this, node.expression, (-1, 0))):
        if not isinstance(side, exp.And) or isinstance(other, exp.And):
            continue
        mine, its = _conditions(side)[ends[0]], _conditions(other)[ends[1]]
        if (
            all(isinstance(condition, exp.EQ | exp.In | exp.Like) for condition in (mine, its))
            and mine.this == its.this
        ):
            raise QueryError(
                f"{text_of(one, node)}: AND binds before OR, so that a part of it holds for {text_of(one, mine)} alone: write brackets around what "
                "belongs together"
            )


def _conditions(node: exp.Expr) -> list[exp.Expr]:
    return list(node.flatten()) if isinstance(node, exp.And | exp.Or) else [node]
