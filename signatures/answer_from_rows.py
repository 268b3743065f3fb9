"""The first rung of the ladder: rows go back to the model, which reads the answer off them. Public data only."""

from __future__ import annotations

import dspy

from finexpert.signatures import rules


class AnswerFromRows(dspy.Signature):  # type: ignore[misc]
    """Answer a financial question from the rows that a database returned."""

    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    today: str = dspy.InputField(desc=rules.TODAY)
    question: str = dspy.InputField()
    results: str = dspy.InputField(desc="each SELECT and its rows")
    answer_type: str = dspy.InputField(desc="type of the answer")

    answer: str = dspy.OutputField(
        desc="the value alone: a plain number, YYYY-MM-DD, true or false, a text, or a JSON list; no unit, no words"
    )
