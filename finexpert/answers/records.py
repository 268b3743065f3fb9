"""The record of an answer: enough to compute it again without a language model.

    {"version": 1, "question": "...", "as_of": "2024-09-30", "plan": {"steps": [...]}, "frames": [{"name": "gdp",
     "select": "SELECT ...", "fingerprint": "..."}], "value": 4.1, "source": {"fingerprint": "..."}, ...}

`finexpert.answers.replaying` runs the SELECTs and the script of a record and compares; `finexpert.answers.export.script` writes them
as a plain script for someone who wants to read how a number came about. A record holds the answer, and no rows of the data;
`finexpert.answers.recording` makes one.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from finexpert.core.answers import AnswerFormat, Failure, Sentence, Usage
from finexpert.core.plans import FRAME_NAME, Plan, Script
from finexpert.core.statuses import Missing, Status, gives_value
from finexpert.errors import RecordError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.plans.pages.proved import Reading
from finexpert.storage import foreign_files
from finexpert.storage.private_files import make_folder, write_whole
from finexpert.text.texts import visible
from finexpert.warehouse.frame_values import code_of
from finexpert.warehouse.warehouse import Warehouse


class FrameRecord(BaseModel):
    """A frame that the answer rests on."""

    name: str = Field(pattern=FRAME_NAME, description="a Python identifier")
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
    sentences: list[Sentence] = Field(default_factory=list, description="an answer from filings in words")
    explanation: str | None = None
    failure: Failure | None = None
    missing: list[Missing] = Field(default_factory=list, description="of a partial answer: what it lacks, by source")
    flags: list[str] = Field(default_factory=list, description="what was said on the answer")
    plan: Plan
    frames: list[FrameRecord]
    sent_back: list[dict[str, str]] = Field(
        default_factory=list,
        description="SELECTs that did not pass, in their order: the frame, the SELECT and the reason",
    )
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
    parts: list[dict[str, Any]] = Field(
        default_factory=list, description="of several sources: how the table of each part came about"
    )
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

    @property
    def code(self) -> str:
        """The script, or the line that takes the answer out of its one frame; RecordError where nothing was computed."""
        if gives_value(self.status) and self.script is not None and self.script.code:
            return self.script.code
        if gives_value(self.status) and len(self.frames) == 1 and self.plan.answering_extract is not None:
            return code_of(self.answer_format, self.frames[0].name)
        raise RecordError(f"the record {self.id} holds no answer that was computed (status {self.status!r})")

    @property
    def decoded(self) -> Any:
        """The value as it was answered."""
        return decode(self.value, self.answer_format)

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
            content = foreign_files.read_bytes(path)
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


def decode(value: Any, answer_format: AnswerFormat) -> Any:
    """A value of this type out of what `encode` made of it; the cells of a table stay as JSON has them.

    >>> decode(["2020-04-01"], AnswerFormat(kind="list", items="date"))
    [datetime.date(2020, 4, 1)]
    """
    if answer_format.kind == "table":
        return pd.DataFrame(value["data"], columns=value["columns"])
    return answer_format.coerce(value)
