"""An answer of a batch as a row, and the rows as a table beside the columns of the questions.

    status    text            kind     value  number  date  unit        ...  calls  seconds  record
    answered  3 recessions    integer  3      3.0     None  recessions  ...  1      2.5      20241122-ab12cd
    failed    None            None     None   NaN     None  None        ...  3      9.1      20241122-cd34ef

`value` is the whole answer as text: a number with every digit, a date as 2020-02-01, a list or a table as JSON. `number` and `date`
hold it once more where it is a single one; a whole number that a float would round stands in `value` alone. Where there is no answer
all of them are empty, and `reason` says why; of a part of an answer it says what is missing, from which source.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
from pydantic import BaseModel, Field

from finexpert.core.answers import Answer
from finexpert.core.display.parts import Parts
from finexpert.core.encoding import encode
from finexpert.core.statuses import gives_value
from finexpert.errors import ConfigurationError

NOT_ASKED = "not_asked"
_EXACT = 2**53


class AnswerRow(BaseModel):
    """What is told of one answer; the columns of the table, in their order."""

    status: str = Field(description="answered, partial, not_found, needs_clarification, failed or not_asked")
    text: str | None = Field(default=None, description="the answer as it is shown, with its unit")
    kind: str | None = None
    value: str | None = None
    number: float | None = None
    date: dt.date | None = None
    unit: str | None = None
    period: str | None = None
    explanation: str | None = None
    confidence: int | None = None
    flags: list[str] = Field(default_factory=list)
    citations: list[str] = Field(default_factory=list, description="cells and sentences of filings")
    failed_layer: str | None = None
    failed_kind: str | None = None
    reason: str | None = Field(
        default=None, description="why there is no answer, what a part of one lacks, or the question back"
    )
    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = Field(default=None, description="None where the price is not known")
    seconds: float = 0.0
    record: str | None = Field(default=None, description="id of the record, for `finexpert replay`")
    figures: list[str] = Field(default_factory=list, description="files of charts")


COLUMNS = tuple(AnswerRow.model_fields)


def row_of(answer: Answer, figures: Sequence[str] = ()) -> AnswerRow:
    """The row of an answer; its record is kept by the caller.

    >>> row = row_of(Answer(question="Which day?", status="answered", value=dt.date(2020, 2, 1)))
    >>> row.value, row.date, row.number
    ('2020-02-01', datetime.date(2020, 2, 1), None)
    """
    given = _value(answer) if gives_value(answer.status) else {}
    reason = None if answer.status == "answered" else _reason(answer)
    usage, failure = answer.usage, answer.failure
    return AnswerRow(
        status=answer.status,
        period=answer.period,
        explanation=answer.explanation,
        confidence=answer.confidence,
        flags=list(answer.flags),
        citations=Parts.of(answer).citations,
        failed_layer=failure.layer if failure else None,
        failed_kind=failure.kind if failure else None,
        calls=usage.calls,
        tokens=usage.prompt_tokens + usage.completion_tokens,
        cost_usd=usage.cost_usd,
        seconds=round(usage.seconds, 3),
        record=answer.record.id if answer.record else None,
        figures=list(figures),
        reason=reason,
        **given,
    )


def asked_elsewhere(row: AnswerRow, number: int) -> AnswerRow:
    """The row of a question that was asked once, with row `number`; what it cost stands there."""
    flags = [*row.flags, f"the same question as in row {number}, asked once"]
    return row.model_copy(update={"flags": flags, "calls": 0, "tokens": 0, "cost_usd": 0.0, "seconds": 0.0})


def check_names(table: pd.DataFrame, prefix: str) -> None:
    """ConfigurationError where a column of the questions is called as one of the answers."""
    taken = [str(column) for column in table.columns if str(column) in {prefix + name for name in COLUMNS}]
    if taken:
        raise ConfigurationError(
            f"the questions have a column {taken[0]!r}, and so have the answers: rename it, or have the columns of the answers "
            "begin otherwise with --prefix answer_"
        )


def joined(table: pd.DataFrame, rows: Sequence[AnswerRow], prefix: str = "") -> pd.DataFrame:
    """The columns of the questions, then those of the answers; the index is that of the questions."""
    answers = pd.DataFrame([row.model_dump() for row in rows], columns=list(COLUMNS), index=table.index, dtype=object)
    kinds = {"number": "float64", "cost_usd": "float64", "seconds": "float64", "calls": "int64", "tokens": "int64"}
    answers = answers.astype(kinds).astype({"confidence": "Int64"})
    return pd.concat([table, answers.add_prefix(prefix)], axis=1)


def _value(answer: Answer) -> dict[str, Any]:
    value, kept = answer.value, encode(answer.value)
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if isinstance(number, int) and abs(number) > _EXACT:
        number = None
    return {
        "text": answer.cited_text,
        "kind": answer.format.kind,
        "value": kept if isinstance(kept, str) else json.dumps(kept, ensure_ascii=False),
        "number": number,
        "date": value if isinstance(value, dt.date) else None,
        "unit": answer.format.unit,
    }


def _reason(answer: Answer) -> str:
    if answer.clarification is not None:
        return answer.clarification.question
    if answer.missing:
        return "; ".join(each.text for each in answer.missing)
    return answer.failure.message if answer.failure else answer.text
