"""Compiling SQL extraction: the SELECTs must fetch the reference's rows, on two variants of the numbers.

A database of the user's own has its numbers alone: there a SELECT that is right by luck is taken for right.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import dspy

from finexpert.datasets.layers.inputs import to_dspy
from finexpert.datasets.layers.records import ReferenceFrame, SqlExtractionExample
from finexpert.datasets.layers.references import dialect_of, schema_card_of, variants_of, warehouse_of
from finexpert.errors import QueryError
from finexpert.modules.sql_extraction import asked_for, by_name
from finexpert.optimizers.compiling.metrics import DONE, Judged, frame_verdict, mean
from finexpert.optimizers.compiling.tasks import Task
from finexpert.signatures import rules
from finexpert.warehouse.suggestions import of_a_frame
from finexpert.warehouse.warehouse import Warehouse


class SqlExtractionTask(Task):
    """One call for all frames of an example, or one a frame; the score is the mean over the frames."""

    layer = "sql_extraction"
    ways = (frozenset({"write"}), frozenset({"write_one"}))

    def ask(self, layer: dspy.Module, record: SqlExtractionExample) -> Mapping[str, str]:
        """SELECTs by frame."""
        frames = record.extracts
        written = layer(
            question=record.question,
            dialect=dialect_of(record),
            schema_card=schema_card_of(record),
            frames=frames,
            today=record.today.isoformat(),
            knowledge=record.knowledge or rules.NONE,
        )
        return by_name(written.selects, frames)

    def judge(self, record: SqlExtractionExample, result: Mapping[str, str]) -> Judged:
        return mean([_of_frame(record, frame, result.get(frame.name)) for frame in record.frames])

    def right(self, record: SqlExtractionExample, place: str, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        return {"selects": to_dspy(record).selects}

    def demonstrations(self, layer: dspy.Module, record: SqlExtractionExample) -> dict[str, dspy.Example]:
        """For one frame at a time, the example's longest SELECT: short ones leave out what is hard, such as joins."""
        found = super().demonstrations(layer, record)
        extract, frame = max(zip(record.extracts, record.frames, strict=True), key=lambda pair: len(pair[1].select))
        inputs = {"knowledge": record.knowledge or rules.NONE, "today": record.today.isoformat(), **asked_for(extract)}
        told = {"dialect": dialect_of(record), "schema_card": schema_card_of(record)}
        one = {**told, **inputs, "select": frame.select}
        return {**found, "write_one": self.shortened(one)}


def _of_frame(record: SqlExtractionExample, frame: ReferenceFrame, select: str | None) -> Judged:
    if not select:
        return Judged(0.0, f"there is no SELECT for the frame {frame.name}: write one for each frame, under its name")
    sources = tuple(warehouse_of(record, variant) for variant in variants_of(record))
    verdict = _compared(sources, record.today, frame, select)
    if verdict == DONE:
        return DONE
    return Judged(verdict.score, f"the SELECT for {frame.name} ({frame.purpose}) is not right: {verdict.feedback}")


@lru_cache(maxsize=4096)
def _compared(sources: tuple[Warehouse, ...], today: dt.date, frame: ReferenceFrame, select: str) -> Judged:
    """One SELECT against its reference on all variants; candidates write many SELECTs alike."""
    for source in sources:
        try:
            mine = source.query(select, as_of=today).data
        except QueryError as error:
            return Judged(0.0, f"it fails: {of_a_frame(str(error), frame.name)}")
        verdict = frame_verdict(mine, source.query(frame.select, as_of=today).data)
        if verdict != DONE:
            return verdict
    return DONE


TASK = SqlExtractionTask
