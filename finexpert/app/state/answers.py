"""An `Answer` as rows of the state, and back: its body as JSON, its table as an Arrow stream, its figures as PNG."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.ipc

from finexpert.answers.records import Record
from finexpert.app.state.stored import PREVIEW_ROWS, Select, StoredAnswer
from finexpert.core.answers import Answer
from finexpert.core.encoding import encode
from finexpert.core.notes import in_order
from finexpert.modules.flow.filing_question import describe
from finexpert.sandbox.tables import decode_input, encode_input

# What a row of the table of answers says itself.
_OF_THE_ROW = {"id", "conversation", "number", "question", "state", "asked", "ended", "error", "liked"}


def body_of(answer: Answer, *, rerun_of: str | None = None) -> dict[str, Any]:
    """What is shown of an answer, as JSON."""
    frame = answer.value if isinstance(answer.value, pd.DataFrame) else None
    record: Record | None = answer.record
    shown = StoredAnswer(
        id="",
        conversation="",
        number=0,
        question=answer.question,
        state="finished",
        asked=dt.datetime.now(dt.UTC),
        status=answer.status,
        text=f"a table of {len(frame):,} rows" if frame is not None else answer.cited_text,
        value=None if frame is not None else encode(answer.value),
        format=answer.format,
        columns=[] if frame is None else [str(name) for name in frame.columns],
        rows=[] if frame is None else cells(frame.head(PREVIEW_ROWS)),
        row_count=None if frame is None else len(frame),
        period=answer.period,
        sentences=answer.sentences,
        explanation=answer.explanation,
        rephrased=answer.rephrased,
        meanings=answer.meanings,
        offers=answer.offers,
        processes=answer.processes,
        citations=[each.model_copy(update={"value": encode(each.value)}) for each in answer.citations],
        confidence=answer.confidence,
        flags=in_order(answer.flags),
        missing=answer.missing,
        failure=answer.failure,
        clarification=answer.clarification,
        usage=answer.usage,
        figures=len(answer.figures),
        rerun_of=rerun_of,
        **(_of_record(record) if record is not None else {}),
    )
    return shown.model_dump(mode="json", exclude=_OF_THE_ROW)


def _of_record(record: Record) -> dict[str, Any]:
    selects = [
        Select(frame=frame.name, sql=frame.select, columns=frame.columns, rows=frame.rows) for frame in record.frames
    ]
    return {
        "plan": record.plan.model_dump(mode="json"),
        "plan_words": describe(record.plan),
        "selects": selects,
        "script": record.script.code if record.script else None,
        "source_name": record.source.name,
        "as_of": record.as_of,
        "has_record": True,
    }


def shown(row: Any, liked: bool | None = None) -> StoredAnswer:
    """The answer of a row of the state."""
    names = ("id", "conversation", "number", "question", "state", "asked", "ended", "error")
    return StoredAnswer.model_validate({**(row["body"] or {}), **{name: row[name] for name in names}, "liked": liked})


def table_of(answer: Answer) -> bytes | None:
    """The table of an answer as an Arrow stream, with its own types; None where it is no table."""
    if not isinstance(answer.value, pd.DataFrame):
        return None
    frame = answer.value.set_axis([str(name) for name in answer.value.columns], axis=1)
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError):
        # Columns of mixed kinds, which Arrow has no type for.
        return encode_input(frame.reset_index(drop=True))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(memoryview(sink.getvalue()))


def frame_of(stream: bytes) -> pd.DataFrame:
    """The table of a stream that `table_of` made."""
    return decode_input(stream)


def cells(frame: pd.DataFrame) -> list[list[Any]]:
    """The rows of a frame as JSON holds them: a midnight as a day, nothing for what is missing.

    >>> cells(pd.DataFrame({"day": [pd.Timestamp("2020-04-01")], "rate": [float("nan")]}))
    [['2020-04-01', None]]
    """
    columns = [[_cell(value) for value in frame.iloc[:, place]] for place in range(len(frame.columns))]
    return [list(row) for row in zip(*columns, strict=True)]


def _cell(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") and not isinstance(value, pd.Timestamp) else value
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat(sep=" ")
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool) else str(value)
