"""A layer on trial: asked about examples by their id, and judged; this is the program that optimizers tune.

    trial = Trial(SqlExtraction(), Trying(task, models))
    prediction = trial(example_id="trades_without_fee")
    trying.judge(example, prediction)                       # Judged(score=0.5, feedback="the frame fees: ...")

The layer runs as it runs in the program, on what the program gives it. Text that cannot be used is a result with a
score of 0; an unreachable model or a budget that is used up is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from finexpert.errors import FinexpertError, OutputError
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.usage import Meter
from finexpert.modules.calling import using
from finexpert.optimizers.compiling.journal import Journal, Line, Spent, States, fingerprint
from finexpert.optimizers.compiling.metrics import Judged
from finexpert.optimizers.compiling.tasks import Task
from finexpert.optimizers.program.artifact import fill, states_of


def with_states(layer: dspy.Module, states: States) -> dspy.Module:
    """A fresh layer of the same class with these states."""
    fresh: dspy.Module = type(layer)()
    fill(fresh, states)
    return fresh


class Trying:
    """What a trial is made with; copies of a trial share it.

    `seen` are the states of every program asked. With `patient`, an error that is no fault of the program is kept in
    `error` instead of raised, and the rest is not asked any more: optimizers that swallow errors come to their end.
    """

    def __init__(self, task: Task, models: LanguageModels, *, patient: bool = False) -> None:
        self.task, self.models, self.patient = task, models, patient
        self.error: FinexpertError | None = None
        self.seen: dict[str, States] = {}
        self.journal: Journal | None = None
        self.splits: dict[str, str] = {}

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Trying:
        return self

    def judge(self, gold: dspy.Example, pred: dspy.Prediction) -> Judged:
        """The verdict on one prediction; judged once."""
        if pred.get("verdict") is None:
            pred.verdict = self._judged(gold.example_id, pred)
        verdict: Judged = pred.verdict
        return verdict

    def _judged(self, id: str, pred: dspy.Prediction) -> Judged:
        if pred.get("failure") is not None:
            verdict = Judged(0.0, pred.failure)
        elif pred.get("result") is None:
            return Judged(0.0, "it was not asked")
        else:
            verdict = self.task.judge(self.task.record(id), pred.result)
        if self.task.record(id).split == "holdout":
            # What to change may tell what is right.
            verdict = verdict._replace(feedback="")
        if self.journal is not None and id in self.splits:
            found = Line(kind="scored", program=pred.program, split=self.splits[id], id=id, **verdict._asdict())
            self.journal.add_scored(found)
        return verdict


class Trial(dspy.Module):  # type: ignore[misc]
    """A layer with one input, the id of an example. The prediction has `result` or `failure`, `program` and `spent`."""

    def __init__(self, layer: dspy.Module, trying: Trying) -> None:
        super().__init__()
        self.layer = layer
        self.trying = trying

    def forward(self, example_id: str) -> dspy.Prediction:
        trying = self.trying
        states = states_of(self.layer)
        program = fingerprint(states)
        trying.seen.setdefault(program, states)
        if trying.error is not None:
            return self._not_asked(program)
        record = trying.task.record(example_id)
        result, failure = None, None
        with using(trying.models), Meter() as meter:
            try:
                result = trying.task.call(self.layer, record)
            except OutputError as error:
                failure = str(error)
                self._trace(error, record.question)
            except FinexpertError as error:
                if not trying.patient:
                    raise
                trying.error = error
                return self._not_asked(program)
        return dspy.Prediction(result=result, failure=failure, program=program, spent=Spent.of(meter.calls))

    def line(self, id: str) -> Line:
        """What it came to on one example."""
        # Nobody reads the traces of scoring, and DSPy would keep the last ten thousand.
        with dspy.context(trace=None):
            pred = self(example_id=id)
        verdict = self.trying.judge(dspy.Example(example_id=id), pred)
        return Line(kind="scored", program=pred.program, id=id, spent=pred.spent, **verdict._asdict())

    def _trace(self, error: OutputError, question: str) -> None:
        """Keep what could not be read in the trace, where DSPy keeps only what could: reflection needs to see it."""
        cause, trace = error.__cause__, dspy.settings.trace
        if trace is None or not isinstance(cause, AdapterParseError):
            return
        for predictor in self.layer.predictors():
            if predictor.signature.instructions == cause.signature.instructions:
                text = dspy.Prediction(unusable_text=str(cause.lm_response)[:2000])
                trace.append((predictor, {"question": question}, text))

    def _not_asked(self, program: str) -> dspy.Prediction:
        # Reflection stops with an error of its own where it finds no trace at all.
        if dspy.settings.trace is not None:
            dspy.settings.trace.extend((p, {}, dspy.Prediction()) for p in self.layer.predictors())
        return dspy.Prediction(result=None, failure=None, program=program, spent=Spent())
