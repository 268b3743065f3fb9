"""Which pages of a filing are its main statements: told by their heading and by lines that every such statement has.

    statement_of(page)  ->  "balance sheet"

A table of contents names them all and is none of them; a note that speaks of one has not its lines.
"""

from __future__ import annotations

import re
from typing import Literal

from finexpert.plans.pages.printed import Printed

Statement = Literal["income statement", "balance sheet", "cash flow statement", "equity statement"]

# Compared without white space: headings are often set with odd gaps ("Cash Flow s").
_HEADINGS: dict[Statement, re.Pattern[str]] = {
    "balance sheet": re.compile(r"balancesheets?|statements?of(?:consolidated)?financial(?:position|condition)"),
    "cash flow statement": re.compile(r"statements?of(?:consolidated)?cashflows?|cashflows?statements?"),
    "equity statement": re.compile(
        r"statements?of(?:changesin)?(?:consolidated)?(?:(?:total)?equity|(?:share|stock)(?:holders|owners)\W{0,2}s?equity)"
    ),
    "income statement": re.compile(
        r"statements?of(?:consolidated)?(?:net)?(?:income|earnings|operations)(?!taxes)|incomestatements?|profitandloss"
    ),
}
_LINES: dict[Statement, tuple[re.Pattern[str], ...]] = {
    "balance sheet": (re.compile(r"total\s+assets"), re.compile(r"total\s+(?:current\s+)?liabilities|shareholders|equity")),
    "cash flow statement": (re.compile(r"operating\s+activities"), re.compile(r"investing\s+activities|financing\s+activities")),
    "equity statement": (re.compile(r"balance,?\s|balances?\s+at"), re.compile(r"retained\s+earnings|accumulated")),
    "income statement": (
        re.compile(r"net\s+(?:income|earnings|loss)|profit\s+for\s+the"),
        re.compile(r"revenue|sales|interest\s+income"),
        re.compile(r"income\s+tax|per\s+share|cost\s+of|costs\s+and\s+expenses|expenses"),
    ),
}  # fmt: skip
_TOP = 700
_LEAST_ROWS = 8
_MOST_HEADINGS = 2
_ROW = re.compile(r"\|.*\d")


def statement_of(page: Printed) -> Statement | None:
    """The statement that a page prints; None where it prints none."""
    top = _squeezed(page.text[:_TOP])
    headed = [kind for kind, pattern in _HEADINGS.items() if pattern.search(top)]
    rows = sum(bool(_ROW.search(line.text)) for line in page.lines)
    if not headed or rows < _LEAST_ROWS:
        return None
    text = page.text.lower()
    if len(headed) > _MOST_HEADINGS or "indexto" in top:
        return None
    return next((kind for kind in headed if all(line.search(text) for line in _LINES[kind])), None)


def statements_in(question: str) -> list[Statement]:
    """The statements that a question names.

    >>> statements_in("What is net PPNE, by the balance sheet and the P&L statement?")
    ['balance sheet', 'income statement']
    """
    text = _squeezed(question.lower().replace("p&l", "profit and loss"))
    return [kind for kind, pattern in _HEADINGS.items() if pattern.search(text)]


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text.lower())
