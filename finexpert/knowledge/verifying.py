"""How a question and its SELECT become a verified query: read, given variables, run once with all checks of a SELECT.

    made(question, select, warehouse, taught, day, answer_format=AnswerFormat(kind="number"), frame="fees", columns=["fees"])
    of_pair(Pair("Fees in 2023", "SELECT sum(fee) FROM trades WHERE year(day) = 2023"), warehouse, taught, day)

A question and its SELECT that came from elsewhere tell no kind of answer: the shape of what the SELECT gives tells it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from finexpert.core.answers import AnswerFormat
from finexpert.core.encoding import encode
from finexpert.errors import FinexpertError, QueryError, StoreError
from finexpert.knowledge.exchange import Imported
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified import finding, fitting
from finexpert.knowledge.verified.matching import values_in
from finexpert.knowledge.verified.query import Source, VerifiedQuery
from finexpert.knowledge.verified.variables import with_values
from finexpert.text.texts import as_asked, said_to_a_program
from finexpert.warehouse.checks.checked import Checked, Checks
from finexpert.warehouse.checks.reading.select import read
from finexpert.warehouse.files.frames import FramesWarehouse
from finexpert.warehouse.frame_values import value_of
from finexpert.warehouse.named_selects import NamedSelect
from finexpert.warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class Day:
    """The day that counts as today, and whether somebody gave it: else rows are hidden by declared dates alone."""

    as_of: dt.date
    given: bool

    def checks(
        self, warehouse: Warehouse, question: str, named: Mapping[str, NamedSelect] = MappingProxyType({})
    ) -> Checks:
        return Checks(warehouse, self.as_of, not self.given, question=question, named=named)


@dataclass(frozen=True)
class Pair:
    """A question with its SELECT from elsewhere; without `variables` they are found."""

    question: str
    select: str
    variables: Mapping[str, str] | None = None
    unit: str | None = None


def source_of(warehouse: Warehouse) -> Source:
    """The data as verified queries name them; StoreError for frames in memory, which are other data the next time."""
    if isinstance(warehouse, FramesWarehouse):
        raise StoreError("frames in memory are other data the next time: put them into a file, and ask there")
    return Source(name=warehouse.name, dialect=warehouse.dialect, address=getattr(warehouse, "address", None))


def made(
    question: str,
    select: str,
    warehouse: Warehouse,
    taught: Taught,
    day: Day,
    variables: Mapping[str, str] | None = None,
    **facts: Any,
) -> VerifiedQuery:
    """The verified query of a question and its SELECT, tried on the data as they are now; without `variables`, they are found.

    Raises StoreError for a variable that is none, a SELECT that cannot be read and a question that another one answers, QueryError
    where the SELECT does not pass the checks.
    """
    question, one = as_asked(question), read(select, warehouse.dialect, warehouse.tables)
    if one.select is None or "natural join" in " ".join(select.lower().split()):
        raise StoreError(f"which columns the SELECT of {question[:100]!r} reads cannot be told: it is not kept")
    about = (question, select, warehouse.dialect)
    chosen = finding.found(*about, warehouse.tables) if variables is None else finding.declared(*about, variables)
    # Once with its own values: what is no variable is refused now, and not when somebody asks.
    with_values(*about[1::-1], warehouse.dialect, warehouse.tables, chosen, {each.name: each.value for each in chosen})
    meanings = facts.pop("meanings", {}) | fitting.meanings_in(question, taught.glossary, taught.memory)
    query = VerifiedQuery(
        question=question,
        select=select,
        source=source_of(warehouse),
        as_of=day.as_of,
        tables=fitting.needs(one),
        meanings=meanings,
        variables=chosen,
        **facts,
    )
    query = _apart(query, taught, bool(variables))
    return query.model_copy(update={"result": result_hash(value_now(query, warehouse, day))})


def of_pair(pair: Pair, warehouse: Warehouse, taught: Taught, day: Day) -> VerifiedQuery:
    """The verified query of a pair from elsewhere. Raises as `made`, and StoreError for a text that speaks to a program."""
    if said := said_to_a_program(pair.question):
        raise StoreError(f"{said!r} reads like an instruction to the program and not like a question")
    known = taught.memory.named_selects()
    checks = day.checks(warehouse, pair.question, {name: one for name, (one, _) in known.items()})
    checked = checks.run(pair.select)
    facts = {
        "answer_format": _format(checked, pair.unit),
        "frame": "rows",
        "columns": [str(name) for name in checked.frame.data.columns],
        "period": checked.period,
        "metrics": dict(fitting.used_metrics(pair.select, warehouse.metrics)),
        "meanings": fitting.meanings_read(known[name][1] for name in checks.read_by_name),
    }
    return made(pair.question, checked.frame.select, warehouse, taught, day, pair.variables, **facts)


def _format(checked: Checked, unit: str | None) -> AnswerFormat:
    """One value where there is one, else a table."""
    if checked.frame.truncated:
        raise StoreError("its rows were cut: it gives more of them than an answer holds")
    if checked.frame.data.shape != (1, 1):
        return AnswerFormat(kind="table", unit=unit)
    return value_of(checked.frame.data, AnswerFormat(unit=unit), fixed=False)[1]


def _apart(query: VerifiedQuery, taught: Taught, declared: bool) -> VerifiedQuery:
    """The query without the variables that were found, where another one answers its question by variables already."""
    for other, _ in taught.verified.matching(query.question, query.source) if query.variables else []:
        if other.names == query.names or not other.variables:
            continue
        if not declared:
            return query.model_copy(update={"variables": []})
        raise StoreError(
            f"this question is answered by the verified query {other.title!r} already; "
            f"`finexpert verified retire {other.id[:8]}` takes it out"
        )
    return query


def value_now(query: VerifiedQuery, warehouse: Warehouse, day: Day) -> Any:
    """What a verified query gives now, with all checks of a SELECT; QueryError where it does not pass them."""
    data = day.checks(warehouse, query.question).run(query.sql).frame.data
    if len(data.columns) != len(query.columns):
        raise QueryError(f"it gives {len(data.columns)} columns, and gave {len(query.columns)} when it was verified")
    return value_of(data.set_axis(query.columns, axis=1), query.answer_format)[0]


def result_hash(value: Any) -> str:
    """A result as it is compared with a later one; its cells are not kept."""
    said = json.dumps(encode(value), sort_keys=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def import_pairs(
    pairs: Sequence[tuple[str, Mapping[str, Any]]],
    warehouse: Warehouse,
    taught: Taught,
    day: Day,
    by: str,
    *,
    trust: bool,
) -> list[Imported]:
    """Try every pair on the data, then keep those that pass, all at once: as drafts unless they are trusted."""
    results: list[Imported] = []
    passed: dict[str, VerifiedQuery] = {}
    for place, row in pairs:
        title = str(row["question"])[:100]
        try:
            query = of_pair(Pair(**row), warehouse, taught, day)
            known = taught.verified.entries.named(taught.verified.name, query.names[0])
            if known is not None or query.names[0] in passed:
                there = (
                    "in the file" if known is None else f"there ({known.status}); `finexpert verified list` shows it"
                )
                results.append(Imported(place, title, "skipped", f"its question is {there}"))
                continue
            update: dict[str, Any] = {"status": "active" if trust else "draft"}
            if any(values_in(query.question, other) is not None for other in passed.values()):
                update["variables"] = []
            passed[query.names[0]] = query.model_copy(update=update)
            results.append(Imported(place, title, "added", "" if trust else "draft"))
        except (FinexpertError, ValidationError) as error:
            results.append(Imported(place, title, "failed", str(error).partition("\n")[0]))
    taught.verified.add_all(list(passed.values()), by)
    return results
