"""The scoring of a compile on a Ray cluster: each worker opens what this process did, and scores a program on what it is told.

    finexpert compile sql_extraction --engine ray --threads 32

Candidates are scored there, and the combined program; recipes ask for themselves here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import get_args

import dspy

from finexpert.batch.on_workers import Items, keeps_none, on_workers
from finexpert.cli.compile.opening import Opening
from finexpert.core.ray_cluster import connected
from finexpert.datasets.layers.records import Split
from finexpert.errors import DataError
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scope import current
from finexpert.language_models.usage import Call, Meter
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling.journal import Journal, Line
from finexpert.optimizers.compiling.search import Engine
from finexpert.optimizers.compiling.tasks import CompileBench, task_of
from finexpert.optimizers.compiling.trial import Trial, Trying
from finexpert.optimizers.compiling.whole_program import Asking, Way, Whole
from finexpert.optimizers.program.fingerprints import digest
from finexpert.settings import Settings


@dataclass(frozen=True)
class OfLayer:
    """A candidate, which is asked the examples of its layer."""

    name: str
    layer: dspy.Module

    def opened(self, opening: Opening, bench: CompileBench, models: LanguageModels, stack: ExitStack) -> Trial:
        task = task_of(self.name, bench)
        for split in get_args(Split):
            task.load(split)
        return Trial(self.layer, Trying(task, models))


@dataclass(frozen=True)
class OfSample:
    """A combined program, which is asked a sample."""

    name: str
    way: Way

    def opened(self, opening: Opening, bench: CompileBench, models: LanguageModels, stack: ExitStack) -> Asking:
        journal = Journal(bench.folder / "whole_program.jsonl")
        given = opening.sample(bench, stack)
        whole = Whole(sandbox=bench.sandbox, models=models, settings=bench.settings, journal=journal, **given)
        samples = {sample.name: sample for sample in whole.samples(self.way.fingerprints)}
        if self.name not in samples:
            raise DataError(f"a worker of the cluster has no {self.name}: the data have to be the same on every node")
        return Asking(whole, self.way, samples[self.name])


@dataclass(frozen=True)
class Work:
    """What to score, and the program whose other layers run what a candidate leaves open."""

    opening: Opening
    expert: FinancialExpert
    part: OfLayer | OfSample


class Worker:
    """An actor that has opened what a program is asked, and scores it."""

    def __init__(self, work: Work, threads: int) -> None:
        self._work, self._stack = work, ExitStack()

    def opened(self) -> str:
        opening, expert = self._work.opening, self._work.expert
        os.chdir(opening.folder)
        settings = opening.settings(expert)
        bench = opening.bench(expert, settings, self._stack)
        self._scored = self._work.part.opened(opening, bench, LanguageModels.from_settings(settings), self._stack)
        return _mark(self._scored)

    def ask(self, id: str) -> tuple[Line, Sequence[Call]]:
        with Meter() as meter:
            line = self._scored.line(id)
        return line, meter.calls

    def closed(self) -> None:
        self._stack.close()


@contextmanager
def engine_of(opening: Opening, settings: Settings, expert: FinancialExpert) -> Iterator[Engine]:
    """The engine; ConfigurationError for completions that are to be kept: each worker would have a file of its own."""
    keeps_none(settings.record)

    def engine(scored: Trial | Asking, ids: Sequence[str], keep: Callable[[Line], None], threads: int) -> None:
        scope = current()
        work = Work(opening, expert, _part(scored))

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

        on_workers(Worker, work, _mark(scored), Items(ids, came, check, str), threads)

    # One cluster for all that is scored: starting one takes seconds.
    with connected():
        yield engine


def _part(scored: Trial | Asking) -> OfLayer | OfSample:
    if isinstance(scored, Trial):
        return OfLayer(scored.trying.task.layer, scored.layer)
    return OfSample(scored.sample.name, scored.way)


def _mark(scored: Trial | Asking) -> str:
    """What must be the same for a worker's scores to be those of this process."""
    asked: list[object]
    if isinstance(scored, Trial):
        task, models = scored.trying.task, scored.trying.models
        settings, asked = task.bench.settings, [task.bench.examples.fingerprint(task.layer)]
    else:
        whole = scored.whole
        settings, models, asked = whole.settings, whole.models, [scored.sample.ids, whole.source.snapshot()]
        asked += [whole.taught.fingerprint()] if whole.taught else []
    told = {
        "models": {name: value for name, value in models.describe().items() if name != "found"},
        "asked": asked,
        "settings": [settings.drafts, settings.judge, settings.retries, settings.privacy, settings.embedder],
    }
    return digest(told)
