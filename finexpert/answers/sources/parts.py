"""The parts of an answer over several sources: kept in its record, and had again without a model.

    record.parts      [{"name": "inflation", "source": "fred", "record": {...}, ...}, {"name": "revenue", "source": "filings", ...}]

A part of a warehouse is its SELECT, a part of a library its quotes and formulas. The record's own frame is the SELECT over the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import pandas as pd
from pydantic import BaseModel, Field

from finexpert.answers import replaying
from finexpert.answers.records import Record
from finexpert.answers.replaying import Replay
from finexpert.core.answers import Answer, Citation
from finexpert.core.plans import Extract, Plan, Step
from finexpert.errors import RecordError
from finexpert.filings.library.library import Library
from finexpert.plans.pages.reading import carried_out
from finexpert.plans.pages.tabled import TableColumn, tabled
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.warehouse.files.frames import open_frames
from finexpert.warehouse.frames import Frame
from finexpert.warehouse.warehouse import Warehouse

DIALECT = "sources"


class Part(BaseModel):
    """One part: how its table came about, and what tells whether it is the same again. It holds no rows of a warehouse."""

    name: str
    source: str
    record: Record
    columns: list[TableColumn]
    rows: list[list[str]] = Field(default_factory=list, description="of filings: labels, and names of proved values")
    fingerprint: str


def cited(part: Part, answer: Answer) -> list[Citation]:
    """The citations of a part; those of pages say which library, for two may have pages of one id."""
    return [each.model_copy(update={"library": part.source}) if each.page else each for each in answer.citations]


def fingerprint(data: pd.DataFrame) -> str:
    """The hash of a part's table."""
    return Frame(data, False, "", 0.0).fingerprint


def opened(frames: Mapping[str, pd.DataFrame], settings: Settings | None = None) -> AbstractContextManager[Warehouse]:
    """The parts as tables of a warehouse of their own, in which they meet; it goes when it is closed."""
    return open_frames(dict(frames), settings=settings)


def combined(record: Record, parts: Sequence[Part]) -> Record:
    """The record of an answer in which the parts have met; `record` is that of the SELECT over them."""
    about = record.source.model_copy(
        update={"name": ", ".join(dict.fromkeys(part.source for part in parts)), "dialect": DIALECT, "snapshot": None}
    )
    kept = [frame for part in parts for frame in part.record.frames]
    changes = {
        "source": about,
        "parts": [part.model_dump(mode="json") for part in parts],
        "frames": [*kept, *record.frames],
        "plan": plan_of(parts, record.plan),
    }
    return record.model_copy(update=changes)


def plan_of(parts: Sequence[Part], last: Plan) -> Plan:
    """All SELECTs as one plan, for those who read it."""
    extracts: list[Step] = [step for part in parts for step in part.record.plan.steps if isinstance(step, Extract)]
    steps = [step.model_copy(update={"id": number}) for number, step in enumerate([*extracts, *last.steps], 1)]
    return Plan(steps=steps, interpretation=last.interpretation)


def parts_of(record: Record) -> list[Part]:
    """The parts of a record; none of an answer over one source."""
    return [Part.model_validate(part) for part in record.parts]


def replay(record: Record, sources: Mapping[str, Warehouse | Library], sandbox: Sandbox) -> Replay:
    """Compute all parts anew, and what they give together. `sources` are those of the parts by name.

    Raises RecordError for a source that is missing, StepError where a SELECT no longer runs.
    """
    frames: dict[str, pd.DataFrame] = {}
    differences: list[str] = []
    parts = parts_of(record)
    for part in parts:
        if part.source not in sources:
            raise RecordError(f"the part {part.name} is of the source {part.source}, which is not given")
        frames[part.name], said = _again(part, sources[part.source])
        differences += said
    own = {frame.name for part in parts for frame in part.record.frames}
    last = record.plan.model_copy(update={"steps": record.plan.steps[-1:]})
    rest = [frame for frame in record.frames if frame.name not in own]
    with opened(frames) as meeting:
        about = record.source.model_copy(update={"snapshot": meeting.snapshot()})
        # Where the parts meet, no column is the day of a row.
        met = {"frames": rest, "source": about, "plan": last, "as_of_given": False}
        alone = record.model_copy(update=met)
        again = replaying.replay(alone, meeting, sandbox)
    return Replay(again.value, again.same, [*differences, *again.differences])


def _again(part: Part, source: Warehouse | Library) -> tuple[pd.DataFrame, list[str]]:
    """The table of a part as it is now, and how it differs."""
    data = _of_library(part, source) if isinstance(source, Library) else _of_warehouse(part, source)
    same = fingerprint(data) == part.fingerprint
    return data, [] if same else [f"the part {part.name} of {part.source} has other rows than then"]


def _of_warehouse(part: Part, source: Warehouse) -> pd.DataFrame:
    (kept,) = part.record.frames
    frame = source.query(kept.select, as_of=part.record.as_of, declared_only=not part.record.as_of_given)
    if len(frame.data.columns) != len(kept.columns):
        raise RecordError(f"the part {part.name} has other columns than then: ask the question again")
    return frame.data.set_axis(kept.columns, axis=1)


def _of_library(part: Part, source: Library) -> pd.DataFrame:
    reading = part.record.reading
    if reading is None:
        raise RecordError(f"the part {part.name} of the record {part.record.id} holds no reading")
    made = tabled(reading, carried_out(reading, source.page), source.page, part.columns, part.rows)
    if made.problems:
        raise RecordError(f"the part {part.name} cannot be read again: {made.problems[0]}")
    return made.data
