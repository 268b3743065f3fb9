"""The single-call baseline over pages of filings; nothing is looked up, the arithmetic is the model's."""

from __future__ import annotations

import dspy

from finexpert.core.answers import Answer, AnswerFormat, Failure
from finexpert.errors import BudgetExceeded, OutputError
from finexpert.language_models.usage import Meter
from finexpert.modules.calling import ask
from finexpert.signatures.baselines.pages import AnswerFromPages

LAYER = "single_call"


class SingleReading(dspy.Module):  # type: ignore[misc]
    """Pages and question in, an answer in words out."""

    def __init__(self) -> None:
        super().__init__()
        self.read = dspy.Predict(AnswerFromPages)

    def forward(self, *, question: str, pages: str) -> dspy.Prediction:
        """The prediction's `answer` is an `Answer`."""
        answer = Answer(question=question, status="failed")
        with Meter() as meter:
            try:
                answer.value = ask(self.read, LAYER, pages=pages, question=question).answer.strip()
                answer.status, answer.format = "answered", AnswerFormat(kind="text")
            except (OutputError, BudgetExceeded) as error:
                answer.failure = Failure(layer=LAYER, kind=getattr(error, "kind", "budget"), message=str(error))
        answer.usage = meter.usage()
        return dspy.Prediction(answer=answer)
