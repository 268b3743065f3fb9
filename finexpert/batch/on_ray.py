"""The questions of a batch on a Ray cluster: each worker opens the sources itself, and this process keeps what comes back.

    finexpert batch questions.csv --out answers.parquet --data postgresql+psycopg://desk@db/markets --engine ray --threads 32

A worker that sees other data, other knowledge, another model or another version than this process is refused before it is asked: a
store that is not there would be taken for an empty one. A worker that is lost, alone or with its node, loses what it had under way;
that is asked again elsewhere, and nothing else. Keys of models are not sent: a worker reads them from its own environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from finexpert.batch.asking import AskEach, Keep, Run, in_session
from finexpert.batch.on_workers import Items, on_workers
from finexpert.batch.questions import BatchQuestion
from finexpert.batch.surroundings import Shared, mark, surroundings
from finexpert.core.answers import Answer
from finexpert.errors import ConfigurationError
from finexpert.language_models.budget import Budget
from finexpert.settings import Settings


@dataclass(frozen=True)
class Work:
    """What a worker opens: paths and addresses, settings without keys, and the program. `mark` is what this process would answer with."""

    source: Any
    settings: Mapping[str, Any]
    expert: Any
    asked: Sequence[BatchQuestion]
    clarify: bool
    mark: str


class Worker:
    """An actor: the sources are opened once, and asked as long as the worker lasts."""

    def __init__(self, work: Work, threads: int) -> None:
        self._stack, self._work, self._threads = ExitStack(), work, threads
        self._shared: Shared = {}

    def opened(self) -> str:
        """Open everything; what this worker would answer with, as `mark` tells it."""
        work, settings = self._work, Settings(**self._work.settings)
        self._shared = self._stack.enter_context(
            surroundings(work.source, expert=work.expert, settings=settings, threads=self._threads)
        )
        return mark(self._shared, work.asked, work.clarify)

    def ask(self, question: BatchQuestion) -> Answer:
        return in_session(self._shared, question, self._work.clarify)

    def closed(self) -> None:
        self._stack.close()


def on_ray(source: Any) -> AskEach:
    """The engine; ConfigurationError for a source that is open in this process and in no worker."""
    given = list(source) if isinstance(source, list | tuple) else [source]
    if not all(isinstance(one, str | Path) for one in given):
        raise ConfigurationError(
            "engine ray: the source is open in this process and in no worker: give paths that every node has, or addresses; "
            "engine threads takes any source"
        )
    places = [one if "://" in str(one) else Path(one).absolute() for one in given]

    def ask_each(run: Run, questions: Sequence[BatchQuestion], keep: Keep, budget: Budget) -> None:
        """The budget is looked at before a question is handed out: what is under way when it is used up may pass it."""
        if not questions:
            return
        sent = run.shared["settings"].model_dump(exclude={"api_key", "fallback_api_key"})
        sent |= {name: None for name in sent if name.startswith("budget_run_")}
        place = places if isinstance(source, list | tuple) else places[0]
        found = mark(run.shared, run.asked, run.clarify)
        work = Work(place, sent, run.shared["expert"], run.asked, run.clarify, found)

        def came(question: BatchQuestion, answer: Answer) -> None:
            usage = answer.usage
            tokens = usage.prompt_tokens + usage.completion_tokens
            budget.add({"calls": usage.calls, "tokens": tokens, "usd": usage.cost_usd or 0.0})
            keep(question, answer)

        on_workers(Worker, work, found, Items(questions, came, budget.check, lambda each: each.question), run.threads)

    return ask_each
