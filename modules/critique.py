"""Critique: what critics propose; `finexpert.modules.flow.reviewing` puts it to the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import dspy
from pydantic import ValidationError

from finexpert.core.plans import Cell, Extract, Plan, Quote, Script, Step, reference
from finexpert.core.reviews import Correction
from finexpert.core.workspace import Value
from finexpert.errors import OutputError, StepError
from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.critique import AuditExtraction, DerivePlan, Objection, Recompute
from finexpert.signatures.text import without_fences

EXTRACTION_CRITIC, CALCULATION_CRITIC = "extraction_critic", "calculation_critic"


class Critique(dspy.Module):  # type: ignore[misc]
    """Objections to what was read from a page, or a plan of one's own, over a page or a warehouse."""

    def __init__(self) -> None:
        super().__init__()
        self.extraction = dspy.Predict(AuditExtraction)
        self.calculation = dspy.Predict(DerivePlan)
        self.recomputation = dspy.Predict(Recompute)

    def forward(
        self,
        *,
        question: str,
        page: str = "",
        readings: str = "",
        schema_card: str = "",
        today: str = "",
        answer_type: str = "",
        knowledge: str = rules.NONE,
        conversation: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction with `objections` where `readings` of a page are given, else with a `plan` of its own.

        Raises OutputError for unusable text. Without a `page`, `schema_card`, `today` and `answer_type` are needed.
        """
        common = {"knowledge": knowledge, "conversation": conversation, "question": question}
        if readings:
            made = ask(self.extraction, EXTRACTION_CRITIC, page=page, readings=readings, **common)
            objections: list[Objection] = made.objections
            return dspy.Prediction(objections=objections)
        if page:
            made = ask(self.calculation, CALCULATION_CRITIC, page=page, **common)
            return dspy.Prediction(plan=plan_of(made.steps, made.answer, made.asked))
        made = ask(
            self.recomputation,
            CALCULATION_CRITIC,
            schema_card=schema_card,
            today=today,
            answer_type=answer_type,
            **common,
        )
        return dspy.Prediction(plan=_program(made))


def standing(
    objection: Objection, values: Mapping[int, object], read: Callable[[Cell | Quote], Value]
) -> Correction | None:
    """The objection, if what it names is on the page and was not read, and its step is one that reads.

    `values` are those that were read, by step; `read` reads the page, or raises StepError.
    """
    if objection.step and objection.step not in values:
        return None
    try:
        value = read(objection.instead).value
    except StepError:
        return None
    if value in values.values() or not isinstance(value, float | str):
        return None
    return Correction(step=objection.step, instead=objection.instead, value=value, reason=objection.reason)


def plan_of(steps: Sequence[Step], answer: str, about: str) -> Plan:
    """The plan of what a model wrote; OutputError where it is none.

    >>> plan_of([], "the second", "")
    Traceback (most recent call last):
        ...
    finexpert.errors.OutputError: answer is 'the second', and must be 'step N' or 'turn N'
    """
    said = answer.strip() or None
    if said is not None and reference(said) is None:
        raise OutputError(f"answer is {said[:60]!r}, and must be 'step N' or 'turn N'")
    try:
        return Plan(steps=list(steps), answer=said, entity=about, interpretation=about)
    except ValidationError as error:
        raise OutputError(f"the steps do not form a plan: {error.errors()[0]['msg']}") from error


def _program(made: dspy.Prediction) -> Plan:
    extracts: list[Step] = [
        Extract(id=number, frame=s.df_name, purpose=made.reading, columns=s.df_columns, select=s.select_query)
        for number, s in enumerate(made.selects, 1)
    ]
    code = without_fences(made.code)
    if not code:
        raise OutputError("the code is empty")
    frames = [s.df_name for s in made.selects]
    script = Script(id=len(extracts) + 1, frames=frames, task=made.reading, code=code)
    return Plan(steps=[*extracts, script], interpretation=made.reading)
