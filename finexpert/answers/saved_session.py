"""A conversation on disk: its turns and the SELECTs of its frames, so that it goes on another day.

    {"version": 1, "name": "desk", "source": "fred.duckdb", "turns": [{"question": "...", "value": 4.1, ...}],
     "frames": [{"name": "gdp", "select": "SELECT ..."}], "declined": []}

It holds answers, and no rows: frames are fetched again when the conversation is taken up.
"""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from finexpert.answers.records import decode
from finexpert.core.answers import AnswerFormat
from finexpert.core.encoding import encode
from finexpert.core.plans import FRAME_NAME, Plan
from finexpert.core.workspace import NamedFrame, Turn, Value, Workspace
from finexpert.errors import AnswerFormatError, DataError, QueryError
from finexpert.storage import foreign_files
from finexpert.storage.private_files import make_folder, write_whole
from finexpert.warehouse.warehouse import Warehouse

Stamp = tuple[int, int, int] | None
UNKNOWN: Stamp = (0, 0, 0)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,60}")


class SavedTurn(BaseModel):
    """One turn; `value` is None where there was no answer."""

    model_config = ConfigDict(extra="forbid")

    question: str
    value: Any = None
    unit: str | None = None
    scale: float = 1.0
    period: str | None = None
    interpretation: str = ""
    entity: str | None = None
    plan: Plan | None = None
    script: str | None = None
    answer_format: AnswerFormat | None = None
    as_of: dt.date | None = None
    words: str = ""
    explained: bool = False


class SavedFrame(BaseModel):
    """A frame, as the SELECT that fetches it."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=FRAME_NAME)
    select: str
    written: str = ""
    columns: list[str]
    purpose: str = ""
    fingerprint: str = ""


class SavedSession(BaseModel):
    """A conversation by name."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    name: str
    saved_at: dt.datetime
    source: str = Field(description="name of the source; another one may be used, and is said")
    as_of: dt.date | None = None
    turns: list[SavedTurn]
    frames: list[SavedFrame] = []
    declined: list[str] = []
    spent: dict[str, float] = Field(
        default={}, description="calls, usd, tokens and seconds, for the budget of the whole"
    )


def file_of(folder: Path, name: str) -> Path:
    """The file of a conversation; DataError for a name that is no plain file name."""
    if not _NAME.fullmatch(name):
        raise DataError(f"{name!r} cannot name a conversation: use letters, digits, spaces, '.', '_' and '-'")
    return folder / f"{name}.json"


def save(
    folder: Path,
    name: str,
    workspace: Workspace,
    source: str,
    as_of: dt.date | None,
    declined: list[str],
    known: Stamp = UNKNOWN,
    *,
    spent: Mapping[str, float] | None = None,
) -> Path:
    """Write a conversation, readable by its owner only; whole or not at all.

    `known` is the `stamp` of the file that this conversation was read from or last written to. DataError where the
    file is another by now, because it goes on in another process too: nothing of that one is written over.
    """
    path = file_of(folder, name)
    saved = of_workspace(name, workspace, source, as_of, declined, spent or {})
    try:
        make_folder(folder)
        with _alone(folder):
            if known != UNKNOWN and stamp(path) != known:
                raise DataError(
                    f"the conversation {name!r} was saved by another process meanwhile ({path}): "
                    "save this one under another name"
                )
            write_whole(path, saved.model_dump_json(indent=1))
    except OSError as error:
        raise DataError(
            f"the conversation {name!r} cannot be saved in {folder} ({error.strerror}): "
            "make room there, or name another place with FINEXPERT_HOME"
        ) from error
    return path


def of_workspace(
    name: str,
    workspace: Workspace,
    source: str,
    as_of: dt.date | None,
    declined: list[str],
    spent: Mapping[str, float],
) -> SavedSession:
    """A conversation as it is kept: its turns, and the SELECTs of its frames."""
    return SavedSession(
        name=name,
        saved_at=dt.datetime.now(dt.UTC),
        source=source,
        as_of=as_of,
        turns=[saved_turn(turn) for turn in workspace.turns],
        frames=[saved_frame(frame) for frame in workspace.frames.values()],
        declined=declined,
        spent={part: round(amount, 6) for part, amount in spent.items()},
    )


def saved_frame(frame: NamedFrame) -> SavedFrame:
    """A frame without its rows."""
    return SavedFrame(
        name=frame.name,
        select=frame.select,
        written=frame.written,
        columns=[str(column) for column in frame.data.columns],
        purpose=frame.purpose,
        fingerprint=frame.fingerprint,
    )


def stamp(path: Path) -> Stamp:
    """Which content the file has, as far as one sees without reading it; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time compares and writes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def load(folder: Path, name: str) -> SavedSession | None:
    """The conversation of this name, or None; DataError if its file cannot be read."""
    path = file_of(folder, name)
    if not path.exists():
        return None
    try:
        saved = SavedSession.model_validate_json(foreign_files.read_bytes(path))
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            raise DataError(f"{path} is damaged: {first['msg']}; move it away to begin anew") from error
        raise _unusable(path, f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}") from error
    except OSError as error:
        raise _unusable(path, str(error.strerror)) from error
    for number, turn in enumerate(saved.turns):
        try:
            _turn(turn)
        except (AnswerFormatError, KeyError, TypeError, ValueError) as error:
            raise _unusable(path, f"turns.{number}.value does not fit its answer_format") from error
    return saved


def _unusable(path: Path, why: str) -> DataError:
    return DataError(f"{path} is no saved conversation of this version: {why}; move it away to begin anew")


def restore(saved: SavedSession, warehouse: Warehouse | None, as_of: dt.date | None) -> tuple[Workspace, list[str]]:
    """The workspace, with its frames fetched again from the warehouse, and what is not as it was."""
    workspace = Workspace(turns=[_turn(turn) for turn in saved.turns])
    notes: list[str] = []
    for kept in saved.frames:
        if warehouse is None:
            break
        try:
            frame = warehouse.query(kept.select, as_of=as_of)
        except QueryError as error:
            notes.append(f"the frame {kept.name} cannot be fetched any more: {error}")
            continue
        if len(frame.data.columns) != len(kept.columns):
            notes.append(
                f"the frame {kept.name} has other columns than when the conversation was saved; it is left out"
            )
            continue
        if frame.fingerprint != kept.fingerprint:
            notes.append(f"the frame {kept.name} has other rows than when the conversation was saved")
        data = frame.data.set_axis(kept.columns, axis=1)
        known = as_of or dt.date.today()
        workspace.add_frame(
            NamedFrame(
                *(kept.name, data, kept.select, kept.purpose, frame.truncated, frame.fingerprint, known),
                written=kept.written,
            )
        )
    return workspace, notes


def saved_turn(turn: Turn) -> SavedTurn:
    """A turn with its value as JSON."""
    value = turn.value
    return SavedTurn(
        question=turn.question,
        value=None if value is None else encode(value.value),
        unit=value.unit if value else None,
        scale=value.scale if value else 1.0,
        period=value.period if value else None,
        interpretation=turn.interpretation,
        entity=turn.entity,
        plan=turn.plan,
        script=turn.script,
        answer_format=turn.answer_format,
        as_of=turn.as_of,
        words=turn.words,
        explained=turn.explained,
    )


def _turn(saved: SavedTurn) -> Turn:
    value = None
    if saved.value is not None:
        kept = saved.value if saved.answer_format is None else decode(saved.value, saved.answer_format)
        value = Value(kept, unit=saved.unit, scale=saved.scale, period=saved.period)
    words = saved.model_dump(include={"question", "interpretation", "entity", "script", "as_of", "words", "explained"})
    return Turn(value=value, plan=saved.plan, answer_format=saved.answer_format, **words)
