"""Judging: a model says twice, sides swapped, whether an answer agrees with the reference."""

from __future__ import annotations

import dspy

from finexpert.modules.calling import ask
from finexpert.signatures.judging import JudgeAnswer

LAYER = "judge"


class Judging(dspy.Module):  # type: ignore[misc]
    """Used by evaluations alone; no answer of the program is changed by it."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = dspy.Predict(JudgeAnswer)

    def forward(self, *, question: str, reference: str, answer: str) -> dspy.Prediction:
        """A prediction with `right`, where both orders agree, and the `reason` of the one that doubts."""
        orders = (("first", reference, answer), ("second", answer, reference))
        said = [
            ask(self.judge, LAYER, question=question, first=first, second=second, reference=which)
            for which, first, second in orders
        ]
        doubting = next((each for each in said if not each.agree), said[0])
        return dspy.Prediction(right=all(each.agree for each in said), reason=doubting.reason)
