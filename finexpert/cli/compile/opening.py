"""What a compile opens: the examples of its layers, and the samples of the combined program; a worker of a cluster opens the same."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from finexpert.cli import common
from finexpert.cli.compile import own_examples
from finexpert.cli.options import Given
from finexpert.datasets.convfinqa import conversations as convfinqa
from finexpert.datasets.desk.house import house_transcripts
from finexpert.datasets.fred.database import open_data
from finexpert.datasets.fred.questions import load_questions
from finexpert.datasets.fred.series import TABLES
from finexpert.embeddings.embedding import embedder
from finexpert.knowledge.taught import Taught
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling.tasks import CompileBench
from finexpert.optimizers.compiling.taught_sample import house_sample, taught_by_file
from finexpert.sandbox import Limits, Sandbox
from finexpert.settings import Settings, with_options
from finexpert.warehouse.warehouse import Warehouse


class Sizes(NamedTuple):
    """How much is asked of the combined program."""

    questions: int
    conversations: int
    house: int


@dataclass(frozen=True)
class Opening:
    """What the examples of a compile are opened by; paths are of the folder."""

    given: Given
    examples: Sequence[str] | None
    only_own: bool
    layers: Sequence[str]
    convfinqa: Path | None
    sizes: Sizes
    seed: int
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

    def sample(self, bench: CompileBench, stack: ExitStack) -> dict[str, Any]:
        """The questions and conversations for the combined program: of the user's copies, else the packaged ones."""
        asked, seed = load_questions(), self.seed
        chosen = random.Random(f"{seed} whole").sample(asked, min(self.sizes.questions, len(asked)))
        copy = bench.settings.home / "convfinqa" / "dev.json"
        talks = convfinqa.load(copy if copy.is_file() else None) if self.sizes.conversations else []
        return {
            "source": with_fred(bench, stack),
            "questions": chosen,
            "conversations": convfinqa.sample(talks, self.sizes.conversations, seed) if talks else [],
            "house": house_sample(self.sizes.house, seed),
            "taught": stack.enter_context(_taught(bench)) if self.sizes.house else None,
        }


def with_fred(bench: CompileBench, stack: ExitStack) -> Warehouse:
    """The database of --data if it has FRED's tables, which the questions for the combined program ask; else the home's."""
    own = bench.examples.copies.warehouse
    if set(TABLES) <= set(own.columns()):
        return own
    home = open_data(settings=bench.settings)
    stack.enter_context(home)
    common.console().print(
        f"{own.name} has not the tables of FRED: the combined program is asked of {home.label or home.name}",
        markup=False,
        soft_wrap=True,
    )
    return home


def _taught(bench: CompileBench) -> Taught:
    """A store of this compile that knows what the house questions need; no model is asked for it."""
    taught = Taught.open(bench.folder / "house.sqlite", embedder(bench.settings.embedder))
    taught_by_file(taught, house_transcripts())
    return taught
