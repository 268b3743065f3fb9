"""The panel: a question over a filing in small jobs, each with a typed contract.

manager -> `Brief` -> extractor -> `Extraction` -> reasoner -> `Calculation`, which is executed; the critics are those of
`finexpert.signatures.critique`; where one of them disagrees, the synthesiser decides with a `Synthesis` whether the reasoner
is asked again. A brief, as a model writes it:

    {"restated": "What were net sales in 2014?", "repeats_turn": 0, "needs": ["net sales, 2014"]}
"""

from __future__ import annotations

from typing import Literal

import dspy
from pydantic import BaseModel, Field

from finexpert.core.plans import Cell, Compute, Quote
from finexpert.signatures import rules

_TURNS = "earlier turns, their plans and answers"
_PAGE = "the page: text, and the table with its row numbers (r0 is the header) and column numbers"

ASKED_AGAIN = "{calculation}\n\nIt gave {value}. It is asked for again, because: {summary}"


class Brief(BaseModel):
    """What the manager hands on."""

    restated: str = Field(description="the question, complete in itself: what, of what, of when")
    repeats_turn: int = Field(
        default=0, ge=0, description="number of the earlier turn whose very answer is asked for again; else 0"
    )
    needs: list[str] = Field(
        default_factory=list, description="values to find on the page, each with its period; earlier answers left out"
    )


class Extraction(BaseModel):
    """What the extractor found."""

    values: list[Cell | Quote] = Field(default_factory=list, description="steps with ids 1, 2, ..., one a value")


class Calculation(BaseModel):
    """What the reasoner computes from it; a program does the arithmetic."""

    formula: str = Field(description="the formula in words")
    steps: list[Compute] = Field(
        default_factory=list,
        description="ids go on after those of the values; arguments are 'step N', 'turn N', or a constant number; "
        "operations: add, subtract (first minus second), multiply, divide (first by second), exp, greater (is the first "
        "greater: yes or no), percent_change (from the first to the second), absolute, average, sum, min, max",
    )
    answer: str = Field(description="'step N' or 'turn N'")


class Synthesis(BaseModel):
    """What the synthesiser decides."""

    status: Literal["final", "revise"]
    summary: str = Field(
        description="one or two sentences: what is right, and what the reasoner is to change if anything"
    )


class Manage(dspy.Signature):  # type: ignore[misc]
    """Manage a conversation about a page of a company's filing: say what the next question asks for, so that a colleague
    who sees nothing of the conversation could look it up.
    """

    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc=_TURNS, default=rules.NONE)
    question: str = dspy.InputField()

    brief: Brief = dspy.OutputField()


class ExtractValues(dspy.Signature):  # type: ignore[misc]
    """Find the values of a brief on a page of a company's filing. Compute nothing and write no number of your own: name the
    cell of the table, or quote the words of the text around a value that only the text has.
    """

    page: str = dspy.InputField(desc=_PAGE)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    brief: Brief = dspy.InputField()
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    extraction: Extraction = dspy.OutputField()


class Calculate(dspy.Signature):  # type: ignore[misc]
    """Say how the answer follows from values that were found and from earlier answers. The steps are carried out by a
    program: never compute yourself.
    """

    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc=_TURNS, default=rules.NONE)
    question: str = dspy.InputField()
    brief: Brief = dspy.InputField()
    values: str = dspy.InputField(desc="the values found, a step a line")
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    calculation: Calculation = dspy.OutputField()


class Synthesise(dspy.Signature):  # type: ignore[misc]
    """Decide between the result of a calculation and the critics who disagree with it: is it final, or is it to be revised?

    Every number was read and computed by a program; what differs is what the question was taken to mean, or where a
    value was read. Take the question at its word.
    """

    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc=_TURNS, default=rules.NONE)
    question: str = dspy.InputField()
    result: str = dspy.InputField(desc="the result and the steps that gave it")
    verdicts: str = dspy.InputField(desc="what the critics found")

    synthesis: Synthesis = dspy.OutputField()
