"""Compiling script generation: the script must give the reference's typed value, on two variants of the numbers.

Over a database of the user's own it is run on its numbers alone. Neither rows nor values go into a prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from finexpert.datasets.evaluations.answer_matching import matches
from finexpert.datasets.layers.records import ScriptExample
from finexpert.datasets.layers.references import answer_of, frames_of, variants_of
from finexpert.errors import AnswerFormatError, ScriptError
from finexpert.optimizers.compiling.metrics import DONE, Judged
from finexpert.optimizers.compiling.tasks import Task
from finexpert.signatures import rules

RAN = 0.2


class ScriptGenerationTask(Task):
    """One script for an example, over the frames of its reference SELECTs."""

    layer = "script_generation"

    def ask(self, layer: dspy.Module, record: ScriptExample) -> str:
        """The code."""
        code: str = layer(
            question=record.question,
            frames=frames_of(record),
            task=record.task,
            answer_format=record.answer_format,
            today=record.today.isoformat(),
            knowledge=record.knowledge or rules.NONE,
        ).script.code
        return code

    def judge(self, record: ScriptExample, result: str) -> Judged:
        for variant in variants_of(record):
            right = answer_of(record, self.bench.sandbox, variant)
            frames = {frame.name: frame.data for frame in frames_of(record, variant)}
            try:
                mine = self.bench.sandbox.run(result, frames, record.answer_format).value
            except (ScriptError, AnswerFormatError) as error:
                return Judged(0.0, f"the script fails: {error}")
            if not matches(mine, right, record.answer_format):
                return Judged(RAN, f"the script runs and gives another value; it has to do: {record.task}")
        return DONE

    def right(self, record: ScriptExample, place: str, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        return {"code": record.code}


TASK = ScriptGenerationTask
