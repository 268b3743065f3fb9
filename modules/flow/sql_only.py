"""The first rung of the ladder: the model writes SELECTs, gets the rows back, and reads the answer off them.

It stands here to be measured against. Rows reach the model, so it is for public data only.
"""

from __future__ import annotations

import ast
import datetime as dt
import json
from typing import Any

import dspy
import pandas as pd

from finexpert.core.answers import Answer, AnswerFormat, Failure
from finexpert.core.plans import Extract
from finexpert.errors import AnswerFormatError, BudgetExceeded, QueryError, StepError
from finexpert.language_models.usage import Meter
from finexpert.modules.calling import ask
from finexpert.modules.sql_extraction import SqlExtraction
from finexpert.signatures import rules
from finexpert.signatures.answer_from_rows import AnswerFromRows
from finexpert.warehouse.warehouse import Warehouse

MAX_CHARACTERS = 24_000  # about 10,000 tokens of rows; more does not fit small models' context


class SqlOnly(dspy.Module):  # type: ignore[misc]
    """SELECTs, rows back to the model, answer; no retries."""

    def __init__(self, sql_extraction: SqlExtraction | None = None) -> None:
        super().__init__()
        self.sql_extraction = sql_extraction or SqlExtraction()
        self.read = dspy.Predict(AnswerFromRows)

    def forward(
        self, *, question: str, source: Warehouse, answer_format: AnswerFormat, as_of: dt.date, knowledge: str = ""
    ) -> dspy.Prediction:
        """Answer one question; the prediction's `answer` is an `Answer`."""
        answer = Answer(question=question, status="failed", format=answer_format)
        with Meter() as meter:
            try:
                results = self._rows(question, source, as_of, knowledge or rules.NONE)
                read = ask(
                    self.read,
                    "answer_from_rows",
                    knowledge=knowledge or rules.NONE,
                    today=as_of.isoformat(),
                    question=question,
                    results=results,
                    answer_type=answer_format.instruction(),
                )
                answer.value = answer_format.coerce(literal(read.answer, answer_format))
                answer.status = "answered"
            except (StepError, BudgetExceeded) as error:
                layer = "sql_extraction" if isinstance(error, QueryError) else "answer_from_rows"
                answer.failure = Failure(layer=layer, kind=getattr(error, "kind", "budget"), message=str(error))
        answer.usage = meter.usage()
        return dspy.Prediction(answer=answer)

    def _rows(self, question: str, source: Warehouse, as_of: dt.date, knowledge: str) -> str:
        purpose = "the rows from which the answer can be read off; aggregate in SQL"
        if self.sql_extraction.one_by_one:
            # Such a layer is told what to fetch, and not the question.
            purpose = f"{question} {purpose[0].upper()}{purpose[1:]}"
        wanted = Extract(id=1, frame="result", purpose=purpose)
        written = self.sql_extraction(
            question=question,
            schema_card=source.schema_card(),
            frames=[wanted],
            today=as_of.isoformat(),
            knowledge=knowledge,
        )
        if not written.selects:
            raise QueryError("no SELECT was written")
        parts = [_show(s.select_query, source.query(s.select_query, as_of=as_of).data) for s in written.selects]
        text = "\n\n".join(parts)
        if len(text) > MAX_CHARACTERS:
            raise QueryError(
                f"the rows take {len(text):,} characters, more than the {MAX_CHARACTERS:,} a prompt may hold"
            )
        return text


def _show(select: str, rows: pd.DataFrame) -> str:
    return f"{select}\n{rows.to_csv(index=False)}"


def literal(text: str, answer_format: AnswerFormat) -> Any:
    """The value that a model wrote as text.

    >>> literal(" 3.94 %", AnswerFormat(kind="number")), literal("true", AnswerFormat(kind="boolean"))
    (3.94, True)
    """
    text = text.strip().strip("`")
    if answer_format.kind in ("text", "date"):
        return text
    if text.lower() in ("true", "yes", "false", "no"):
        return text.lower() in ("true", "yes")
    if answer_format.kind in ("number", "integer", "year"):
        text = text.replace(",", "").replace("$", "").replace("%", "").strip()
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise AnswerFormatError(f"the answer must be {answer_format.instruction()}, and was written as text")
