"""Many questions of one source, or of several together, side by side: each is a conversation of its own.

    answers = finexpert.ask_all("trades.duckdb", pd.DataFrame({"question": ["What was the fee income in 2023?", ...]}))
    answers[["question", "status", "text", "record"]]

Each finished answer is a line of a journal at home. A run that was killed, ran out of its budget or lost its model goes on from there
when the same is asked of the same data; the journal goes when all is answered and written. A question that stands in several rows is
asked once. A question without an answer is a row that says why; a model that cannot be reached, or a missing sandbox, is raised.
"""

from __future__ import annotations

import datetime as dt
import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import BaseModel

from finexpert.answers.cache.key import WITHOUT, meaning_of
from finexpert.answers.sources.opening import open_several
from finexpert.answers.sources.sources import Sources, are_several
from finexpert.batch import answer_files
from finexpert.batch.answer_rows import NOT_ASKED, AnswerRow, asked_elsewhere, check_names, joined, row_of
from finexpert.batch.asking import answer_to
from finexpert.batch.questions import BatchQuestion, Questions, questions_of, table_of
from finexpert.core.answers import Answer
from finexpert.core.display.charts import save_figures
from finexpert.datasets.evaluations.evaluation import Journal, side_by_side
from finexpert.errors import DataError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge.taught import Taught
from finexpert.language_models.budget import Budget, ended_by
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.sandbox import Limits, Sandbox
from finexpert.session import Session
from finexpert.settings import Settings, with_options
from finexpert.storage.private_files import make_folder
from finexpert.warehouse.opening import is_warehouse, open_data

if TYPE_CHECKING:
    from finexpert.warehouse.opening import Tabular
    from finexpert.warehouse.warehouse import Warehouse

# Each is a process that waits for scripts.
_MOST_WORKERS = 4
# They bound a run, and change no answer.
_OF_A_RUN = {name for name in Settings.model_fields if name.startswith("budget_run_")}


class BatchAnswer(BaseModel):
    """A line of the journal: the row of a question by its key, and the day on which it was asked."""

    key: str
    asked_on: dt.date
    row: AnswerRow


@dataclass(frozen=True)
class Told:
    """How far a batch is: told at its start, and after every answer, by one thread at a time."""

    done: int
    of: int
    row: AnswerRow | None = None


def ask_all(
    source: Warehouse | Filing | Library | Sources | str | Path | Mapping[str, Any] | Sequence[Any] | Tabular,
    questions: Questions | Tabular,
    *,
    expert: FinancialExpert | None = None,
    settings: Settings | None = None,
    models: LanguageModels | None = None,
    sandbox: Sandbox | None = None,
    taught: Taught | None = None,
    threads: int = 4,
    clarify: bool = False,
    out: Path | str | None = None,
    prefix: str = "",
    fresh: bool = False,
    on_progress: Callable[[Told], None] = lambda told: None,
) -> pd.DataFrame:
    """Ask every question, and return the rows of `questions` with the columns of the answers; see `AnswerRow`.

    `questions` is a frame or a file with a column `question`, or a list of texts; `as_of`, `answer_format` and `knowledge` may stand
    beside it. `out` names a file that the table is written to, whole or not at all. `prefix` is put before the names of the columns of
    the answers. With `clarify` a question with an unknown term gets the status "needs_clarification", else an answer that rests on an
    assumption and says so.

    The budget of the run (settings `budget_run_*`) ends it: what was not asked has the status "not_asked", and the next run goes on.
    `fresh` starts over. Raises QuestionFileError for a row that cannot be asked, before anything is asked.
    """
    table, name = table_of(questions)
    check_names(table, prefix)
    asked = questions_of(table, name)
    place = None if out is None else Path(out)
    if place is not None:
        answer_files.check(place)
    expert = expert or FinancialExpert()
    settings = with_options(settings or Settings(), getattr(expert, "options", {}))
    with ExitStack() as stack:
        opened = _opened(stack, source, settings)
        shared: dict[str, Any] = {"source": opened, "expert": expert, "settings": settings}
        shared["models"] = models or LanguageModels.from_settings(settings)
        shared["taught"] = taught or _taught(stack, settings)
        if not isinstance(opened, Filing | Library):
            shared["sandbox"] = sandbox or stack.enter_context(_sandbox(settings, threads))
        path = settings.home / "batch" / f"{_mark(shared, asked, clarify)}.jsonl"
        stack.enter_context(_held(path))
        if fresh:
            path.unlink(missing_ok=True)
        journal = Journal(path, BatchAnswer)
        ended = _ask_open(shared, asked, journal, threads, clarify, on_progress)
        result = joined(table, _rows(asked, journal.results, settings, ended), prefix)
        if place is not None:
            answer_files.write(result, place, prefix)
        if not ended:
            path.unlink(missing_ok=True)
    return result


def _ask_open(
    shared: Mapping[str, Any],
    asked: Sequence[BatchQuestion],
    journal: Journal[BatchAnswer],
    threads: int,
    clarify: bool,
    on_progress: Callable[[Told], None],
) -> str:
    """Ask what the journal does not hold; returns why the run ended before its end, if it did."""
    by_key = {question.key: question for question in asked}
    done = {answer.key for answer in journal.results}
    on_progress(Told(len(done), len(by_key)))
    telling = threading.Lock()

    def one(key: str, question: BatchQuestion) -> None:
        answer = _answer(shared, question, clarify)
        row = _kept(answer, shared["settings"].home / "records")
        with telling:
            journal.add(BatchAnswer(key=key, asked_on=_today(), row=row))
            on_progress(Told(len(journal.results), len(by_key), row))

    with ended_by(Budget.of(shared["settings"], "run")) as ended:
        side_by_side(one, [job for job in by_key.items() if job[0] not in done], threads)
    return ended.why


def _answer(shared: Mapping[str, Any], question: BatchQuestion, clarify: bool) -> Answer:
    with Session(**shared) as session:
        return answer_to(
            question.question,
            session,
            answer_format=question.answer_format,
            knowledge=question.knowledge,
            as_of=question.as_of,
            clarify=clarify,
        )


def _kept(answer: Answer, folder: Path) -> AnswerRow:
    """The row of an answer whose record and charts are on disk."""
    if answer.record is not None:
        answer.record.save(folder)
    return row_of(answer, [str(path) for path in save_figures(answer, folder)] if answer.figures else [])


def _rows(
    asked: Sequence[BatchQuestion], results: Sequence[BatchAnswer], settings: Settings, ended: str
) -> list[AnswerRow]:
    """A row a question, in their order."""
    found = {answer.key: answer for answer in results}
    first: dict[str, int] = {}
    rows = []
    for number, question in enumerate(asked, start=1):
        answer = found.get(question.key)
        if answer is None:
            rows.append(AnswerRow(status=NOT_ASKED, reason=ended, cost_usd=0.0))
            continue
        row = answer.row
        today = (question.as_of or settings.as_of) is None
        if today and answer.asked_on != _today():
            row = row.model_copy(update={"flags": [*row.flags, f"asked on {answer.asked_on}, as of that day"]})
        rows.append(row if question.key not in first else asked_elsewhere(row, first[question.key]))
        first.setdefault(question.key, number)
    return rows


def _today() -> dt.date:
    return dt.date.today()


def _opened(stack: ExitStack, source: Any, settings: Settings) -> Warehouse | Filing | Library | Sources:
    if isinstance(source, Filing | Library | Sources) or is_warehouse(source):
        return source
    if are_several(source):
        several, own = open_several(source, settings)
        for each in own:
            stack.callback(each.close)
        return several
    opened = open_data(source, settings=settings)
    stack.callback(opened.close)
    return opened


def _taught(stack: ExitStack, settings: Settings) -> Taught | None:
    if not settings.memory:
        return None
    taught = Taught.from_settings(settings)
    stack.callback(taught.close)
    return taught


def _sandbox(settings: Settings, threads: int) -> Sandbox:
    workers = max(settings.workers, min(threads, _MOST_WORKERS))
    return Sandbox(Limits(wall_seconds=settings.script_seconds), workers=workers)


def _state(source: Warehouse | Filing | Library, settings: Settings) -> list[str | None]:
    """What tells whether the data are the same."""
    if isinstance(source, Filing | Library):
        return [source.fingerprint]
    return [source.name, source.snapshot(), source.schema_card(settings.privacy), meaning_of(source)]


def _mark(shared: Mapping[str, Any], asked: Sequence[BatchQuestion], clarify: bool) -> str:
    """What must be the same for a run to go on with the answers of one before."""
    source, settings, taught = shared["source"], shared["settings"], shared["taught"]
    several = source.by_name if isinstance(source, Sources) else {"": source}
    data = [part for name, each in several.items() for part in [*filter(None, [name]), *_state(each, settings)]]
    model = {name: value for name, value in shared["models"].describe().items() if name != "found"}
    content = [
        data,
        sorted({question.key for question in asked}),
        str(settings.as_of),
        clarify,
        model,
        shared["expert"].dump_state(),
        taught.fingerprint() if taught else None,
        settings.model_dump(mode="json", exclude=set(WITHOUT) | _OF_A_RUN),
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]


@contextmanager
def _held(journal: Path) -> Iterator[None]:
    """Only one process at a time has a journal: two would ask everything twice."""
    make_folder(journal.parent)
    path = journal.with_suffix(".lock")
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Who had it before may have taken the file away in between: then the next one would lock another.
            is_there = os.path.samestat(os.fstat(descriptor), path.stat())
        except OSError:
            is_there = False
        if not is_there:
            raise DataError(
                f"the same questions are being asked of the same data by another process, which holds {path}: wait for it, or end it"
            )
        yield
        path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
