"""From a record to a verified query, and from a question to the answer that its verified query gives.

kept = verified_query(record, warehouse, taught, {"year": "2023"})     what a person approves, refused where it could not be used again
answer, notes = answer_verified(asked, ...)                            no model call; None where anything is unsure
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from finexpert.answers.cache.key import context
from finexpert.answers.records import Record
from finexpert.core.encoding import encode
from finexpert.core.plans import Extract
from finexpert.errors import AsOfError, QueryError, RecordError, StoreError
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified import demonstrations, finding, fitting
from finexpert.knowledge.verified.query import Source, VerifiedQuery
from finexpert.knowledge.verified.variables import declared, with_values
from finexpert.signatures import rules
from finexpert.text.texts import as_asked
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.checks.reading.comparisons import comparisons
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import read
from finexpert.warehouse.files.frames import FramesWarehouse
from finexpert.warehouse.frame_values import value_of
from finexpert.warehouse.warehouse import Warehouse

_SECONDS = 3.0


def source_of(warehouse: Warehouse) -> Source | None:
    """The data as verified queries name them; None for frames in memory, which are other data the next time."""
    if isinstance(warehouse, FramesWarehouse):
        return None
    return Source(name=warehouse.name, dialect=warehouse.dialect, address=getattr(warehouse, "address", None))


def verified_query(
    record: Record, warehouse: Warehouse, taught: Taught, variables: Mapping[str, str] | None = None
) -> VerifiedQuery:
    """The verified query of a record, tried on the data as they are now; without `variables`, they are found.

    Raises RecordError for a record that holds more than one SELECT or rests on more than its question, StoreError for a variable
    that is none, QueryError where the SELECT does not pass the checks any more.
    """
    source = source_of(warehouse)
    kept = Source(name=record.source.name, dialect=record.source.dialect, address=record.source.address)
    if source is None:
        raise RecordError("frames in memory are other data the next time: put them into a file, and ask there")
    if source.key != kept.key:
        raise RecordError(
            f"the record {record.id} is of {kept.address or kept.name}, and not of {source.address or source.name}"
        )
    step, frame = _one_select(record)
    knowledge = record.knowledge
    for example in examples(record.question, warehouse, taught, record.as_of):
        knowledge = knowledge.replace(example, "")
    meanings, rest = fitting.told_in(knowledge, taught.glossary, taught.memory)
    if rest not in ("", rules.NONE):
        raise RecordError(
            f"the answer {record.id} rests on what was said with the question, or on a meaning that was changed since: "
            "ask again without it, or define it first"
        )
    question, one = as_asked(record.question), read(frame.select, warehouse.dialect, warehouse.tables)
    if one.select is None or "natural join" in " ".join(frame.select.lower().split()):
        raise RecordError(f"which columns the SELECT of {record.id} reads cannot be told: it is not kept")
    about = (question, frame.select, warehouse.dialect)
    made = finding.found(*about, warehouse.tables) if variables is None else declared(*about, variables)
    query = VerifiedQuery(
        question=question,
        select=frame.select,
        source=source,
        answer_format=record.answer_format,
        frame=frame.name,
        columns=frame.columns,
        period=record.period,
        interpretation=record.explanation or "",
        as_of=record.as_of,
        tables=fitting.needs(one),
        metrics=dict(fitting.used_metrics(step.select or "", warehouse.metrics)),
        meanings=meanings | fitting.meanings_in(question, taught.glossary, taught.memory),
        variables=made,
        record=record.id,
    )
    # Once with its own values: what is no variable is refused now, and not when somebody asks.
    with_values(query.sql, question, source.dialect, warehouse.tables, made, {each.name: each.value for each in made})
    query = _apart(query, taught, bool(variables))
    value = value_now(query, warehouse, record.as_of, declared_only=not record.as_of_given)
    return query.model_copy(update={"result": result_hash(value)})


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


def value_now(query: VerifiedQuery, warehouse: Warehouse, as_of: dt.date, declared_only: bool) -> Any:
    """What a verified query gives now, with all checks of a SELECT; QueryError where it does not pass them."""
    checked = Checks(warehouse, as_of, declared_only, question=query.question).run(query.sql)
    if len(checked.frame.data.columns) != len(query.columns):
        raise QueryError(
            f"it gives {len(checked.frame.data.columns)} columns, and gave {len(query.columns)} when it was verified"
        )
    return value_of(checked.frame.data.set_axis(query.columns, axis=1), query.answer_format)[0]


def result_hash(value: Any) -> str:
    """A result as it is compared with a later one; its cells are not kept."""
    said = json.dumps(encode(value), sort_keys=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


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
    source = source_of(warehouse)
    found = taught.verified.matching(question, source) if source is not None else []
    if not found:
        return None, []
    if context(question, earlier):
        return None, [_not_used("the question may rest on earlier ones of the conversation")]
    if len(found) > 1:
        return None, [_not_used("several are asked in these words")]
    query, values = found[0]
    said = as_asked(question)
    try:
        select = with_values(query.sql, query.question, warehouse.dialect, warehouse.tables, query.variables, values)
    except StoreError as error:
        return None, [_not_used(str(error))]
    stores = (taught.glossary, taught.memory)
    reasons = fitting.reasons_against(query, said, select, warehouse.tables, warehouse.metrics, stores, as_of)
    reasons = reasons or _texts_not_held(query, values, select, warehouse, as_of, declared_only)
    return (None, [_not_used(reasons[0])]) if reasons else (Match(query, values, select), [])


def examples(question: str, warehouse: Warehouse, taught: Taught, as_of: dt.date) -> list[str]:
    """Verified queries near a question that none of them answers, as a prompt may hold them: at most two that fit the data."""
    source = source_of(warehouse)
    made: list[str] = []
    for query in demonstrations.near(question, taught.verified, source) if source is not None else ():
        stores = (taught.glossary, taught.memory)
        changed = [
            *fitting.schema_changes(query, warehouse.tables, warehouse.metrics),
            *fitting.meaning_changes(query, query.question, *stores),
        ]
        if not changed and (text := demonstrations.shown(query, question, warehouse.tables, as_of)):
            made.append(text)
        if len(made) == demonstrations.MOST:
            break
    return made


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
        return [], value_now(query, warehouse, as_of or dt.date.today(), declared_only=as_of is None)
    except (QueryError, AsOfError) as error:
        return [str(error)], None
