"""What people said about answers, in a file at home: nothing of it is used until a person makes something of it, and nothing leaves.

    {"id": "20240930T101500-3f2a1c", "door": "chat", "up": false, "reason": "net of rebates", "question": "What were the fees?", ...}
    {"settles": "20240930T101500-3f2a1c", "became": "verified query b7addfed"}

A line is written once and never changed; the last one about an answer counts.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from finexpert.answers.records import Record
from finexpert.errors import DataError
from finexpert.storage.private_files import append_line, make_folder, whole_lines
from finexpert.text.texts import Note, StepText, sentence

FILE = "feedback.jsonl"


class Feedback(BaseModel):
    """A thumb with its reason, or a SELECT that was edited by hand. `settled` says what became of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[\w-]+$", max_length=80, description="of the record or of the server's answer")
    door: str
    at: dt.datetime
    by: Note = ""
    up: bool
    reason: Note = ""
    question: StepText
    select: str = Field(default="", description="the answer's SELECT, where it is one")
    settled: str = ""


class _Settles(BaseModel):
    model_config = ConfigDict(extra="forbid")

    settles: str
    became: str


def of_record(record: Record, door: str, up: bool, reason: str, by: str) -> Feedback:
    """What somebody said about a recorded answer; DataError for a reason that cannot be kept."""
    select = record.frames[0].select if len(record.frames) == 1 else ""
    said = {"id": record.id, "door": door, "at": dt.datetime.now(dt.UTC), "by": by, "up": up}
    try:
        return Feedback.model_validate({**said, "reason": reason, "question": record.question, "select": select})
    except ValidationError as error:
        raise DataError(f"the reason cannot be kept: {sentence(error)}") from error


def add(home: Path, feedback: Feedback) -> None:
    _append(home, feedback.model_dump_json())


def settle(home: Path, id: str, became: str) -> None:
    """Note what became of an entry, also of one that a server keeps."""
    _append(home, _Settles(settles=id, became=became).model_dump_json())


def queue(home: Path, others: list[Feedback] | None = None) -> list[Feedback]:
    """Everything that was said, the oldest first, with what became of it; DataError for a line that cannot be read."""
    found = {each.id: each for each in others or []}
    file = home / FILE
    try:
        lines = whole_lines(file)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}; move it away") from error
    for number, line in enumerate(lines, 1):
        try:
            if line.startswith('{"settles"'):
                told = _Settles.model_validate_json(line)
                if told.settles in found:
                    found[told.settles] = found[told.settles].model_copy(update={"settled": told.became})
            else:
                one = Feedback.model_validate_json(line)
                found[one.id] = one
        except ValidationError as error:
            raise DataError(f"{file}, line {number}: {sentence(error)}; take the line out, or move the file") from error
    return sorted(found.values(), key=lambda each: each.at)


def _append(home: Path, line: str) -> None:
    make_folder(home)
    append_line(home / FILE, line)
