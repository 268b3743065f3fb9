"""Critique: critics that look again, and say something that can be checked.

`AuditExtraction` must name the cell or the sentence that is right; `DerivePlan` and `Recompute` are not shown the first
plan, and what they propose is executed and compared. An opinion alone changes nothing. The words in which a planner is
told of a disagreement stand below.
"""

from __future__ import annotations

import dspy
from pydantic import BaseModel, Field

from finexpert.core.plans import Cell, Compute, Quote
from finexpert.signatures import rules
from finexpert.signatures.planning import FILING_STEPS
from finexpert.signatures.sql_extraction import DataFrameFromSQL

_PAGE = "the page: text, and the table with its row numbers (r0 is the header) and column numbers"
_TURNS = "earlier turns, their plans and answers"

DOUBTED = (
    "{plan}\n\nIt ran and gave {value}, but was doubted:\n{doubts}\n"
    "Decide what the question means, and write the plan that is right; it may be the same plan again."
)
ANOTHER_PLAN = "- an independent plan gives {value}: {plan}"
CORRECTION = "- {step} should read {place}, where {value} stands: {reason}"
DOUBTED_PROGRAM = (
    "{program}\n\nIt ran, but an independent program, which also ran, gives another answer:\n\n{other}\n\n"
    "Decide what the question means, which program follows it, and write the one that is right; it may be the same again."
)


class Objection(BaseModel):
    """A value that was read from the wrong place, and the place that is right."""

    step: int = Field(description="the step whose value is wrong; 0 if a value that the question needs was not read")
    reason: str = Field(description="one sentence: why")
    instead: Cell | Quote = Field(description="the right cell or sentence, as it stands on the page")


class AuditExtraction(dspy.Signature):  # type: ignore[misc]
    """Check that the values read from a page of a company's filing are those that a question needs.

    Look for a wrong row, a wrong year or column, a subtotal in place of a total, a line of another segment, and for a
    value that is needed and was not read. Judge the reading alone, not what is computed from it, and neither sign nor
    scale. An objection names the right place, a cell of the table or words that stand on the page, and is thrown out if
    the same value stands there. A value that may be meant is right: object only where another one must be meant.
    """

    page: str = dspy.InputField(desc=_PAGE)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc=_TURNS, default=rules.NONE)
    question: str = dspy.InputField()
    readings: str = dspy.InputField(desc="what was read for it, a step a line")

    objections: list[Objection] = dspy.OutputField(desc="[] if every value is one that may be meant")


class DerivePlan(dspy.Signature):  # type: ignore[misc]
    """As a second expert, derive on your own what a question about a page of a filing asks for; another expert's result
    is compared with yours.

    First say in full what is asked: which amount, of what, of when; where it points back ("this", "that year", "the
    change"), which earlier answer is meant. Then the formula in words, with what is divided by what and taken from what.
    Only then write it as steps for a program, which reads and computes: none of its numbers is yours. Take a value from
    the table where it stands there, else quote the words around it; an earlier answer is 'turn N'.
    """

    page: str = dspy.InputField(desc=_PAGE)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc=_TURNS, default=rules.NONE)
    question: str = dspy.InputField()

    asked: str = dspy.OutputField(desc="one or two sentences: what is asked, complete in itself")
    formula: str = dspy.OutputField(desc="the formula in words; the value's name if there is nothing to compute")
    steps: list[Cell | Quote | Compute] = dspy.OutputField(desc=FILING_STEPS)
    answer: str = dspy.OutputField(desc="'step N' or 'turn N'")


class Recompute(dspy.Signature):  # type: ignore[misc]
    """As a second analyst, compute the answer to a financial question on your own; another analyst's result is compared
    with yours.

    First settle how the question is to be read: which series, from which first to which last observation, at which
    frequency, with which rule for missing values and for ties. Then write SELECTs that fetch the rows and a pandas script
    that computes the answer by the plainest way. Both run as they stand; you do not see the data.
    """

    schema_card: str = dspy.InputField(desc=rules.SCHEMA)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc=rules.CONVERSATION, default=rules.NONE)
    today: str = dspy.InputField(desc=rules.TODAY)
    question: str = dspy.InputField()
    answer_type: str = dspy.InputField(desc="type of the answer")

    reading: str = dspy.OutputField(desc="how the question is read, in one or two sentences")
    selects: list[DataFrameFromSQL] = dspy.OutputField(desc="one entry a frame; [] if all are at hand")
    code: str = dspy.OutputField(desc=rules.SCRIPT)
