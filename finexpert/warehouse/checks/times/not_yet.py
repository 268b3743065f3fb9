"""What has not been done yet has no day on which it was done: a comparison with a day leaves it out.

"not paid by 31 March", paid_on > DATE '2024-03-31'      an invoice that was never paid has no such day
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe, is_small
from finexpert.warehouse.checks.reading.select import Read, columns_of, rows_of, text_of
from finexpert.warehouse.dates import kind_of_type, words

_ASKED = re.compile(
    r"\b(?:not|never|n't|yet to be)\s+(?:(?:yet|been|be|fully|already)\s+)*(?P<undone>[a-z]{3,})|\bun(?P<un>[a-z]{4,})"
    r"|\b(?P<open>open|outstanding|overdue|pending|still\s+(?:due|owed))\b",
    re.IGNORECASE,
)
# What ends that something is open, as a column of its day says it.
_ENDS = (
    "paid",
    "pay",
    "settl",
    "clos",
    "clear",
    "resol",
    "complet",
    "deliver",
    "ship",
    "repa",
    "return",
    "redeem",
    "finish",
)
_PLANNED = frozenset(("next", "due", "planned", "expected", "scheduled", "first"))
_PAID = frozenset(("paid", "pay", "payment", "payments"))
_SAME = 4


def check_not_yet(one: Read, probe: Probe, question: str) -> list[str]:
    """Notes for the person; raises QueryError where the question asks for what was not done by a day, and the SELECT leaves out what never was."""
    asked = [match.groupdict() for match in _ASKED.finditer(question.lower())]
    stated = set(re.findall(r"[a-z]+", _ASKED.sub(" ", question.lower())))
    found: list[str] = []
    small = all(map(is_small, one.used))
    for column, scope in columns_of(one) if asked and small else ():
        node = _after(column)
        if node is None or not _is_asked(column.name, asked, stated) or not _is_day(one, column, scope):
            continue
        rest = list(_others(scope, node))
        never = rows_of(one, scope, exp.and_(*rest, column.copy().is_(exp.null())))
        if probe.any_row(never) is not True:
            continue
        said = f"{text_of(one, node)} leaves out the rows in which {column.name} is missing"
        # Against another day of the row, as the one that was promised, late is as likely meant.
        if len(list(node.find_all(exp.Column))) > 1:
            found.append(f"{said}, which may not have been done at all")
        else:
            raise QueryError(
                f"{said}, and the question asks for what was not done by then: add OR {column.name} IS NULL"
            )
    return list(dict.fromkeys(found))


def _after(column: exp.Column) -> exp.Expr | None:
    """The comparison that lets through what is after something; None for any other, and where a missing value is looked at."""
    select = column.find_ancestor(exp.Select)
    node = column.parent
    while isinstance(node, exp.Cast | exp.TsOrDsToDate | exp.Date | exp.Paren):
        node = node.parent
    if select is None or node is None or any(each.name == column.name for each in _looked_at(select)):
        return None
    left = node.this is column or column in node.this.find_all(exp.Column) if isinstance(node, exp.Binary) else False
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    negated = isinstance(above, exp.Not)
    greater = isinstance(node, exp.GT | exp.GTE) if left else isinstance(node, exp.LT | exp.LTE)
    less = isinstance(node, exp.LT | exp.LTE) if left else isinstance(node, exp.GT | exp.GTE)
    return node if (less if negated else greater) else None


def _looked_at(select: exp.Expr) -> Iterator[exp.Column]:
    for node in select.find_all(exp.Is, exp.Coalesce, exp.NullSafeEQ, exp.NullSafeNEQ):
        yield from node.find_all(exp.Column)


def _is_asked(name: str, asked: list[dict[str, str | None]], stated: set[str]) -> bool:
    """Whether a column says the day of what a question says was not done, and not among its other words that it was.

    >>> _is_asked("paid_on", [{"undone": "paid"}], set()), _is_asked("due_on", [{"undone": "paid"}], set())
    (True, False)
    >>> _is_asked("closed_at", [{"open": "open"}], {"cases"}), _is_asked("paid_on", [{"open": "open"}], {"claims", "paid"})
    (True, False)
    """
    said = set(words(name))
    if said & (_PLANNED | stated - {"date", "day", "on", "at", "by", "time"}):
        return False
    for one in asked:
        if one.get("open") and any(word.startswith(_ENDS) for word in said):
            return True
        word = one.get("undone") or one.get("un") or ""
        if word and any(each[:_SAME] == word[:_SAME] and len(each) >= _SAME for each in said):
            return True
        if word in _PAID and said & _PAID:
            return True
    return False


def _is_day(one: Read, column: exp.Column, scope: Scope) -> bool:
    origin = one.origin(column, scope)
    select = scope.expression
    if origin is None or not isinstance(select, exp.Select) or not select.args.get("from_") or scope.external_columns:
        return False
    return bool(origin.column.dates or kind_of_type(origin.column.type))


def _others(scope: Scope, node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions of a WHERE, but for the one that a comparison stands in."""
    where = scope.expression.args.get("where")
    parts = (
        where.this.flatten() if where is not None and isinstance(where.this, exp.And) else [where.this] if where else []
    )
    yield from (part.copy() for part in parts if all(each is not node for each in part.walk()))
