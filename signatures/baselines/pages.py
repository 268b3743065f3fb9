"""The single-call baseline over several pages of filings: the model reads and computes in its head."""

from __future__ import annotations

import dspy


class AnswerFromPages(dspy.Signature):  # type: ignore[misc]
    """Answer an analyst's question from pages of filings."""

    pages: str = dspy.InputField(desc="pages of filings")
    question: str = dspy.InputField()

    answer: str = dspy.OutputField(desc="one to three sentences that begin with the direct answer")
