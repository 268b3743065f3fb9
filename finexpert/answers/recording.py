"""The record of an answer that was just given: over a warehouse, a page, or a library.

    answer.record = of_answer(answer, plan, workspace, warehouse, as_of, knowledge)

What is kept is what the answer rests on: SELECTs and hashes of their frames, pages and quotes, the answers of earlier turns.
"""

from __future__ import annotations

import datetime as dt
import platform
import uuid
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from finexpert.answers.records import FrameRecord, Record, SourceRecord
from finexpert.core.answers import Answer
from finexpert.core.encoding import encode
from finexpert.core.plans import Plan, Script
from finexpert.core.workspace import Workspace
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.plans.pages.proved import Reading
from finexpert.warehouse.warehouse import Warehouse


def of_answer(
    answer: Answer,
    plan: Plan,
    workspace: Workspace,
    source: Warehouse,
    as_of: dt.date,
    knowledge: str,
    as_of_given: bool = True,
) -> Record:
    """The record of an answer just given over a warehouse, with the frames that it rests on."""
    names = {name for step in plan.steps if isinstance(step, Script) for name in step.frames}
    if plan.answering_extract is not None:
        names.add(plan.answering_extract.frame)
    frames = [workspace.frames[name] for name in sorted(names) if name in workspace.frames]
    kept = [
        FrameRecord(
            name=f.name,
            select=f.select,
            columns=[str(c) for c in f.data.columns],
            rows=len(f.data),
            truncated=f.truncated,
            fingerprint=f.fingerprint,
        )
        for f in frames
    ]
    about = SourceRecord.of(source, source.name, source.dialect, snapshot=source.snapshot(), label=source.label)
    record = _record(answer, plan, about, as_of, knowledge, frames=kept)
    return record.model_copy(update={"as_of_given": as_of_given})


def of_filing_answer(
    answer: Answer, plan: Plan, workspace: Workspace, source: Filing, as_of: dt.date, knowledge: str
) -> Record:
    """The record of an answer just given over a filing, with the earlier answers that its plan may refer to."""
    earlier = [None if turn.value is None else encode(turn.value.value) for turn in workspace.turns]
    about = SourceRecord.of(source, source.id, "filing", fingerprint=source.fingerprint)
    return _record(answer, plan, about, as_of, knowledge, earlier=earlier)


def of_library_answer(
    answer: Answer,
    plan: Plan,
    workspace: Workspace,
    source: Library,
    as_of: dt.date,
    knowledge: str,
    searches: Sequence[Mapping[str, Any]],
    scores: Mapping[str, float],
) -> Record:
    """The record of an answer just given over a library: its steps hold the pages that were found, and their plans."""
    earlier = [None if turn.value is None else encode(turn.value.value) for turn in workspace.turns]
    about = SourceRecord.of(source, source.name, "library", fingerprint=source.fingerprint)
    record = _record(answer, plan, about, as_of, knowledge, earlier=earlier)
    return record.model_copy(update={"searches": [dict(search) for search in searches], "scores": dict(scores)})


def of_library_reading(
    answer: Answer,
    plan: Plan,
    workspace: Workspace,
    source: Library,
    as_of: dt.date,
    knowledge: str,
    searches: Sequence[Mapping[str, Any]],
    reading: Reading,
) -> Record:
    """The record of an answer read on several pages of a library: quotes and formulas, from which it is had again."""
    record = of_library_answer(answer, plan, workspace, source, as_of, knowledge, searches, {})
    return record.model_copy(update={"reading": reading})


def _record(
    answer: Answer,
    plan: Plan,
    source: SourceRecord,
    as_of: dt.date,
    knowledge: str,
    frames: Sequence[FrameRecord] = (),
    earlier: Sequence[Any] = (),
) -> Record:
    return Record(
        id=f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}",
        created=dt.datetime.now(dt.UTC),
        question=answer.question,
        as_of=as_of,
        knowledge=knowledge,
        status=answer.status,
        answer_format=answer.format,
        value=encode(answer.value),
        period=answer.period,
        sentences=answer.sentences,
        explanation=answer.explanation,
        failure=answer.failure,
        missing=answer.missing,
        plan=plan,
        frames=list(frames),
        earlier=list(earlier),
        source=source,
        usage=answer.usage,
        software=_software(),
    )


@cache
def _software() -> dict[str, str]:
    names = ("finexpert", "duckdb", "pandas", "numpy")
    return {name: version(name) for name in names} | {"python": platform.python_version()}
