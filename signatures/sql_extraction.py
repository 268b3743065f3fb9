"""SQL extraction: from the frames that a plan asks for to SELECTs.

`DataFrameFromSQL` is one of them, as {"select_query": "SELECT date, unrate FROM unemployment ORDER BY date",
"df_columns": ["date", "unrate"], "df_name": "unemployment"}.

`WriteSelects` asks for all frames at once; `mending`, where some failed, also what these data do not hold. `WriteSelect` asks for
one, without the question and without the names of frames: small models read from these names as if they were tables.
"""

from __future__ import annotations

from functools import cache

import dspy
from pydantic import BaseModel, Field, field_validator

from finexpert.signatures import rules
from finexpert.signatures.text import without_fences


class DataFrameFromSQL(BaseModel):
    """A frame and the SELECT that fetches it."""

    # The class docstring goes into prompts with the JSON schema, so examples stand with the methods.

    select_query: str = Field(description=rules.SELECT)
    df_columns: list[str] = Field(description="names of the columns in order", default_factory=list)
    df_name: str = Field(description="short Python identifier", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")

    @field_validator("select_query")
    @classmethod
    def _bare(cls, value: str) -> str:
        """The SELECT without packing.

        >>> DataFrameFromSQL(select_query="```sql\\nSELECT 1 AS x;\\n```", df_name="one").select_query
        'SELECT 1 AS x'
        """
        return without_fences(value).rstrip("; \n")


class WriteSelects(dspy.Signature):  # type: ignore[misc]
    """Write one SELECT for each frame asked for, in the SQL that the database speaks.

    Keep the names of frames and columns. Take categories and units from the schema as they are written there.
    """

    dialect: str = dspy.InputField(desc=rules.DIALECT, default="DuckDB")
    schema_card: str = dspy.InputField(desc=rules.SCHEMA)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    today: str = dspy.InputField(desc=rules.TODAY)
    question: str = dspy.InputField(desc="the question that the frames serve")
    frames: str = dspy.InputField(desc="the frames to fetch: name, columns, purpose")
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    selects: list[DataFrameFromSQL] = dspy.OutputField(desc="one entry a frame, in the order asked")


_ABSENT = (
    "what the question needs and no table here holds, in one sentence, where that is why the last attempt failed: then `selects` is []. Empty "
    "where another SELECT may find it: a text that a column does not hold may stand there in another spelling, as a code, or in another column"
)


@cache
def mending(signature: type[dspy.Signature]) -> type[dspy.Signature]:
    """The way of asking, compiled or not, where SELECTs failed: first it is said whether these data lack what they were to fetch.

    Its further field is `absent`. Who writes SELECTs for the first time comes after a planner who could say so, and is not asked.
    """
    made: type[dspy.Signature] = signature.insert(0, "absent", dspy.OutputField(desc=_ABSENT, default=""), str)
    return made


class WriteSelect(dspy.Signature):  # type: ignore[misc]
    """Write one SELECT over the tables of the schema, in the SQL that the database speaks.

    Take categories and units from the schema as they are written there.
    """

    dialect: str = dspy.InputField(desc=rules.DIALECT, default="DuckDB")
    schema_card: str = dspy.InputField(desc=rules.SCHEMA)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    today: str = dspy.InputField(desc=rules.TODAY)
    wanted: str = dspy.InputField(desc="what to fetch")
    columns: str = dspy.InputField(desc="the columns that the SELECT returns, in this order", default=rules.NONE)
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    select: str = dspy.OutputField(desc=rules.ONE_SELECT)
