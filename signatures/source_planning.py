"""Planning over several sources: which of them a question needs, what each gives, and how that meets.

One part of an answer, as {"source": "fred", "name": "inflation", "question": "...", "select": "SELECT ...", "columns": [...]}.
A question that one source answers has one part.
"""

from __future__ import annotations

import dspy
from pydantic import BaseModel, Field

from finexpert.plans.pages.statements import Statement
from finexpert.plans.pages.tabled import TableColumn
from finexpert.signatures import rules


class SourcePart(BaseModel):
    """What one source gives."""

    source: str = Field(description="name of the source")
    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="short identifier of the table that comes back")
    question: str = Field(description="what this part answers, in words that need nothing else")
    columns: list[TableColumn] = Field(
        default_factory=list, description="columns that come back, in order; [] if this part is the whole answer"
    )
    select: str = Field(default="", description="of a database: one SELECT in its SQL; of filings: empty")
    companies: list[str] = Field(default_factory=list, description="of filings: whose, by name; [] for any")
    years: list[int] = Field(default_factory=list, description="of filings: fiscal years to look in; [] for any")
    statements: list[Statement] = Field(default_factory=list, description="of filings: main statements that hold it")
    searches: list[str] = Field(
        default_factory=list, description="of filings: three to six short phrases, worded as filings print them"
    )


class PlanSources(dspy.Signature):  # type: ignore[misc]
    """Plan how to answer a financial question from several sources: databases, and companies' filings.

    Use no source that the question does not need: most questions need one. You do not see the data, and all of it runs as it
    stands. Of a database, write one SELECT over its own tables alone, in its own SQL, aggregated to the grain at which the sources meet
    (a year, a company). Of filings, ask for a small table of printed numbers or words, a row a year or a company; they are read on the pages, and a
    filing prints the year before too, its income and cash flow statements two before. A ratio or a growth rate is computed in
    `combine`, from plain numbers: ask for the year before as well where growth needs it. `combine` is one DuckDB SELECT over the
    parts, each a table under its name with its columns, which returns the answer itself: one row of one column for a number, an integer,
    a date, a year, a boolean or a text; one column for a list, one row an item; for a table its columns in the order asked for. Join
    on what both parts have, such as the year; a fiscal year that does not end in December needs its own months from the database.
    If one part is the whole answer there is no `combine`: a SELECT then returns the answer, and filings are asked with columns [].
    Where a later part of filings needs values of an earlier part, such as the companies that a SELECT finds, write {part.column} in
    its question and companies. Where the sources cannot answer the question, say what is missing, and give no parts.
    """

    sources: str = dspy.InputField(desc="what each source holds; nothing else exists")
    measures: str = dspy.InputField(desc="measures that the question names, by formula", default=rules.NONE)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc="earlier turns", default=rules.NONE)
    today: str = dspy.InputField(desc=rules.TODAY)
    question: str = dspy.InputField()
    answer_type: str = dspy.InputField(desc="type of the answer")
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    understood: str = dspy.OutputField(desc="one or two sentences: how the question is understood")
    unclear: str = dspy.OutputField(desc=rules.UNCLEAR, default="")
    missing: str = dspy.OutputField(
        desc="what the question needs and these sources do not hold, in one sentence; empty where they can answer it",
        default="",
    )
    parts: list[SourcePart] = dspy.OutputField(
        desc="in the order in which they are fetched; [] if something is missing"
    )
    combine: str = dspy.OutputField(
        desc="one DuckDB SELECT over the parts; empty if one part is the answer", default=""
    )
    answer_kind: str = dspy.OutputField(desc=rules.ANSWER_KIND, default="")
    unit: str = dspy.OutputField(desc=rules.UNIT, default="")
