"""Earlier runs of a report: what was answered, kept at home, and answers had again without a model.

    runs = Runs.load(place)
    row = again(kept, question, shared)        the row of today, or None where a model has to be asked

Nothing but the data may have changed: the question with its parameters, the program, its models and settings, and what was taught are the
same. Over tables the SELECTs and the script run again, with every check; over filings and several sources the record is replayed and has
to come out as it did.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ValidationError

from finexpert.answers import replaying, rerunning
from finexpert.answers.records import Record
from finexpert.answers.sources import parts
from finexpert.answers.sources.sources import Sources
from finexpert.batch.answer_rows import AnswerRow
from finexpert.batch.ask_all import kept as kept_answer
from finexpert.batch.questions import BatchQuestion
from finexpert.batch.surroundings import Shared, data_mark
from finexpert.core.answers import Answer
from finexpert.core.encoding import encode
from finexpert.errors import FinexpertError, StoreError
from finexpert.filings.library.library import Library
from finexpert.storage.private_files import make_folder, write_whole
from finexpert.warehouse.opening import is_warehouse

_MOST = 2_000
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d-\d\d-\d\d)(?!\d)")
_NEAR = dt.timedelta(days=31)
_FREE: dict[str, Any] = {"calls": 0, "tokens": 0, "cost_usd": 0.0, "seconds": 0.0}


class Kept(BaseModel):
    """An answer of a run: when it was given, and what tells that the program is the same, and the data."""

    question: str
    mark: str
    data: str | None = None
    on: dt.date
    row: AnswerRow


class Runs(BaseModel):
    """What a report gave: answers by the keys of their questions, and which of them the last run had at each place."""

    version: Literal[1] = 1
    answers: dict[str, Kept] = {}
    last: dict[str, str] = {}

    @classmethod
    def load(cls, place: Path) -> Self:
        """The runs of a report; none where it was never run. StoreError for a file that is none of ours."""
        if not place.is_file():
            return cls()
        try:
            return cls.model_validate_json(place.read_bytes())
        except (OSError, ValidationError) as error:
            raise StoreError(
                f"{place} does not hold the runs of a report: move it away, and everything is asked anew"
            ) from error

    def save(self, place: Path) -> None:
        """Keep the runs, of the oldest answers as many as have room."""
        self.answers = dict(list(self.answers.items())[-_MOST:])
        make_folder(place.parent)
        write_whole(place, self.model_dump_json(indent=1))

    def before(self, place: str) -> Kept | None:
        """What the last run had at a place of the report."""
        return self.answers.get(self.last.get(place, ""))


def again(kept: Kept, question: BatchQuestion, shared: Shared) -> AnswerRow | None:
    """The row of a question as the data are now, without a model; None where it has to be asked."""
    settings = shared["settings"]
    if kept.row.status not in ("answered", "partial") or kept.row.record is None:
        return None
    try:
        record = Record.load(settings.home / "records" / f"{kept.row.record}.json")
        given = question.as_of or settings.as_of
        day = given or dt.date.today()
        if record.as_of_given != (given is not None) or (record.as_of != day and rests_on_day(record)):
            return None
        if kept.row.status == "partial":
            # Other data, or another day's, may hold what was missing.
            same = record.as_of == day and kept.data is not None and kept.data == data_mark(shared)
            return kept.row.model_copy(update=_FREE) if same else None
        return _again(kept.row, _of_day(record, day), shared)
    except FinexpertError:
        # The record is gone, or its plan does not run on these data: a model looks at them.
        return None


def rests_on_day(record: Record) -> bool:
    """Whether the code of a record has years that its question does not name, or days near the day of asking.

    "in the last 30 years" is a year in the SELECT: on another day it is another one. What pages answer has no such code, and is of any
    day where the question names its year.
    """
    code = " ".join([*(frame.select for frame in record.frames), (record.script.code if record.script else "") or ""])
    near = [day for day in _DAY.findall(code) if _of(day) >= record.as_of - _NEAR]
    said = set(_YEAR.findall(f"{record.question} {record.knowledge}"))
    of_pages = bool(record.parts) or record.source.dialect == "library"
    return bool(near) or not set(_YEAR.findall(code)) <= said or (of_pages and not said)


def _of_day(record: Record, day: dt.date) -> Record:
    """The record as of a day, with its parts."""
    several = [{**part, "record": {**part["record"], "as_of": day.isoformat()}} for part in record.parts]
    return record.model_copy(update={"as_of": day, "parts": several})


def _of(day: str) -> dt.date:
    try:
        return dt.date.fromisoformat(day)
    except ValueError:
        return dt.date.max


def _again(row: AnswerRow, record: Record, shared: Shared) -> AnswerRow | None:
    source, sandbox = shared["source"], shared.get("sandbox")
    if record.parts or record.source.dialect == "library":
        return row.model_copy(update=_FREE) if _replays(record, source, sandbox) else None
    warehouse = _one(record, source)
    if not is_warehouse(warehouse):
        return None
    answer = rerunning.rerun(record, rerunning.plan_of(record), warehouse, sandbox)
    if answer.status != "answered" or answer.record is None:
        return None
    charts = all(Path(place).is_file() for place in row.figures)
    if charts and encode(answer.value) == record.value and _hashes(answer.record) == _hashes(record):
        return row.model_copy(update=_FREE)
    return _changed(row, answer, shared)


def _changed(row: AnswerRow, answer: Answer, shared: Shared) -> AnswerRow:
    """The row of an answer over other data; what was said of the question is still said."""
    answer.flags = answer.record.flags = list(dict.fromkeys([*row.flags, *answer.flags]))
    sure = [each for each in (row.confidence, answer.confidence) if each is not None]
    answer.confidence = min(sure, default=None)
    answer.usage.cost_usd = 0.0
    return kept_answer(answer, shared["settings"].home / "records")


def _replays(record: Record, source: Any, sandbox: Any) -> bool:
    """Whether a record over filings, or over several sources, comes out as it did on the same pages and rows."""
    if record.parts:
        return isinstance(source, Sources) and not parts.replay(record, source.by_name, sandbox).differences
    library = _one(record, source)
    return isinstance(library, Library) and not replaying.replay_library(record, library).differences


def _one(record: Record, source: Any) -> Any:
    """The source of a record that has one; None where several may be meant."""
    if not isinstance(source, Sources):
        return source
    of_kind: Mapping[str, Any] = source.libraries if record.source.dialect == "library" else source.warehouses
    fit = [each for each in of_kind.values() if each.name == record.source.name]
    return fit[0] if len(fit) == 1 else None


def _hashes(record: Record) -> list[str]:
    return [frame.fingerprint for frame in record.frames]
