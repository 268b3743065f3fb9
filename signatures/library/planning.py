"""Planning over a library of filings: a question into parts that one page answers, and the plan for one such page.

`DecomposeQuestion` never sees a page, `MakePagePlan` sees one and may say that it is the wrong one.
"""

from __future__ import annotations

from typing import Literal

import dspy
from pydantic import BaseModel, Field

from finexpert.core.plans import Cell, Compute, Quote
from finexpert.signatures import rules
from finexpert.signatures.planning import FILING_STEPS

# Told with a plan of which a part was not found, beside what the pages lack.
NOT_ON_ONE_PAGE = (
    "No page that was read prints all of it. What a part asks of several years or companies may stand on a page each: "
    "ask for each by a search of its own, in the filing of its own year, and join them with compute steps."
)


class PageSearch(BaseModel):
    """Look up one thing on a page of one company's filing."""

    kind: Literal["search"]
    id: int
    company: str = Field(description="name of the one company, or 'step N' of a lookup that gives it")
    year: int | None = Field(default=None, description="fiscal year of the filing")
    quarter: int | None = Field(default=None, description="1 to 4, of a quarterly report only")
    question: str = Field(description="a question complete in itself, with company and period, for one page")


class CompanyLookup(BaseModel):
    """Look up one value in the table of companies."""

    kind: Literal["lookup"]
    id: int
    select: str = Field(description="one DuckDB SELECT over the table of companies that returns one value")


class DecomposeQuestion(dspy.Signature):  # type: ignore[misc]
    """Split a question about companies' filings into parts that are looked up one by one, and combine them.

    A search is about one company and one fiscal year, and is answered on one page. A page prints its year beside one or
    two years before, so a change or a sum over neighbouring years of one company is one search in the latest of them;
    years further apart are searches of their own. What is about one company and one period stays one search in the
    question's own words, arithmetic included. Never compute yourself: compute steps do. Facts about companies (sector,
    headquarters, founding year, market value) come from a lookup, never from your own knowledge.
    """

    companies: str = dspy.InputField(desc="the library's companies that the question names, and the years at hand")
    company_table: str = dspy.InputField(desc="table of companies for lookups", default=rules.NONE)
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc="earlier turns, their plans and answers", default=rules.NONE)
    today: str = dspy.InputField(desc="the day that counts as today")
    question: str = dspy.InputField()
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    interpretation: str = dspy.OutputField(desc="one sentence: how the question is understood")
    steps: list[PageSearch | CompanyLookup | Compute] = dspy.OutputField(
        desc="steps with ids 1, 2, ...; arguments of compute are 'step N', 'turn N', or a constant number; operations: "
        "add, subtract (first minus second), multiply, divide (first by second), absolute, greater (is the first "
        "greater: yes or no), percent_change (from the first to the second), average, sum, min, max, cagr (first, last, "
        "number of years), which_greatest and which_least (of several steps: the company or year of that one)"
    )
    answer: str = dspy.OutputField(desc="'step N'")


class MakePagePlan(dspy.Signature):  # type: ignore[misc]
    """Say whether a page of a company's filing answers a question, and if so interpret the question as a plan that a
    program carries out.

    A page answers only if it prints what is asked for, for that company and that period; a similar figure, another
    period or another company is not an answer. Never compute and never write a number of your own: values come from
    table cells, from quoted words and from earlier steps. Prefer a cell where the table holds the value; quote the text
    where only the text does. A question for one value is a plan of one step.
    """

    page: str = dspy.InputField(
        desc="the page: whose it is, text, and the table with its row numbers (r0 is the header) and column numbers"
    )
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    question: str = dspy.InputField()
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    answers: bool = dspy.OutputField(desc="whether the page prints all that the question needs")
    entity: str = dspy.OutputField(
        desc="what the answer is about, in a few words, with its period; else what is missing"
    )
    steps: list[Cell | Quote | Compute] = dspy.OutputField(desc=FILING_STEPS + "; [] if the page does not answer")
    answer: str = dspy.OutputField(desc="'step N'; empty if the page does not answer")
