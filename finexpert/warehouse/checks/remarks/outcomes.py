"""Rows of what failed or was cancelled, where a question asks for what came about and the SELECT looks at no status.

    sum(amount) FROM payments, asked "what was paid"     payments.status holds DECLINED too: these count

Who asks how many payments there are may mean all of them; test rows, deleted ones and duplicates are meant by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, text_of
from finexpert.warehouse.checks.remarks.rows import mentioned_by
from finexpert.warehouse.dates import words
from finexpert.warehouse.schema import TableSchema

_STATUS = frozenset(("status", "state", "outcome", "disposition"))
_ADDED = (exp.Sum, exp.Avg, exp.Count)
_MOST = 40
_NOT_DONE = re.compile(
    r"^(fail(ed|ure)?|cancel(l?ed|lation)?|canc|cxl|reject(ed)?|declined?|denied|void(ed)?|abort(ed)?|revers(ed|al)|bounced|refused|unsuccessful)$"
)
_NO_BUSINESS = re.compile(r"^(test(ing)?|dummy|deleted|duplicate[ds]?|dup|error|erroneous|invalid)$")
_DONE = re.compile(
    r"\b(paid|pays?|earn(ed|s)?|revenues?|incomes?|turnover|sales|sold|bought|purchased|spen[dt]|received|collected|charged|settled"
    r"|executed|completed|success(ful|fully)?|fulfilled|delivered|shipped|processed|disbursed|approved|filled|cleared)\b"
)
_SHOWN = 3


def outcomes(one: Read, probe: Probe, question: str = "", reminded: set[str] | None = None) -> list[str]:
    """Notes for the person; raises QueryError, once, for rows that do not count as an owner says.

    Whoever was `reminded` and writes no condition all the same means all rows: that is a note then.
    """
    return list(
        dict.fromkeys(
            [*_declared(one, reminded if reminded is not None else set()), *_counted(one, probe, question.lower())]
        )
    )


def _declared(one: Read, reminded: set[str]) -> Iterator[str]:
    mentioned = mentioned_by(one)
    for scope in one.scopes:
        for name in scope.sources:
            table = one.base_of(scope, name)
            for column in table.columns if table is not None else ():
                node = (
                    _added_up(one, scope, name) if column.not_counted and column.name.lower() not in mentioned else None
                )
                if node is None or table is None:
                    continue
                place = f"{table.name}.{column.name}"
                said = f"{text_of(one, node)} counts rows of every {place}, also {_shown(column.not_counted)}"
                if place not in reminded:
                    reminded.add(place)
                    raise QueryError(
                        f"{said}, which do not count here: leave them out, unless the question asks for them"
                    )
                yield said


def _counted(one: Read, probe: Probe, question: str) -> Iterator[str]:
    done, mentioned = _DONE.search(question), mentioned_by(one)
    for scope in one.scopes:
        for name in scope.sources:
            table = one.base_of(scope, name)
            status = _status_of(table) if table is not None else None
            if status is None or status.column.not_counted or status.column.name.lower() in mentioned:
                continue
            node = _added_up(one, scope, name)
            if node is None:
                continue
            values, _ = probe.first_values(status)
            sets = {value: {word.lower() for word in words(value)} for value in values} if len(values) <= _MOST else {}
            out = [value for value, said in sets.items() if any(map(_NO_BUSINESS.match, said))]
            if done:
                out += [value for value, said in sets.items() if any(map(_NOT_DONE.match, said)) and value not in out]
            if out and len(out) < len(sets):
                yield f"{text_of(one, node)} counts rows of every {status}, also {_shown(sorted(out))}"


def _shown(values: Sequence[str]) -> str:
    return ", ".join(map(repr, values[:_SHOWN])) + (", ..." if len(values) > _SHOWN else "")


def _status_of(table: TableSchema) -> Origin | None:
    """The one column of texts that says what became of a row."""
    found = [
        column
        for column in table.columns
        if column.is_text and words(column.name) and words(column.name)[-1] in _STATUS
    ]
    return Origin(table, found[0]) if len(found) == 1 else None


def _added_up(one: Read, scope: Scope, name: str) -> exp.Expr | None:
    """What adds up, averages or counts rows of a source."""
    for node in scope.find_all(*_ADDED):
        if node.find_ancestor(exp.Select) is not scope.expression:
            continue
        columns = {column.table for column in node.find_all(exp.Column)}
        if name in columns or (not columns and len(scope.sources) == 1):
            return node
    return None
