"""Memorization: turns a conversation into a process that other questions can follow.

It writes the process and no more; whether it may be used is found out by running it (`finexpert.modules.flow.teaching`).
"""

from __future__ import annotations

import dspy
from pydantic import ValidationError

from finexpert.errors import OutputError
from finexpert.knowledge.process import Process, ProcessStep, Variable
from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.learning.memorization import LearnedStep, LearnedVariable, SummariseProcess
from finexpert.signatures.text import without_fences

LAYER = "memorization"


class Memorization(dspy.Module):  # type: ignore[misc]
    """From a conversation to a `Process`, still a draft."""

    def __init__(self) -> None:
        super().__init__()
        self.summarise = dspy.Predict(SummariseProcess)

    def forward(self, *, conversation: str, schema_card: str, heading: str = "") -> dspy.Prediction:
        """A prediction with `process` and `case_question`; raises OutputError for unusable text."""
        made = ask(
            self.summarise,
            LAYER,
            schema_card=schema_card,
            conversation=conversation,
            given_heading=heading or rules.NONE,
        )
        variables: list[LearnedVariable] = made.variables
        steps: list[LearnedStep] = made.steps
        name = heading or " ".join(made.heading.split())
        try:
            process = Process(
                heading=name,
                aliases=[
                    alias
                    for alias in dict.fromkeys(" ".join(a.split()) for a in made.aliases)
                    if alias not in ("", name)
                ],
                variables=[Variable(**variable.model_dump()) for variable in variables],
                steps=[_step(step) for step in steps],
            )
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise OutputError(f"the text does not form a process: {place}: {first['msg']}") from error
        case_question = " ".join(made.case_question.split())
        if not case_question:
            raise OutputError("case_question is empty, so the process cannot be tried")
        return dspy.Prediction(process=process, case_question=case_question)


def _step(step: LearnedStep) -> ProcessStep:
    sql = without_fences(step.sql).rstrip("; \n") if step.sql else None
    code = without_fences(step.code) if step.code else None
    return ProcessStep(text=step.text.strip(), sql=sql or None, code=code or None)
