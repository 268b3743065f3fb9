"""From a record to a verified query, and from a question to the answer that its verified query gives.

kept = verified_query(record, warehouse, taught, {"year": "2023"})     what a person approves, refused where it could not be used again
answer, notes = answer_verified(asked, ...)                            no model call; None where anything is unsure
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from finexpert.answers.cache.key import context
from finexpert.answers.records import Record
from finexpert.core.plans import Extract
from finexpert.errors import AsOfError, QueryError, RecordError, StoreError
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified import demonstrations, fitting
from finexpert.knowledge.verified.query import Source, VerifiedQuery
from finexpert.knowledge.verified.variables import with_values
from finexpert.knowledge.verifying import Day, made, source_of, value_now
from finexpert.signatures import rules
from finexpert.text.texts import as_asked
from finexpert.warehouse.checks.reading.comparisons import comparisons
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import read
from finexpert.warehouse.files.frames import FramesWarehouse
from finexpert.warehouse.named_selects import NamedSelect, folded
from finexpert.warehouse.warehouse import Warehouse

_SECONDS = 3.0


def verified_query(
    record: Record, warehouse: Warehouse, taught: Taught, variables: Mapping[str, str] | None = None
) -> VerifiedQuery:
    """The verified query of a record, tried on the data as they are now; without `variables`, they are found.

    Raises RecordError for a record that holds more than one SELECT or rests on more than its question, StoreError for a variable
    that is none, QueryError where the SELECT does not pass the checks any more.
    """
    source = source_of(warehouse)
    kept = Source(name=record.source.name, dialect=record.source.dialect, address=record.source.address)
    if source.key != kept.key:
        raise RecordError(
            f"the record {record.id} is of {kept.address or kept.name}, and not of {source.address or source.name}"
        )
    step, frame = _one_select(record)
    knowledge = record.knowledge
    named = {name: one for name, (one, _) in taught.memory.named_selects().items()}
    for known in ({}, named):
        for example in examples(record.question, warehouse, taught, record.as_of, known):
            knowledge = knowledge.replace(example, "")
    meanings, rest = fitting.told_in(knowledge, taught.glossary, taught.memory)
    if rest not in ("", rules.NONE):
        raise RecordError(
            f"the answer {record.id} rests on what was said with the question, or on a meaning that was changed since: "
            "ask again without it, or define it first"
        )
    return made(
        record.question,
        frame.select,
        warehouse,
        taught,
        Day(record.as_of, record.as_of_given),
        variables,
        answer_format=record.answer_format,
        frame=frame.name,
        columns=frame.columns,
        period=record.period,
        interpretation=record.explanation or "",
        metrics=dict(fitting.used_metrics(step.select or "", warehouse.metrics)),
        meanings=meanings,
        record=record.id,
    )


def _one_select(record: Record) -> tuple[Extract, Any]:
    """The step and the frame of a record that is one SELECT, asked for itself."""
    step = record.plan.answering_extract if record.status == "answered" else None
    if step is None or len(record.plan.steps) != 1 or len(record.frames) != 1 or record.frames[0].truncated:
        raise RecordError(
            f"the record {record.id} is not an answer by one SELECT over tables ({record.status}): only such a one can be verified"
        )
    if record.follows is None or record.follows > 0:
        raise RecordError(
            f"the question of {record.id} was asked in a conversation, whose earlier questions it may rest on: "
            "ask it again by itself, with `finexpert ask`"
        )
    return step, record.frames[0]


@dataclass(frozen=True)
class Match:
    """A verified query for a question: the values of its variables there, and its SELECT with them."""

    query: VerifiedQuery
    values: Mapping[str, str]
    select: str

    @property
    def said(self) -> str:
        """What the person is told of it."""
        query = self.query
        others = [f"{name} = {value}" for name, value in self.values.items() if value not in self._own]
        when = f"{query.taught_at:%Y-%m-%d}" if query.taught_at else "a day that was not kept"
        changed = f", with {', '.join(others)}" if others else ""
        return (
            f"rests on a verified query: {query.title!r}{changed}, verified by {query.taught_by} on {when} "
            f"(finexpert verified show {query.id[:8]})"
        )

    @property
    def _own(self) -> set[str]:
        return {variable.value for variable in self.query.variables}


def find(
    question: str, earlier: Sequence[str], warehouse: Warehouse, taught: Taught, as_of: dt.date, declared_only: bool
) -> tuple[Match | None, list[str]]:
    """The verified query to use for a question; else None, and why one in the same words is not used."""
    found = [] if isinstance(warehouse, FramesWarehouse) else taught.verified.matching(question, source_of(warehouse))
    if not found:
        return None, []
    if context(question, earlier):
        return None, [_not_used("the question may rest on earlier ones of the conversation")]
    if len(found) > 1:
        return None, [_not_used("several are asked in these words")]
    query, values = found[0]
    said = as_asked(question)
    dated = [
        each for each in query.variables if each.kind in ("year", "quarter", "date") and values[each.name] != each.value
    ]
    if dated and (relative := fitting.relative_in(said, as_of)):
        return None, [_not_used(f"it says {relative!r}, and another {dated[0].name} than {dated[0].value}")]
    try:
        select = with_values(query.sql, query.question, warehouse.dialect, warehouse.tables, query.variables, values)
    except StoreError as error:
        return None, [_not_used(str(error))]
    stores = (taught.glossary, taught.memory)
    reasons = fitting.reasons_against(query, said, select, warehouse.tables, warehouse.metrics, stores, as_of)
    reasons = reasons or _texts_not_held(query, values, select, warehouse, as_of, declared_only)
    return (None, [_not_used(reasons[0])]) if reasons else (Match(query, values, select), [])


def examples(
    question: str,
    warehouse: Warehouse,
    taught: Taught,
    as_of: dt.date,
    known: Mapping[str, NamedSelect] = MappingProxyType({}),
) -> list[str]:
    """Verified queries near a question that none of them answers, as a prompt may hold them: at most two that fit the data.

    What a prompt has `known` by name stands in them by its name, and those come first that read some of it.
    """
    if isinstance(warehouse, FramesWarehouse):
        return []
    near = list(demonstrations.near(question, taught.verified, source_of(warehouse)))
    if known:
        reads = {each.id: folded(each.sql, known, warehouse.dialect) != each.sql for each in near}
        near.sort(key=lambda each: not reads[each.id])
    told: list[str] = []
    for query in near:
        stores = (taught.glossary, taught.memory)
        changed = [
            *fitting.schema_changes(query, warehouse.tables, warehouse.metrics),
            *fitting.meaning_changes(query, query.question, *stores),
        ]
        if not changed and (text := demonstrations.shown(query, question, warehouse.tables, as_of, known)):
            told.append(text)
        if len(told) == demonstrations.MOST:
            break
    return told


def _not_used(reason: str) -> str:
    return f"a verified query in the words of this question was not used: {reason}"


def _texts_not_held(
    query: VerifiedQuery,
    values: Mapping[str, str],
    select: str,
    warehouse: Warehouse,
    as_of: dt.date,
    declared_only: bool,
) -> list[str]:
    """Values of variables that are not known to stand in their column, letter by letter."""
    probe = Probe(warehouse, _SECONDS, as_of, declared_only)
    texts = {values[variable.name] for variable in query.variables if variable.kind == "text"}
    found = [
        (text, comparison, literal)
        for comparison in (comparisons(read(select, warehouse.dialect, warehouse.tables)) if texts else ())
        for literal in comparison.against
        for text in texts & {literal.name}
    ]
    gone = texts - {text for text, _, _ in found}
    gone |= {text for text, comparison, literal in found if probe.any_row(comparison.equals(literal)) is not True}
    return [f"its column does not hold {text!r}" for text in sorted(gone)]


def checked(query: VerifiedQuery, warehouse: Warehouse, taught: Taught, as_of: dt.date | None) -> tuple[list[str], Any]:
    """What speaks against a verified query on the data as they are now, and what it gives where nothing does."""
    problems = [
        *fitting.schema_changes(query, warehouse.tables, warehouse.metrics),
        *fitting.meaning_changes(query, query.question, taught.glossary, taught.memory),
    ]
    if problems:
        return problems, None
    try:
        return [], value_now(query, warehouse, Day(as_of or dt.date.today(), as_of is not None))
    except (QueryError, AsOfError) as error:
        return [str(error)], None
