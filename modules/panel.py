"""The panel's members: manager, extractor, reasoner, synthesiser; one call each, with a typed contract."""

from __future__ import annotations

import dspy

from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.panel import (
    Brief,
    Calculate,
    Calculation,
    Extraction,
    ExtractValues,
    Manage,
    Synthesis,
    Synthesise,
)


class Panel(dspy.Module):  # type: ignore[misc]
    """The members as predictors. They are asked one by one, so calling the panel as a whole asks its manager."""

    def __init__(self) -> None:
        super().__init__()
        self.manager = dspy.Predict(Manage)
        self.extractor = dspy.Predict(ExtractValues)
        self.reasoner = dspy.Predict(Calculate)
        self.synthesiser = dspy.Predict(Synthesise)

    def forward(self, *, question: str, knowledge: str = rules.NONE, conversation: str = rules.NONE) -> dspy.Prediction:
        """A prediction with `brief`."""
        return dspy.Prediction(brief=self.manage(question, knowledge, conversation))

    def manage(self, question: str, knowledge: str, conversation: str) -> Brief:
        made = ask(self.manager, "manager", question=question, knowledge=knowledge, conversation=conversation)
        brief: Brief = made.brief
        return brief

    def extract(self, page: str, brief: Brief, knowledge: str, feedback: str) -> Extraction:
        made = ask(self.extractor, "extractor", page=page, brief=brief, knowledge=knowledge, feedback=feedback)
        extraction: Extraction = made.extraction
        return extraction

    def calculate(
        self, question: str, brief: Brief, values: str, knowledge: str, conversation: str, feedback: str
    ) -> Calculation:
        made = ask(
            self.reasoner,
            "reasoner",
            question=question,
            brief=brief,
            values=values,
            knowledge=knowledge,
            conversation=conversation,
            feedback=feedback,
        )
        calculation: Calculation = made.calculation
        return calculation

    def synthesise(self, question: str, result: str, verdicts: str, knowledge: str, conversation: str) -> Synthesis:
        made = ask(
            self.synthesiser,
            "synthesiser",
            question=question,
            result=result,
            verdicts=verdicts,
            knowledge=knowledge,
            conversation=conversation,
        )
        synthesis: Synthesis = made.synthesis
        return synthesis
