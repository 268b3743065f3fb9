"""Judging answers of an evaluation: whether two answers to one question say the same."""

from __future__ import annotations

import dspy


class JudgeAnswer(dspy.Signature):  # type: ignore[misc]
    """Say whether two answers to an analyst's question agree, one of them being the reference.

    They agree where the other answer gives what the reference gives as the answer to the question: numbers equal within rounding (also in
    another scale, such as millions for billions), the same yes or no, the same direction, every item that the reference names.
    More detail, another order, other words, and a number that the reference rounds more are no difference. They do not agree where the other
    answer contradicts the reference, lacks what the question asks for, or says that it does not know.
    """

    question: str = dspy.InputField()
    first: str = dspy.InputField(desc="one answer")
    second: str = dspy.InputField(desc="the other answer")
    reference: str = dspy.InputField(desc="which of them is the reference: first or second")

    reason: str = dspy.OutputField(desc="one sentence")
    agree: bool = dspy.OutputField()
