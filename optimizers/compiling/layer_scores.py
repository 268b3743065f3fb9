"""Each layer on its own examples, as it stands in the code and as a program has it.

    row = score_layer("planning", evaluation, journal)
    row.before.mean, row.after.mean, row.decision.interval       (0.31, 0.42, (0.02, 0.2))

Only the layer that is measured differs between the two; where a plan leaves something open, the other layers of the
program carry it out both times. A layer that the program leaves as it stands in the code is asked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import dspy
from pydantic import BaseModel

from finexpert.datasets.layers.records import Split
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling import gate
from finexpert.optimizers.compiling.journal import Journal, States, fingerprint
from finexpert.optimizers.compiling.search import Models, Search
from finexpert.optimizers.compiling.tasks import CompileBench, Record, task_of
from finexpert.optimizers.compiling.trial import states_of
from finexpert.optimizers.compiling.watching import Watch
from finexpert.optimizers.program.artifact import layers_of
from finexpert.optimizers.program.decision import Decision, Score


class LayerScore(BaseModel):
    """One layer asked by one model; `after` and what compares are None where the program has it as in the code."""

    layer: str
    model: str
    n: int
    before: Score
    calls_before: float
    after: Score | None = None
    calls_after: float | None = None
    decision: Decision | None = None
    scores: dict[str, tuple[float, float]]


@dataclass
class LayerEvaluation:
    """What layers are measured with: at most `most` examples of a split, chosen by `seed`."""

    bench: CompileBench
    models: LanguageModels
    model: str
    split: Split = "holdout"
    most: int | None = None
    seed: int = 0
    threads: int = 1
    watch: Watch = field(default_factory=Watch)


def score_layer(name: str, given: LayerEvaluation, journal: Journal) -> LayerScore:
    """Score a layer of `given.bench.expert`, and the same as it stands in the code; goes on from the journal."""
    task = task_of(name, given.bench)
    records = task.load(given.split, given.most, given.seed)
    base, compiled = (layers_of(expert)[name] for expert in (FinancialExpert(), given.bench.expert))
    models = Models(given.models, given.models, given.models.default)
    search = Search(task, base, models, journal, (), (), threads=given.threads, watch=given.watch)
    before = search.scores(states_of(base), records, given.split)
    row = LayerScore(
        layer=name,
        model=given.model,
        n=len(records),
        before=gate.score(before),
        calls_before=_calls(journal, states_of(base), records, given.split),
        scores=_pairs(records, before, before),
    )
    if not changed(name, given.bench.expert):
        return row
    after = search.scores(states_of(compiled), records, given.split)
    compared = {
        "after": gate.score(after),
        "calls_after": _calls(journal, states_of(compiled), records, given.split),
        "decision": gate.not_worse(before, after, ids=[record.id for record in records]),
        "scores": _pairs(records, before, after),
    }
    return row.model_copy(update=compared)


def changed(name: str, expert: dspy.Module) -> bool:
    """Whether a program has a layer otherwise than the code."""
    mine, code = (fingerprint(states_of(layers_of(each)[name])) for each in (expert, FinancialExpert()))
    return mine != code


def _pairs(
    records: Sequence[Record], before: Sequence[float], after: Sequence[float]
) -> dict[str, tuple[float, float]]:
    return {record.id: pair for record, *pair in zip(records, before, after, strict=True)}  # type: ignore[misc]


def _calls(journal: Journal, states: States, records: Sequence[Record], split: Split) -> float:
    """Calls of the model for one example, on average."""
    lines = [journal.scored(fingerprint(states), split, record.id) for record in records]
    return sum(line.spent.calls for line in lines if line is not None) / max(1, len(records))
