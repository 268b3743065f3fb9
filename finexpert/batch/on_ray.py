"""The questions of a batch on a Ray cluster: each worker opens the sources itself, and this process keeps what comes back.

    finexpert batch questions.csv --out answers.parquet --data postgresql+psycopg://desk@db/markets --engine ray --threads 32

A worker that sees other data, other knowledge, another model or another version than this process is refused before it is asked: a
store that is not there would be taken for an empty one. A worker that is lost, alone or with its node, loses what it had under way;
that is asked again elsewhere, and nothing else. Keys of models are not sent: a worker reads them from its own environment.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from finexpert.batch.asking import AskEach, Keep, Run, in_session
from finexpert.batch.questions import BatchQuestion
from finexpert.batch.surroundings import Shared, mark, surroundings
from finexpert.core.answers import Answer
from finexpert.core.ray_cluster import connected
from finexpert.errors import ConfigurationError, DataError
from finexpert.language_models.budget import Budget
from finexpert.settings import Settings

_MOST_LOSSES = 3


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
        with connected() as ray:
            _Run(ray, work, questions, keep, budget, run.threads).to_end()

    return ask_each


class _Run:
    """Which questions wait, and which are under way with whom, by the reference of the answer to come."""

    def __init__(
        self,
        ray: Any,
        work: Work,
        questions: Sequence[BatchQuestion],
        keep: Keep,
        budget: Budget,
        threads: int,
    ) -> None:
        self._ray, self._work, self._keep, self._budget = ray, work, keep, budget
        self._waiting = deque(questions)
        self._under_way: dict[Any, tuple[Any, BatchQuestion | None]] = {}
        self._free: Counter[Any] = Counter()
        self._losses: Counter[str] = Counter()
        slots = int(ray.cluster_resources().get("CPU", 1))
        self._workers = max(1, min(threads, slots, len(questions)))
        self._each = math.ceil(threads / self._workers)
        self._sent = ray.put(work)

    def to_end(self) -> None:
        for _ in range(self._workers):
            self._engage()
        try:
            while self._waiting or any(question for _, question in self._under_way.values()):
                self._hand_out()
                ended, _ = self._ray.wait(list(self._under_way), num_returns=1)
                for reference in ended:
                    self._ended(reference, *self._under_way.pop(reference))
        finally:
            for worker in {worker for worker, _ in self._under_way.values()} | set(self._free):
                self._ray.kill(worker)

    def _engage(self) -> None:
        actor = self._ray.remote(Worker).options(num_cpus=1, max_concurrency=self._each, max_restarts=0)
        worker = actor.remote(self._sent, self._each)
        self._under_way[worker.opened.remote()] = worker, None

    def _hand_out(self) -> None:
        """Give each worker what it can take, evenly."""
        while self._waiting and (worker := max(self._free, key=self._free.__getitem__, default=None)):
            if not self._free[worker]:
                return
            self._budget.check()
            question = self._waiting.popleft()
            self._free[worker] -= 1
            self._under_way[worker.ask.remote(question)] = worker, question

    def _ended(self, reference: Any, worker: Any, question: BatchQuestion | None) -> None:
        try:
            came = self._ray.get(reference)
        except self._ray.exceptions.RayActorError as error:
            self._lost(worker, question, error)
        except self._ray.exceptions.RayTaskError as error:
            # What a worker raises, it raises here: a model that cannot be reached ends the run.
            raise error.cause from error
        else:
            if question is None:
                self._begun(worker, came)
                return
            self._free[worker] += 1
            usage = came.usage
            tokens = usage.prompt_tokens + usage.completion_tokens
            self._budget.add({"calls": usage.calls, "tokens": tokens, "usd": usage.cost_usd or 0.0})
            self._keep(question, came)

    def _begun(self, worker: Any, found: str) -> None:
        if found != self._work.mark:
            raise DataError(
                f"a worker of the cluster would answer with something else ({found}, and here {self._work.mark}): data, semantic model, "
                "what was taught, model, settings and version have to be the same on every node"
            )
        self._free[worker] = self._each

    def _lost(self, worker: Any, question: BatchQuestion | None, error: Exception) -> None:
        """Have another worker, and the question asked once more, unless that is what ends the workers."""
        self._free.pop(worker, None)
        name = question.question if question else ""
        self._losses[name] += 1
        if question is not None:
            self._waiting.appendleft(question)
        if self._losses[name] >= _MOST_LOSSES:
            what = f"the question {name!r} was" if question else "nothing was yet"
            raise DataError(
                f"{what} under way when {_MOST_LOSSES} workers of the cluster ended ({str(error).strip().splitlines()[0]}): look at "
                "the memory of the nodes, and whether this version of finexpert is installed on each; what is answered is kept"
            ) from error
        if not any(other is worker for other, _ in self._under_way.values()):
            self._engage()
