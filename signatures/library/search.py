"""Searching filings: which companies, years, statements and words a question needs, before any page is seen."""

from __future__ import annotations

import dspy

from finexpert.plans.pages.statements import Statement
from finexpert.signatures import rules


class PlanSearches(dspy.Signature):  # type: ignore[misc]
    """Plan how to find the pages of companies' filings that answer an analyst's question.

    Each search is worded as the filing itself prints it: the name of a statement or a note ("debt maturing within one year"), of
    lines ("total current liabilities"), of a section ("legal proceedings", "results of operations gross margin"), or key words of
    the sentence that tells it ("decrease was primarily due to lower volume"). Where the question names a measure (quick ratio,
    inventory turnover, EBITDA, capital intensity), search for the lines that it is computed from, in all years that it needs. Where it asks
    for a list or a reason, search for the words under which a filing tells it, in other words each time.
    """

    filings: str = dspy.InputField(desc="the library's companies, with the forms and fiscal years at hand")
    measures: str = dspy.InputField(
        desc="measures that the question names, by formula and statements", default=rules.NONE
    )
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc="earlier turns and their answers", default=rules.NONE)
    today: str = dspy.InputField(desc="the day that counts as today")
    question: str = dspy.InputField()

    companies: list[str] = dspy.OutputField(
        desc="the companies that the question is about, by their names in filings; [] for any"
    )
    years: list[int] = dspy.OutputField(
        desc="fiscal years of the filings to look in; a filing prints the year before too, and its income and cash flow "
        "statements two before. [] for any"
    )
    statements: list[Statement] = dspy.OutputField(desc="main statements that hold what is needed; [] for none")
    searches: list[str] = dspy.OutputField(desc="three to six short phrases, the likeliest first")
