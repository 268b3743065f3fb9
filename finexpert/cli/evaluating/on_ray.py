"""The questions of an evaluation on a Ray cluster: each worker opens the evaluation as this process did, and is told which to ask.

    finexpert eval fred --data postgresql+psycopg://desk@db/fred --engine ray --threads 32

A worker makes the same jobs out of the same options, data and examples: what it would go on from has to have the same mark as here.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from finexpert.batch.on_workers import Items, keeps_none, on_workers
from finexpert.cli.evaluating.report import EVALUATIONS, Asked, Evaluation, Several
from finexpert.cli.options import Given
from finexpert.core.ray_cluster import check_installed
from finexpert.datasets.evaluations.journal import Engine, Journal
from finexpert.language_models.scope import current
from finexpert.language_models.usage import Meter


@dataclass(frozen=True)
class Work:
    """An evaluation as it was asked for: its command and where that is, what was given, which of several it is, and the folder that paths are of."""

    module: str
    name: str
    given: Given
    args: tuple[Any, ...]
    options: Mapping[str, Any]
    number: int
    folder: str


class Worker:
    """An actor that has opened the evaluation, and asks what has a key."""

    def __init__(self, work: Work, threads: int) -> None:
        self._work, self._stack, self._jobs = work, ExitStack(), _Jobs()

    def opened(self) -> str:
        work = self._work
        os.chdir(work.folder)
        # It registers the evaluation.
        import_module(work.module)
        opens = contextmanager(EVALUATIONS[work.name][0])
        evaluation = each_of(self._stack.enter_context(opens(work.given, *work.args, **work.options)))[work.number]
        self._jobs.begin(evaluation)
        return evaluation.mark

    def ask(self, key: Any) -> tuple[Any, dict[str, float]]:
        """The result of a job, and what it took."""
        return self._jobs.ask(key)

    def closed(self) -> None:
        self._jobs.end()
        self._stack.close()


class _Over(Exception):
    """Ends what asks, in a worker that is asked no more."""


class _Jobs(Journal[Any]):
    """Takes the jobs of an evaluation, and holds what it opened for them as long as the worker lasts."""

    def __init__(self) -> None:
        self.results: list[Any] = []
        self._ready, self._ended = threading.Event(), threading.Event()
        self._failure: Exception | None = None

    def begin(self, evaluation: Evaluation[Any]) -> None:
        """Raises what the evaluation raises before it asks anything."""
        self._thread = threading.Thread(target=copy_context().run, args=(self._asked, evaluation), daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def _asked(self, evaluation: Evaluation[Any]) -> None:
        try:
            evaluation.ask(self, lambda result: None)
        except _Over:
            return
        except Exception as error:  # noqa: BLE001  (raised where it is waited for)
            self._failure = error
        self._ready.set()

    def fill(
        self,
        ask: Callable[..., Any],
        jobs: Mapping[Any, tuple[Any, ...]],
        key: Callable[[Any], Any],
        *,
        threads: int,
        on_result: Callable[[Any], None],
    ) -> list[Any]:
        self._ask, self._by_key, self._context = ask, jobs, copy_context()
        self._ready.set()
        self._ended.wait()
        raise _Over

    def ask(self, key: Any) -> tuple[Any, dict[str, float]]:
        context: Context = self._context.copy()
        return context.run(self._measured, self._by_key[key])

    def _measured(self, job: tuple[Any, ...]) -> tuple[Any, dict[str, float]]:
        with Meter() as meter:
            result = self._ask(*job)
        calls = meter.calls
        tokens = sum(call.prompt_tokens + call.completion_tokens for call in calls)
        paid = sum(call.cost or 0.0 for call in calls if not (call.cached or call.replayed))
        return result, {"calls": len(calls), "tokens": tokens, "usd": paid}

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


def each_of(asked: Asked) -> Sequence[Evaluation[Any]]:
    """The evaluations that a command opens."""
    return asked.evaluations if isinstance(asked, Several) else [asked] if asked is not None else []


def engine_of(
    module: str, name: str, given: Given, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Callable[[Evaluation[Any], int], Engine]:
    """The engine of each evaluation that a command opens; the budget is looked at before a job is given out.

    ConfigurationError for completions that are to be kept: each worker would have a file of its own.
    """
    # Before it is opened: lessons that are played first may cost calls.
    keeps_none(given.settings().record)
    check_installed()

    def of(evaluation: Evaluation[Any], number: int) -> Engine:
        work = Work(module, name, given, args, options, number, str(Path.cwd()))

        def engine(keys: Sequence[Any], keep: Callable[[Any], None], threads: int) -> None:
            budgets = current().budgets

            def check() -> None:
                for budget in budgets:
                    budget.check()

            def came(key: Any, found: tuple[Any, dict[str, float]]) -> None:
                for budget in budgets:
                    budget.add(found[1])
                keep(found[0])

            on_workers(Worker, work, evaluation.mark, Items(keys, came, check, str), threads)

        return engine

    return of
