"""The single-call baseline: one prompt with schema and question, one SELECT in the engine's own SQL, no second look."""

from __future__ import annotations

import dspy

from finexpert.signatures import rules

NOT_ANSWERABLE = "NOT ANSWERABLE"


class AnswerInOneCall(dspy.Signature):  # type: ignore[misc]
    """Answer a question from a database with one SELECT, which runs as it stands; you do not see the data."""

    dialect: str = dspy.InputField(desc=rules.DIALECT, default="DuckDB")
    schema_card: str = dspy.InputField(desc=rules.SCHEMA)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    today: str = dspy.InputField(desc=rules.TODAY)
    question: str = dspy.InputField()
    answer_type: str = dspy.InputField(desc="type of the answer")

    select_query: str = dspy.OutputField(
        desc="one SELECT in the database's own SQL that returns the answer and nothing else: one row of one column for one "
        "value, for a list one row an item, for a table the columns asked for; days as DATE '2020-01-31', never "
        f"current_date. Where these tables cannot answer the question: {NOT_ANSWERABLE}, and what is missing"
    )
