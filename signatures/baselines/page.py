"""The single-call baseline over a filing: the model reads the page and computes in its head."""

from __future__ import annotations

import dspy

from finexpert.signatures import rules


class ReadAndAnswer(dspy.Signature):  # type: ignore[misc]
    """Answer one question of a conversation about a page of a company's filing."""

    page: str = dspy.InputField(
        desc="the page: text, and the table with its row numbers (r0 is the header) and column numbers"
    )
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc="earlier turns and your answers", default=rules.NONE)
    question: str = dspy.InputField()

    working: str = dspy.OutputField(desc="the values used and the computation, in one or two lines")
    answer: str = dspy.OutputField(
        desc="the number alone, with at least six significant digits and no unit, or yes or no"
    )
