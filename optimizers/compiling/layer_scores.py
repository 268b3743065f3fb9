"""Each layer on its own examples, as it stands in the code and as a program has it.

    asked = jobs([evaluation], ["planning"])
    row = layer_score("planning", evaluation, asked, {key: scored_by(*job) for key, job in asked.items()})
    row.before.mean, row.after.mean, row.decision.interval       (0.31, 0.42, (0.02, 0.2))

Only the layer that is measured differs between the two; where a plan leaves something open, the other layers of the
program carry it out both times. A layer that the program leaves as it stands in the code is asked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from finexpert.datasets.layers.records import Split
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling import gate
from finexpert.optimizers.compiling.journal import Line, fingerprint
from finexpert.optimizers.compiling.tasks import CompileBench, task_of
from finexpert.optimizers.compiling.trial import Trial, Trying
from finexpert.optimizers.program.artifact import layers_of, states_of
from finexpert.optimizers.program.decision import Decision, Score

# Which part of a journal a line is of, the program, and the example.
Key = tuple[str, str, str]


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

    def of(self, layer: str) -> str:
        """The part of a journal."""
        return f"{layer}, {self.model}"


def jobs(given: Sequence[LayerEvaluation], names: Sequence[str]) -> dict[Key, tuple[str, Split, Trial, str]]:
    """What there is to score, for `scored_by`: a layer after the other, by one model after the other."""
    found: dict[Key, tuple[str, Split, Trial, str]] = {}
    for each in given:
        for name in names:
            task, of = task_of(name, each.bench), each.of(name)
            records = task.load(each.split, each.most, each.seed)
            for expert in (FinancialExpert(), each.bench.expert):
                layer = layers_of(expert)[name]
                trial, program = Trial(layer, Trying(task, each.models)), fingerprint(states_of(layer))
                found |= {(of, program, record.id): (of, each.split, trial, record.id) for record in records}
    return found


def scored_by(of: str, split: Split, trial: Trial, id: str) -> Line:
    """What a layer came to on one example."""
    return trial.line(id).model_copy(update={"of": of, "split": split})


def key_of(line: Line) -> Key:
    """What it was scored for."""
    return line.of, line.program, line.id


def layer_score(
    name: str, given: LayerEvaluation, asked: Iterable[Key], lines: Mapping[Key, Line]
) -> LayerScore | None:
    """The score of a layer of `given.bench.expert` beside that of the code; None where not all that was asked has a line."""
    code, mine = (fingerprint(states_of(layers_of(each)[name])) for each in (FinancialExpert(), given.bench.expert))
    of = given.of(name)
    ids = [id for part, program, id in asked if (part, program) == (of, code)]
    if not all((of, program, id) in lines for program in (code, mine) for id in ids):
        return None
    before, after = ([lines[of, program, id] for id in ids] for program in (code, mine))
    scores, others = ([line.score for line in each] for each in (before, after))
    row = LayerScore(
        layer=name,
        model=given.model,
        n=len(ids),
        before=gate.score(scores),
        calls_before=_calls(before),
        scores=dict(zip(ids, zip(scores, others, strict=True), strict=True)),
    )
    if code == mine:
        return row
    decision = gate.not_worse(scores, others, ids=ids)
    return row.model_copy(update={"after": gate.score(others), "calls_after": _calls(after), "decision": decision})


def _calls(lines: Sequence[Line]) -> float:
    """Calls of the model for one example, on average."""
    return sum(line.spent.calls for line in lines) / max(1, len(lines))
