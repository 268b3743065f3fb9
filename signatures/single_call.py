"""The single-call baseline: one prompt with schema and question, one SELECT, one script, no second look."""

from __future__ import annotations

import dspy

from finexpert.signatures import rules


class AnswerInOneCall(dspy.Signature):  # type: ignore[misc]
    """Answer a financial question with one SQL query and one Python script."""

    schema_card: str = dspy.InputField(desc=rules.SCHEMA)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    today: str = dspy.InputField(desc=rules.TODAY)
    question: str = dspy.InputField()
    answer_type: str = dspy.InputField(desc="type of the answer")

    select_query: str = dspy.OutputField(
        desc="one DuckDB SELECT; its result is the DataFrame `df`, dates as datetime64"
    )
    code: str = dspy.OutputField(
        desc="Python with pandas, no fences, that reads `df` and sets `answer` to a value of the answer's type"
    )
