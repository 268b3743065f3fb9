"""Planning: from a question to a plan, one signature per kind of source.

Over a warehouse there are three: `MakePlan` leaves SELECTs and script to their own layers, `MakePlanWithDrafts` has a
strong model write both at once, and with `following` chooses what of all that was taught it follows, `AnswerWithSelect` has a
small one write a SELECT that computes the answer. Over a filing `MakeFilingPlan` asks for interpretation alone.
"""

from __future__ import annotations

from functools import cache

import dspy
from pydantic import BaseModel, Field

from finexpert.core.plans import Cell, Compute, Quote
from finexpert.signatures import rules
from finexpert.signatures.sql_extraction import DataFrameFromSQL

FILING_STEPS = (
    "steps with ids 1, 2, ...; arguments of compute are 'step N', 'turn N', or a constant number; operations: add, "
    "subtract (first minus second), multiply, divide (first by second), exp, greater (is the first greater: yes or no), "
    "percent_change (from the first to the second), absolute, average, sum, min, max (of several values, or of one row by its label)"
)


class FrameRequest(BaseModel):
    """A frame that the plan needs."""

    df_name: str = Field(description="short Python identifier")
    purpose: str = Field(description="table, series, columns and time span to fetch")
    df_columns: list[str] = Field(description="names of the columns in order")


class AskedOfWarehouse(dspy.Signature):  # type: ignore[misc]
    """What every way of planning over a warehouse is told; what changes from question to question stands last."""

    dialect: str = dspy.InputField(desc=rules.DIALECT, default="DuckDB")
    schema_card: str = dspy.InputField(desc=rules.SCHEMA)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc=rules.CONVERSATION, default=rules.NONE)
    today: str = dspy.InputField(desc=rules.TODAY)
    question: str = dspy.InputField()
    answer_type: str = dspy.InputField(desc="type of the answer")
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)


class MakePlan(AskedOfWarehouse):
    """Plan how to answer a financial question from a database.

    The database computes: wherever SQL can, one frame holds the answer itself, joined, filtered, grouped and aggregated, and
    there is no task. A pandas script is for what is awkward in SQL: states carried from row to row, finance formulas,
    statistical tests, charts; its frames hold some thousand rows at most. Fetch a frame that is at hand already only if it
    lacks something. Fetch enough history for differences, moving averages and periods that begin before the window asked
    about. Where the tables cannot answer the question, say what is missing and ask for no frame.
    """

    interpretation: str = dspy.OutputField(desc="one or two sentences: how the question is understood")
    unclear: str = dspy.OutputField(desc=rules.UNCLEAR, default="")
    missing: str = dspy.OutputField(desc=rules.MISSING, default="")
    frames: list[FrameRequest] = dspy.OutputField(desc="one entry a frame; [] if all are at hand")
    task: str = dspy.OutputField(
        desc="numbered steps that the script follows, with exact windows and rules; empty if the one frame is the answer",
        default="",
    )
    answer_kind: str = dspy.OutputField(desc=rules.ANSWER_KIND, default="")
    unit: str = dspy.OutputField(desc=rules.UNIT, default="")


class MakePlanWithDrafts(AskedOfWarehouse):
    """Answer a financial question from a database.

    The database computes: wherever SQL can, write one SELECT that returns the answer itself, and leave `code` empty. The
    answer then is its result: one row of one column for a number, an integer, a date, a year, a boolean or a text; one column
    for a list, one row an item; for a table its columns in the order asked for. Write a pandas script as well only for what is
    awkward in SQL: states carried from row to row, finance formulas, statistical tests and models, charts; its SELECTs
    then fetch no more than it needs, some thousand rows at most. All of it runs as it stands, and you do not see the
    data. Where the tables cannot answer the question, say what is missing, and write no SELECT. Fetch a frame that is at hand
    already only if it lacks something. Fetch enough history for differences, moving averages and periods that begin before
    the window asked about. Keep to what the question asks: no rows, ties or zeros that it does not speak of.
    """

    interpretation: str = dspy.OutputField(desc="one or two sentences: how the question is understood")
    unclear: str = dspy.OutputField(desc=rules.UNCLEAR, default="")
    missing: str = dspy.OutputField(desc=rules.MISSING, default="")
    selects: list[DataFrameFromSQL] = dspy.OutputField(desc="one entry a frame; [] if all are at hand")
    code: str = dspy.OutputField(desc=f"empty if the one SELECT gives the answer, else: {rules.SCRIPT}", default="")
    answer_kind: str = dspy.OutputField(desc=rules.ANSWER_KIND, default="")
    unit: str = dspy.OutputField(desc=rules.UNIT, default="")


_FOLLOWING = """

Of what is known here, follow what the question means, in these words or in others, and nothing else. A definition is not meant where
the question has its words in their ordinary sense, or says itself what they are to mean. A process has to be followed where it computes
what the question asks for, or a part of it; not where the question only shares words or data with it, or asks for another measure. A term
that is merely like one known here is another one: nobody has explained it, and it is unclear."""


@cache
def following(signature: type[dspy.Signature]) -> type[dspy.Signature]:
    """A way of planning, compiled or not, that is also shown what may be meant of all that was taught, and says early what it follows.

    Its further fields are `known_here`, numbered entries, and `follows`, their numbers.
    """
    described = signature.fields["unclear"].json_schema_extra["desc"]
    made: type[dspy.Signature] = (
        signature.with_instructions(signature.instructions + _FOLLOWING)
        .with_updated_fields("unclear", desc=described.replace("nor knowledge", "nor knowledge nor what it follows"))
        .insert(
            list(signature.input_fields).index("knowledge") + 1,
            "known_here",
            dspy.InputField(desc=rules.KNOWN_HERE),
            str,
        )
        .insert(1, "follows", dspy.OutputField(desc=rules.FOLLOWS), list[int])
    )
    return made


class AnswerWithSelect(dspy.Signature):  # type: ignore[misc]
    """Answer a question from a database with one SELECT that gives the answer and nothing else.

    It runs as it stands; you do not see the data. Nothing exists but the tables and columns that are listed. One that stands there with values in
    brackets is called with the question's own: SELECT * FROM name(values).
    """

    # What matters most stands last: a small model reads what is far from the question badly.
    dialect: str = dspy.InputField(desc=rules.DIALECT, default="DuckDB")
    today: str = dspy.InputField(desc=rules.TODAY)
    conversation: str = dspy.InputField(desc=rules.CONVERSATION, default=rules.NONE)
    knowledge: str = dspy.InputField(desc=rules.FILLED, default=rules.NONE)
    schema_card: str = dspy.InputField(desc=rules.SCHEMA)
    question: str = dspy.InputField()
    answer_type: str = dspy.InputField(desc="type of the answer")
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    select: str = dspy.OutputField(desc=rules.ANSWER_SELECT)
    answer_kind: str = dspy.OutputField(desc=rules.ANSWER_KIND, default="")
    unit: str = dspy.OutputField(desc=rules.UNIT, default="")


@cache
def of_known_type(signature: type[dspy.Signature]) -> type[dspy.Signature]:
    """`AnswerWithSelect`, compiled or not, where the type of the answer was given: nothing but the SELECT is written."""
    made: type[dspy.Signature] = signature.delete("answer_kind").delete("unit")
    return made


class MakeFilingPlan(dspy.Signature):  # type: ignore[misc]
    """Interpret one question of a conversation about a page of a company's filing, as a plan that a program carries out.

    Never compute and never write a number of your own: values come from table cells, from quoted words, from earlier
    steps and from earlier turns. Prefer a cell where the table holds the value; quote the text where only the text
    does. Refer to an earlier turn where the question means its answer ("that amount", "this change"). A question for
    one value is a plan of one step.
    """

    page: str = dspy.InputField(
        desc="the page: text, and the table with its row numbers (r0 is the header) and column numbers"
    )
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc="earlier turns, their plans and answers", default=rules.NONE)
    question: str = dspy.InputField()
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    entity: str = dspy.OutputField(desc="what the answer is about, in a few words, with its period")
    steps: list[Cell | Quote | Compute] = dspy.OutputField(desc=FILING_STEPS)
    answer: str = dspy.OutputField(desc="'step N' or 'turn N'")
