"""The single-call baseline: one prompt, one SELECT, one script, nothing repaired.

It stands beside every table, because a decomposition that loses to it does not earn its calls.
"""

from __future__ import annotations

import datetime as dt

import dspy

from finexpert import execution
from finexpert.answers import Answer, AnswerFormat, Failure
from finexpert.errors import BudgetExceeded, StepError
from finexpert.language_models.usage import Meter
from finexpert.modules.calling import ask
from finexpert.plans import Extract, Plan, Script
from finexpert.sandbox import Sandbox
from finexpert.signatures import rules
from finexpert.signatures.single_call import AnswerInOneCall
from finexpert.signatures.text import without_fences
from finexpert.warehouse.warehouse import Warehouse
from finexpert.workspace import Workspace


class SingleCall(dspy.Module):  # type: ignore[misc]
    """Schema and question in, one SELECT and one script out."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict(AnswerInOneCall)

    def forward(
        self,
        *,
        question: str,
        source: Warehouse,
        sandbox: Sandbox,
        answer_format: AnswerFormat,
        as_of: dt.date,
        knowledge: str = "",
    ) -> dspy.Prediction:
        """Answer one question; the prediction's `answer` is an `Answer`."""
        answer = Answer(question=question, status="failed", format=answer_format)
        with Meter() as meter:
            try:
                written = ask(
                    self.write,
                    "single_call",
                    schema_card=source.schema_card(),
                    knowledge=knowledge or rules.NONE,
                    today=as_of.isoformat(),
                    question=question,
                    answer_type=answer_format.instruction(),
                )
                outcome = execution.run(
                    _plan(written),
                    Workspace(),
                    execution.Surroundings(warehouse=source, sandbox=sandbox, answer_format=answer_format, as_of=as_of),
                )
                answer.value, answer.status = outcome.value.value, "answered"
            except execution.StepFailed as failed:
                answer.failure = Failure(layer=failed.layer, kind=failed.error.kind, message=str(failed.error))
            except (StepError, BudgetExceeded) as error:
                kind = getattr(error, "kind", "budget")
                answer.failure = Failure(layer="single_call", kind=kind, message=str(error))
        answer.usage = meter.usage()
        return dspy.Prediction(answer=answer)


def _plan(written: dspy.Prediction) -> Plan:
    select = without_fences(written.select_query).rstrip("; \n")
    return Plan(
        steps=[
            Extract(id=1, frame="df", purpose="", select=select),
            Script(id=2, frames=["df"], task="", code=without_fences(written.code)),
        ]
    )
