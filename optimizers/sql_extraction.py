"""Compiling SQL extraction: the SELECTs must fetch the reference's rows, on two variants of the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from finexpert.datasets.example_warehouses import open_scenario
from finexpert.datasets.layer_inputs import to_dspy
from finexpert.datasets.layer_records import ReferenceFrame, SqlExtractionExample
from finexpert.datasets.layer_references import VARIANTS, frames_of
from finexpert.errors import QueryError
from finexpert.modules.sql_extraction import by_name
from finexpert.optimizers.metrics import DONE, Verdict, frame_verdict, mean
from finexpert.optimizers.tasks import Task
from finexpert.signatures import rules


class SqlExtractionTask(Task):
    """One call for all frames of an example; the score is the mean over the frames."""

    layer = "sql_extraction"

    def ask(self, layer: dspy.Module, record: SqlExtractionExample) -> Mapping[str, str]:
        """SELECTs by frame."""
        frames = record.extracts
        written = layer(
            question=record.question,
            schema_card=open_scenario(record.scenario).schema_card(),
            frames=frames,
            today=record.today.isoformat(),
            knowledge=record.knowledge or rules.NONE,
        )
        return by_name(written.selects, frames)

    def judge(self, record: SqlExtractionExample, result: Mapping[str, str]) -> Verdict:
        return mean([_of_frame(record, frame, result.get(frame.name)) for frame in record.frames])

    def right(self, record: SqlExtractionExample, place: str, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        return {"selects": to_dspy(record).selects}


def _of_frame(record: SqlExtractionExample, frame: ReferenceFrame, select: str | None) -> Verdict:
    if not select:
        return Verdict(0.0, f"there is no SELECT for the frame {frame.name}: write one for each frame, under its name")
    for variant in VARIANTS:
        right = next(each for each in frames_of(record, variant) if each.name == frame.name).data
        try:
            mine = open_scenario(record.scenario, variant).query(select, as_of=record.today).data
        except QueryError as error:
            return Verdict(0.0, f"the SELECT for {frame.name} fails: {error}")
        verdict = frame_verdict(mine, right)
        if verdict != DONE:
            return Verdict(
                verdict.score, f"the SELECT for {frame.name} ({frame.purpose}) is not right: {verdict.feedback}"
            )
    return DONE


TASK = SqlExtractionTask
