"""The record of an answer: enough to compute it again without a language model.

    {"version": 1, "question": "...", "as_of": "2024-09-30", "plan": {"steps": [...]}, "frames": [{"name": "gdp",
     "select": "SELECT ...", "fingerprint": "..."}], "value": 4.1, "source": {"fingerprint": "..."}, ...}

`replay` runs the SELECTs and the script of a record and compares; `export` writes them as a plain script for someone
who wants to read how a number came about. A record holds the answer, and no rows of the data.
"""

from __future__ import annotations

import ast
import datetime as dt
import hashlib
import json
import platform
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from finexpert.answers.export import code as exported_code
from finexpert.core.answers import Answer, AnswerFormat, Failure, Status, Usage, show
from finexpert.core.plans import Plan, Script, Search
from finexpert.core.syntax import parse
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.errors import RecordError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.plans import execution
from finexpert.plans.pages import page as page_reading
from finexpert.plans.pages.answer import typed_answer
from finexpert.plans.pages.evidence import holds
from finexpert.plans.pages.printed import Printed
from finexpert.plans.pages.proved import Reading
from finexpert.plans.pages.reading import carried_out
from finexpert.sandbox import Sandbox
from finexpert.storage.private_files import make_folder, write_whole
from finexpert.text.texts import unseen, visible
from finexpert.warehouse.frame_values import code_of, value_of
from finexpert.warehouse.warehouse import Warehouse


class FrameRecord(BaseModel):
    """A frame that the answer rests on."""

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="a Python identifier")
    select: str = Field(description="the SELECT as the model wrote it")
    columns: list[str]
    rows: int
    truncated: bool = False
    fingerprint: str


class SourceRecord(BaseModel):
    """The data that the question was asked of."""

    name: str
    dialect: str
    fingerprint: str = Field(default="", description="of a filing or a library: the hash of its pages")
    snapshot: str | None = Field(default=None, description="of a warehouse: its state, where the engine tells one")
    label: str | None = None
    address: str | None = Field(
        default=None,
        description="file, folder or address without a password; None for frames and for the standard data",
    )

    @classmethod
    def of(cls, source: Warehouse | Filing | Library, name: str, dialect: str, **state: Any) -> SourceRecord:
        """What is kept of a source; a warehouse of somebody else's need not say where it is."""
        return cls(name=name, dialect=dialect, address=getattr(source, "address", None), **state)


class Record(BaseModel):
    """One answer and how it came about."""

    version: Literal[1] = 1
    id: str
    created: dt.datetime
    question: str
    as_of: dt.date
    as_of_given: bool = Field(
        default=True, description="whether somebody asked for the day, or it is the day of asking"
    )
    knowledge: str = ""
    status: Status
    answer_format: AnswerFormat
    value: Any = None
    period: str | None = None
    explanation: str | None = None
    failure: Failure | None = None
    plan: Plan
    frames: list[FrameRecord]
    earlier: list[Any] = Field(
        default_factory=list, description="answers of earlier turns, where the plan may refer to them"
    )
    searches: list[dict[str, Any]] = Field(
        default_factory=list, description="what was searched in a library: phrases, pages read, how it ended"
    )
    scores: dict[str, float] = Field(default_factory=dict, description="marks of an answer over a library, 0 to 1")
    reading: Reading | None = Field(
        default=None, description="of several pages of a library: quotes, formulas and the answer's words"
    )
    source: SourceRecord
    follows: int | None = Field(
        default=None, description="how many earlier questions of its conversation the question may rest on"
    )
    verified: dict[str, Any] | None = Field(
        default=None, description="the verified query that the answer rests on: id, version, by, variables"
    )
    review: dict[str, Any] | None = Field(default=None, description="what the critics found, where they were asked")
    usage: Usage = Usage()
    budgets: dict[str, dict[str, list[float]]] = Field(
        default_factory=dict,
        description="what was spent of each budget that was set when the answer was there, as [spent, limit]",
    )
    software: dict[str, str]
    seal: str = Field(default="", description="sha256 of all the rest, set when it is saved")

    @property
    def script(self) -> Script | None:
        """The last script of the plan, the one that sets the answer."""
        return next((step for step in reversed(self.plan.steps) if isinstance(step, Script)), None)

    def save(self, folder: Path) -> Path:
        """Write the record as `folder/ID.json`, readable by its owner only; whole or not at all."""
        make_folder(folder)
        path = folder / f"{self.id}.json"
        write_whole(path, self.sealed())
        return path

    def sealed(self) -> str:
        """The record as JSON with its seal."""
        self.seal = _seal(json.loads(self.model_dump_json()))
        # Outside of its texts JSON has no character that cannot be seen: written out, each stays what it is.
        return visible(self.model_dump_json(indent=1))

    @classmethod
    def load(cls, path: Path) -> Record:
        """Read a record; RecordError names the file and the first thing wrong with it, and says so where it was changed."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise RecordError(
                f"cannot read the record {path}: {error.strerror}. "
                f"`finexpert ask` prints where it keeps one; give that file, or its name without .json"
            ) from error
        return cls.read(content, str(path))

    @classmethod
    def read(cls, content: bytes, place: str) -> Record:
        """The record of a JSON text; RecordError as for `load`."""
        try:
            record = cls.model_validate_json(content)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise RecordError(f"{place} is not the record of an answer: {where}: {first['msg']}") from error
        if record.seal and record.seal != _seal(json.loads(content)):
            raise RecordError(f"{place} is not as it was written: something in it was changed. Ask the question again")
        return record


def _seal(content: dict[str, Any]) -> str:
    """The hash of a record's content without the seal itself, whatever the order of its fields."""
    rest = {name: value for name, value in content.items() if name != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


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
        explanation=answer.explanation,
        failure=answer.failure,
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


def encode(value: Any) -> Any:
    """A value as JSON holds it: dates as ISO text, a table as columns and rows.

    >>> encode([dt.date(2020, 4, 1)])
    ['2020-04-01']
    """
    if isinstance(value, pd.DataFrame):
        return json.loads(value.to_json(orient="split", index=False, date_format="iso", double_precision=15))
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dt.date):
        return value.isoformat()
    return value


@dataclass(frozen=True)
class Replay:
    """What running a record again gave."""

    value: Any
    same: bool
    differences: list[str]


def replay(record: Record, source: Warehouse, sandbox: Sandbox) -> Replay:
    """Run the SELECTs and the script of a record again; says what came out and how the data differ, if they do.

    Raises RecordError when the record holds no answer, StepError when a SELECT or the script no longer runs.
    """
    code = _code(record)
    differences = _words_differ(record)
    frames = {}
    for kept in record.frames:
        frame = source.query(kept.select, as_of=record.as_of, declared_only=not record.as_of_given)
        if len(kept.columns) != len(frame.data.columns):
            raise RecordError(
                f"the frame {kept.name} has {len(frame.data.columns)} columns, and the record names {len(kept.columns)}"
            )
        frames[kept.name] = frame.data.set_axis(kept.columns, axis=1)
        if frame.fingerprint != kept.fingerprint:
            differences.append(f"the frame {kept.name} has other rows: {kept.rows:,} then, {len(frame.data):,} now")
    changed = len(differences) > len(_words_differ(record))
    now = source.snapshot()
    if changed and now != record.source.snapshot:
        about = f"{record.source.name} of {record.source.snapshot} then, {source.name} of {now} now"
        differences.insert(0, f"the data are not the same: {about}")
    if record.script is None:
        value = value_of(frames[record.frames[0].name], record.answer_format)[0]
    else:
        outcome = sandbox.run(code, frames, record.answer_format)
        value = outcome.value
        if outcome.period and outcome.period != record.period:
            differences.append(f"the period is {outcome.period}, and was {record.period}")
    # A table without ORDER BY may come in another order from several threads; its hash does not depend on that.
    same = encode(value) == record.value or (
        record.script is None and record.answer_format.kind == "table" and not changed
    )
    if not same:
        differences.append(f"the answer was {show(record.answer_format.coerce(_decode(record)), record.answer_format)}")
    return Replay(value, same, differences)


def replay_filing(record: Record, filing: Filing) -> Replay:
    """Run the plan of a record over a filing again. Raises StepError when it no longer runs."""
    differences = _words_differ(record)
    if filing.fingerprint != record.source.fingerprint:
        differences.append(f"the page is not the same: {record.source.name} then, {filing.id} now")
    turns = [Turn("", None if value is None else Value(value)) for value in record.earlier]
    outcome = execution.run(record.plan, Workspace(turns=turns), execution.Surroundings(filing=filing))
    same = encode(outcome.value.value) == record.value
    if not same:
        differences.append(f"the answer was {record.value}")
    return Replay(outcome.value.value, same, differences)


def replay_library(record: Record, library: Library) -> Replay:
    """Run the plan of a record over a library again, on the pages that were found then.

    Raises LibraryError when a page is gone, StepError or `execution.StepFailed` when its plan no longer runs.
    """
    differences = _words_differ(record)
    if library.fingerprint != record.source.fingerprint:
        differences.append("the library holds other filings than then")
    if record.reading is not None:
        return _replay_reading(record, record.reading, library, differences)
    turns = [Turn("", None if value is None else Value(value)) for value in record.earlier]

    def find(step: Search, company: str) -> tuple[Value, Search]:
        if step.page is None or step.plan is None:
            raise RecordError(f"step {step.id} of the record {record.id} names no page")
        return page_reading.read_page(library.page(step.page), step.plan)[0], step

    surroundings = execution.Surroundings(find_page=find, companies=library.company_table())
    outcome = execution.run(record.plan, Workspace(turns=turns), surroundings)
    same = encode(outcome.value.value) == record.value
    if not same:
        differences.append(f"the answer was {record.value}")
    return Replay(outcome.value.value, same, differences)


def _words_differ(record: Record) -> list[str]:
    """What of a record's words does not fit to its plan."""
    said, planned = record.explanation, record.plan.interpretation
    return ["the explanation is not that of the plan"] if said and planned and said != planned else []


def _replay_reading(record: Record, reading: Reading, library: Library, differences: list[str]) -> Replay:
    """Look up every quote of a reading and compute every formula again."""
    carried = carried_out(reading, library.page)
    gone = [cited.page for cited in reading.statements if not _holds(library, cited.page, cited.quote)]
    differences += [f"quoted words no longer stand on {page}" for page in dict.fromkeys(gone)]
    differences += [f"{name} can no longer be computed" for name in carried.missing]
    if carried.missing:
        return Replay(carried.text, False, differences)
    value = typed_answer(reading, carried, record.answer_format)
    if carried.plan != record.plan:
        differences.append("the plan is not that of the quotes and formulas")
    same = not gone and encode(value) == record.value and carried.plan == record.plan
    if encode(value) != record.value:
        differences.append(f"the answer was {record.value}")
    return Replay(value, same, differences)


def _holds(library: Library, page: str, quote: str) -> bool:
    parts = [part for part in library.pages_of(library.page(page).filing) if part.number == library.page(page).number]
    return holds(Printed(library.filing(parts[0].filing), parts[0].number, tuple(parts)), quote) is not None


def _decode(record: Record) -> Any:
    if record.answer_format.kind == "table":
        return pd.DataFrame(record.value["data"], columns=record.value["columns"])
    return record.value


def _code(record: Record) -> str:
    """The script of a record, or the line that takes the answer out of its one frame."""
    if record.status == "answered" and record.script is not None and record.script.code:
        return record.script.code
    if record.status == "answered" and len(record.frames) == 1 and record.plan.answering_extract is not None:
        return code_of(record.answer_format, record.frames[0].name)
    raise RecordError(f"the record {record.id} holds no answer that was computed (status {record.status!r})")


def export(record: Record, source: Warehouse) -> str:
    """The record as a Python script for a reader: how the question was understood, the SELECTs, the script, the answer."""
    code = _code(record)
    exported_code.check(code, [f.name for f in record.frames], [name for f in record.frames for name in f.columns])
    frames = "\n".join(_frame_source(f, source) for f in record.frames)
    shown = show(record.answer_format.coerce(_decode(record)), record.answer_format)
    about = "\n\n".join(
        part
        for part in (
            record.question,
            record.explanation,
            f"As of {record.as_of}. Answer when it was recorded: {shown}",
            f"Note: {record.source.label}" if record.source.label else "",
        )
        if part
    )
    return _EXPORT.format(
        about=visible(about).replace("\\", "\\\\").replace('"""', "'''"),
        connect=source.python_source(record.as_of, declared_only=not record.as_of_given),
        frames=frames,
        # The way to the data is gone before the model's own lines run; a database is let go of by who runs the script.
        forget="del connection, query" if source.dialect == "duckdb" else "del query",
        code=_in_sight(code, record.id),
    )


def _frame_source(frame: FrameRecord, source: Warehouse) -> str:
    """The line that gives a frame again; of one that was cut, the rows that there were."""
    exported_code.check_select(frame.select, source.dialect, source.columns())
    rows = f".head({frame.rows})" if frame.truncated else ""
    return f'{frame.name} = query("""\n{_quoted(frame.select)}\n""").set_axis({frame.columns!r}, axis=1){rows}'


def _quoted(select: str) -> str:
    """A SELECT as it may stand between three quotation marks; what cannot be seen is written as Python writes it."""
    plain = select.replace("\\", "\\\\").replace('"""', '\\"' * 3)
    return "".join(char if unseen(char) is None else ascii(char)[1:-1] for char in plain)


def _in_sight(code: str, id: str) -> str:
    """The script without a character that cannot be seen: in its texts each is written out, comments go."""
    if unseen(code) is None:
        return code
    seen = ast.unparse(parse(code))
    if found := unseen(seen):
        raise RecordError(
            f"the script of {id} holds the character {found}, which cannot be seen: ask the question again"
        )
    return seen


_EXPORT = '''"""{about}
"""
# An answer of finexpert as a script, written by `finexpert export`. Its SELECTs and its computation were written by a language model.
# They were checked word by word: there is nothing here but the SELECTs, pandas, numpy, scipy and matplotlib. All the same, read a script
# before you run it; `finexpert run-export FILE` runs it shut in, without network, and with no file but its data.

from __future__ import annotations

import datetime as dt
import math
import random
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.stats as stats

{connect}

# The data.
{frames}
{forget}

# The computation.
random.seed(0)
np.random.seed(0)
{code}

print(answer)
'''
