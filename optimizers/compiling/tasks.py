"""What compiling has to know of a layer: its examples, how one is asked and run, and what is right for each predictor.

    task = task_of("sql_extraction", bench)
    result = task.call(SqlExtraction(), task.load("val")[0])       # asks the layer's own predictor
    task.judge(record, result)                                     # Judged(score=0.5, feedback="the frame debt: ...")

One file a layer has its class: `sql_extraction`, `script_generation`, `planning`, `memory_lookup`, `keyword_rephrasing`.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import dspy

from finexpert.datasets.layers import examples as layer_examples
from finexpert.datasets.layers.inputs import to_dspy
from finexpert.datasets.layers.records import Split
from finexpert.datasets.layers.sets import ExampleSets
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling.metrics import Judged
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.signatures import rules

Record = Any  # one of `layer_examples.LayerExample`


@dataclass
class CompileBench:
    """What examples are run with. `folder` is for stores that are gone afterwards; `examples` are the packaged ones,
    if nothing else is said. `expert` is the program so far, whose other layers run what a plan leaves open.
    """

    sandbox: Sandbox
    settings: Settings
    folder: Path
    expert: FinancialExpert = field(default_factory=FinancialExpert)
    examples: ExampleSets = field(default_factory=ExampleSets)


class Task(ABC):
    """A layer as it is compiled."""

    layer: ClassVar[str]
    # Where a layer can ask in more than one way, the predictors of each: a candidate compiles those of one way.
    ways: tuple[frozenset[str], ...] = ()
    # Inputs that differ from place to place and are long: demonstrations go without them.
    left_out: ClassVar[frozenset[str]] = frozenset({"schema_card", "feedback"})

    def __init__(self, bench: CompileBench) -> None:
        self.bench = bench
        self._by_id: dict[str, Record] = {}

    def load(self, split: Split, most: int | None = None, seed: int = 0) -> list[Record]:
        """The examples of a split, at most so many: then the scenarios in turn, each in a random order."""
        records = self.bench.examples.load(self.layer, split)
        chosen = records if most is None else _in_turn(records, seed)[:most]
        self._by_id |= {record.id: record for record in chosen}
        self.prepare()
        return list(chosen)

    def prepare(self) -> None:  # noqa: B027  (most share nothing)
        """Make what all examples share, before threads ask for it."""

    def record(self, id: str) -> Record:
        """An example that was loaded."""
        return self._by_id[id]

    def example(self, record: Record) -> dspy.Example:
        """The example as optimizers see it: its only input is its id, with which a trial finds the record."""
        fields = dict(to_dspy(record, drafts=self.bench.settings.drafts).items())
        return dspy.Example(**{**fields, "example_id": record.id}).with_inputs("example_id")

    def call(self, layer: dspy.Module, record: Record) -> Any:
        """Ask the layer, and run what it gave as far as that takes models. Raises OutputError for unusable text."""
        return self.run(record, self.ask(layer, record))

    @abstractmethod
    def ask(self, layer: dspy.Module, record: Record) -> Any:
        """Ask the layer as the program does."""

    def run(self, record: Record, asked: Any) -> Any:
        """What comes of it with the help of other layers."""
        return asked

    @abstractmethod
    def judge(self, record: Record, result: Any) -> Judged:
        """Score what `call` gave; no model is asked."""

    @abstractmethod
    def right(self, record: Record, place: str, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The right outputs of one predictor for these inputs; None where the example does not tell."""

    def demonstrations(self, layer: dspy.Module, record: Record) -> dict[str, dspy.Example]:
        """The example as a demonstration for each predictor that the layer asks about it.

        The layer runs on the right outputs instead of a model's, so the inputs are those that it makes itself.
        """
        copy = layer.deepcopy()
        found: dict[str, dspy.Example] = {}
        for name, predictor in layer.named_sub_modules(dspy.Predict):
            place = name.removeprefix("self.")
            stub = _Right(predictor.signature, self, record, place, found)
            dspy.primitives.module.set_attribute_by_name(copy, place, stub)
        try:
            self.ask(copy, record)
        except _Untold:
            return {}
        return found

    def shortened(self, demo: Mapping[str, Any]) -> dspy.Example:
        """A demonstration without what is long or empty; of the schema, the tables that its SELECTs read."""
        kept = {name: value for name, value in demo.items() if name not in self.left_out and value != rules.NONE}
        if part := tables_read(str(demo.get("schema_card", "")), demo.get("selects") or [demo.get("select", "")]):
            # A small model that sees SELECTs without their tables takes the frames' names for tables.
            kept = {"schema_card": part, **kept}
        return dspy.Example(**kept)


class _Untold(BaseException):
    """The example does not tell what is right. Never leaves this file."""


class _Right(dspy.Predict):  # type: ignore[misc]
    """Stands for a predictor and gives what is right."""

    def __init__(self, signature: Any, task: Task, record: Record, place: str, found: dict[str, dspy.Example]) -> None:
        super().__init__(signature)
        self._told = (task, record, place, found)

    def forward(self, **inputs: Any) -> dspy.Prediction:
        task, record, place, found = self._told
        outputs = task.right(record, place, inputs)
        if outputs is None:
            raise _Untold
        found[place] = task.shortened({**inputs, **outputs})
        return dspy.Prediction(**outputs)


def tables_read(card: str, selects: Iterable[object]) -> str:
    """The part of a schema card about the tables that SELECTs read.

    >>> tables_read("table gdp\\n  value DOUBLE\\n\\ntable cpi\\n  value DOUBLE",
    ...             ["SELECT value FROM gdp"])
    'table gdp\\n  value DOUBLE'
    """
    text = " ".join(map(str, selects))
    blocks = [block for block in card.split("\n\n") if (named := re.match(r'table "?([^":\n]+)', block))
              and re.search(rf"\b{re.escape(named[1])}\b", text)]  # fmt: skip
    return "\n\n".join(blocks)


def _in_turn(records: Sequence[Record], seed: int) -> list[Record]:
    groups: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in records:
        groups[(type(record).__name__, *_group(record))].append(record)
    for key, group in groups.items():
        random.Random(f"{seed} {key}").shuffle(group)
    longest = max(map(len, groups.values()), default=0)
    return [group[place] for place in range(longest) for _, group in sorted(groups.items()) if place < len(group)]


def _group(record: Record) -> Iterable[str]:
    # A page has few turns: for filings, the kind of example is group enough.
    if hasattr(record, "page"):
        return ()
    return (str(record.scenario), str(getattr(record, "kind", "")))


def task_of(layer: str, bench: CompileBench) -> Task:
    """The task of a layer; ConfigurationError for a layer without an example set."""
    layer_examples.kind_of(layer)
    made: Task = import_module(f"finexpert.optimizers.{layer}").TASK(bench)
    return made
