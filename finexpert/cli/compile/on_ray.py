"""The scoring of a compile on a Ray cluster: each worker opens the examples as this process did, and scores a candidate on those it is told.

    finexpert compile sql_extraction --engine ray --threads 32

Recipes ask for themselves here, and so does the gate of the combined program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import dspy

from finexpert.batch.on_workers import Items, keeps_none, on_workers
from finexpert.cli.compile import own_examples
from finexpert.cli.options import Given
from finexpert.datasets.layers.records import Split
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scope import current
from finexpert.language_models.usage import Call, Meter
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling.journal import Line
from finexpert.optimizers.compiling.search import Engine, scored
from finexpert.optimizers.compiling.tasks import CompileBench, task_of
from finexpert.optimizers.compiling.trial import Trial, Trying
from finexpert.optimizers.program.fingerprints import digest
from finexpert.sandbox import Limits, Sandbox
from finexpert.settings import Settings, with_options


@dataclass(frozen=True)
class Opening:
    """What the examples of a compile are opened by; paths are of the folder."""

    given: Given
    examples: Sequence[str] | None
    only_own: bool
    layers: Sequence[str]
    convfinqa: Path | None
    folder: str

    def settings(self, expert: FinancialExpert) -> Settings:
        settings = replace(self.given, budget=None).settings(workers=2)
        return with_options(settings, getattr(expert, "options", {}))

    def bench(self, expert: FinancialExpert, settings: Settings, stack: ExitStack) -> CompileBench:
        sets = own_examples.sets_of(
            self.examples, self.only_own, self.layers, self.convfinqa, self.given.data, settings
        )
        stack.enter_context(sets.copies)
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="finexpert-compile-")))
        sandbox = Sandbox(Limits(wall_seconds=settings.script_seconds), workers=settings.workers)
        return CompileBench(stack.enter_context(sandbox), settings, folder, expert, sets)


@dataclass(frozen=True)
class Work:
    """A candidate to score: the layer, its name, and the program whose other layers run what it leaves open."""

    opening: Opening
    expert: FinancialExpert
    name: str
    layer: dspy.Module


class Worker:
    """An actor that has opened the examples of a layer, and scores one."""

    def __init__(self, work: Work, threads: int) -> None:
        self._work, self._stack = work, ExitStack()

    def opened(self) -> str:
        work = self._work
        os.chdir(work.opening.folder)
        settings = work.opening.settings(work.expert)
        bench = work.opening.bench(work.expert, settings, self._stack)
        task, models = task_of(work.name, bench), LanguageModels.from_settings(settings)
        for split in get_args(Split):
            task.load(split)
        self._trial = Trial(work.layer, Trying(task, models))
        return _mark(self._trial)

    def ask(self, id: str) -> tuple[Line, Sequence[Call]]:
        with Meter() as meter:
            line = scored(self._trial, id)
        return line, meter.calls

    def closed(self) -> None:
        self._stack.close()


def engine_of(opening: Opening, settings: Settings) -> Engine:
    """The engine; ConfigurationError for completions that are to be kept: each worker would have a file of its own."""
    keeps_none(settings.record)

    def engine(trial: Trial, ids: Sequence[str], keep: Callable[[Line], None], threads: int) -> None:
        scope, task = current(), trial.trying.task
        work = Work(opening, task.bench.expert, task.layer, trial.layer)

        def check() -> None:
            for budget in scope.budgets:
                budget.check()

        def came(id: str, found: tuple[Line, Sequence[Call]]) -> None:
            line, calls = found
            for budget in scope.budgets:
                budget.add(line.spent.model_dump())
            for meter in scope.meters:
                for call in calls:
                    meter.add(call)
            keep(line)

        on_workers(Worker, work, _mark(trial), Items(ids, came, check, str), threads)

    return engine


def _mark(trial: Trial) -> str:
    """What must be the same for a worker's scores to be those of this process."""
    task, settings = trial.trying.task, trial.trying.task.bench.settings
    told: dict[str, Any] = {
        "models": {name: value for name, value in trial.trying.models.describe().items() if name != "found"},
        "examples": task.bench.examples.fingerprint(task.layer),
        "settings": [settings.drafts, settings.judge, settings.retries, settings.privacy, settings.embedder],
    }
    return digest(told)
