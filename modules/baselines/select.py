"""The single-call baseline: the simplest way from a question to an answer over tables.

    schema card, question, type of the answer  ->  one SELECT  ->  its rows as the value

One call, no check, no repair, no script. It stands beside every evaluation over a warehouse, because a decomposition that loses
to it does not earn its calls.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import dspy

from finexpert.core.answers import Answer, AnswerFormat, Citation, Failure
from finexpert.errors import BudgetExceeded, CutFrame, NotInSources, StepError, Unanswerable
from finexpert.language_models.usage import Meter
from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.baselines.select import NOT_ANSWERABLE, AnswerInOneCall
from finexpert.signatures.text import without_fences
from finexpert.warehouse.frame_values import value_of
from finexpert.warehouse.warehouse import DIALECTS, Warehouse

LAYER = "single_call"
_REFUSAL = re.compile(rf"\s*{NOT_ANSWERABLE}\b[\s:,.-]*", re.IGNORECASE)


class SingleCall(dspy.Module):  # type: ignore[misc]
    """Schema and question in, one SELECT or a reason out."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict(AnswerInOneCall)

    def forward(
        self,
        *,
        question: str,
        source: Warehouse,
        answer_format: AnswerFormat,
        as_of: dt.date,
        as_of_given: bool = True,
        knowledge: str = "",
    ) -> dspy.Prediction:
        """Answer one question; the prediction's `answer` is an `Answer` that cites its SELECT.

        Where nobody gave the day (`as_of_given`), rows are hidden by dates that an owner declared alone.
        """
        answer = Answer(question=question, status="failed", format=answer_format)
        with Meter() as meter:
            try:
                select = self._select(
                    dialect=DIALECTS[source.dialect],
                    schema_card=source.schema_card(question=question),
                    knowledge=knowledge or rules.NONE,
                    today=as_of.isoformat(),
                    question=question,
                    answer_type=answer_format.instruction(),
                )
                answer.citations = [Citation(source="answer", place=select)]
                frame = source.query(select, as_of=as_of, declared_only=not as_of_given)
                if frame.truncated:
                    raise CutFrame(f"it gives more than {len(frame.data):,} rows, and a frame holds no more")
                answer.value, answer.format = value_of(frame.data, answer_format)
                answer.status = "answered"
            except NotInSources as error:
                answer.status, answer.failure = "not_found", Failure(layer=LAYER, kind=error.kind, message=str(error))
            except (StepError, Unanswerable, BudgetExceeded) as error:
                answer.failure = Failure(layer=LAYER, kind=getattr(error, "kind", "budget"), message=str(error))
        answer.usage = meter.usage()
        return dspy.Prediction(answer=answer)

    def _select(self, **inputs: Any) -> str:
        text = without_fences(ask(self.write, LAYER, **inputs).select_query).strip()
        if refused := _REFUSAL.match(text):
            raise NotInSources(text[refused.end() :].strip() or "the model does not say what is missing")
        return text.rstrip("; \n")
