"""Filing search: other words to look for after a search did not find the page."""

from __future__ import annotations

import dspy

from finexpert.signatures import rules


class WriteSearch(dspy.Signature):  # type: ignore[misc]
    """Say under which words a company's filing prints what a question asks for, where a first search found no page.

    Give what stands on such a page: names of statements and notes, labels of table rows, synonyms that accountants use.
    A figure of one year is also printed in the filings of the next two years.
    """

    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    question: str = dspy.InputField()
    tried: str = dspy.InputField(desc="pages that were read already, and what they lack")

    phrases: list[str] = dspy.OutputField(desc="two to four short phrases, the likeliest first")
    years: list[int] = dspy.OutputField(desc="fiscal years of the filings to look in; [] for any")
