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
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import BaseModel

from finexpert.answers.sources.sources import Sources
from finexpert.batch import answer_files, on_ray
from finexpert.batch.answer_rows import NOT_ASKED, AnswerRow, asked_elsewhere, check_names, joined, row_of
from finexpert.batch.asking import AskEach, Engine, Run, in_threads
from finexpert.batch.questions import BatchQuestion, Questions, questions_of, table_of
from finexpert.batch.surroundings import Shared, mark, surroundings
from finexpert.core.answers import Answer
from finexpert.core.display.charts import save_figures
from finexpert.datasets.evaluations.journal import Journal
from finexpert.errors import DataError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge.taught import Taught
from finexpert.language_models.budget import Budget, ended_by
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.storage.private_files import make_folder

if TYPE_CHECKING:
    from finexpert.warehouse.opening import Tabular
    from finexpert.warehouse.warehouse import Warehouse


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
    engine: Engine = "threads",
    on_progress: Callable[[Told], None] = lambda told: None,
) -> pd.DataFrame:
    """Ask every question, and return the rows of `questions` with the columns of the answers; see `AnswerRow`.

    `questions` is a frame or a file with a column `question`, or a list of texts; `as_of`, `answer_format` and `knowledge` may stand
    beside it. `out` names a file that the table is written to, whole or not at all. `prefix` is put before the names of the columns of
    the answers. With `clarify` a question with an unknown term gets the status "needs_clarification", else an answer that rests on an
    assumption and says so.

    The budget of the run (settings `budget_run_*`) ends it: what was not asked has the status "not_asked", and the next run goes on.
    `fresh` starts over. The `engine` "ray" asks on the Ray cluster at RAY_ADDRESS, or on one of this machine: then the source is a path
    or an address, or a list of them, which every node reaches, and models and what was taught come from the settings. Raises
    QuestionFileError for a row that cannot be asked, before anything is asked.
    """
    table, name = table_of(questions)
    check_names(table, prefix)
    asked = questions_of(table, name)
    place = None if out is None else Path(out)
    if place is not None:
        answer_files.check(place)
    opened: dict[str, Any] = {"expert": expert, "settings": settings, "models": models, "sandbox": sandbox}
    with (
        surroundings(source, taught=taught, threads=threads, **opened) as shared,
        rows_of(
            shared,
            asked,
            threads=threads,
            clarify=clarify,
            fresh=fresh,
            on_progress=on_progress,
            ask_each=in_threads if engine == "threads" else on_ray.on_ray(source),
        ) as rows,
    ):
        result = joined(table, rows, prefix)
        if place is not None:
            answer_files.write(result, place, prefix)
    return result


@contextmanager
def rows_of(
    shared: Shared,
    asked: Sequence[BatchQuestion],
    *,
    threads: int,
    clarify: bool,
    fresh: bool = False,
    on_progress: Callable[[Told], None] = lambda told: None,
    ask_each: AskEach = in_threads,
) -> Iterator[list[AnswerRow]]:
    """A row a question, in their order; the journal goes when all are answered and the block has done with them."""
    settings = shared["settings"]
    path = settings.home / "batch" / f"{mark(shared, asked, clarify)}.jsonl"
    with _held(path):
        if fresh:
            path.unlink(missing_ok=True)
        journal = Journal(path, BatchAnswer)
        run = Run(shared, asked, threads, clarify)
        ended = _ask_open(run, journal, on_progress, ask_each)
        yield _rows(asked, journal.results, settings, ended)
        if not ended:
            path.unlink(missing_ok=True)


def _ask_open(run: Run, journal: Journal[BatchAnswer], on_progress: Callable[[Told], None], ask_each: AskEach) -> str:
    """Ask what the journal does not hold; returns why the run ended before its end, if it did."""
    by_key = {question.key: question for question in run.asked}
    done = {answer.key for answer in journal.results}
    settings = run.shared["settings"]
    on_progress(Told(len(done), len(by_key)))
    telling = threading.Lock()

    def keep(question: BatchQuestion, answer: Answer) -> None:
        row = kept(answer, settings.home / "records")
        with telling:
            journal.add(BatchAnswer(key=question.key, asked_on=_today(), row=row))
            on_progress(Told(len(journal.results), len(by_key), row))

    budget = Budget.of(settings, "run")
    with ended_by(budget) as ended:
        ask_each(run, [question for key, question in by_key.items() if key not in done], keep, budget)
    return ended.why


def kept(answer: Answer, folder: Path) -> AnswerRow:
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
