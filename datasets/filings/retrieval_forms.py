"""Forms of a retrieval question: as it stands, and with its company and year named the way people do.

    "what was the change in net revenue?", ETR, 2016, "year before"  ->
    "For Entergy the year before fiscal 2017: what was the change in net revenue?"

A form is made of the question's own metadata; which way of naming is taken depends on the seed and the id alone. The name
of the company is that of its table without the legal form, one of its aliases, or its symbol. No model is asked.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from dataclasses import dataclass
from typing import Literal

from finexpert.filings.companies.companies import Companies

Form = Literal["bare", "named"]
FORMS: tuple[Form, ...] = ("bare", "named")

# {year} is the filing's year; {next} the one after; {short} its last two digits; {ago} and `as_of` make it relative.
TEMPLATES: dict[str, str] = {
    "fiscal year": "{question} ({name}, fiscal {year})",
    "annual report": "According to {name}'s {year} annual report, {question}",
    "short year": "{name} FY{short}: {question}",
    "report for": "In the report of {name} for {year}, {question}",
    "year before": "For {name} the year before fiscal {next}: {question}",
    "years ago": "Looking at {name} {ago} years ago, {question}",
    "last year": "Last year at {name}: {question}",
    "10-K": "{question} (10-K for fiscal year {year}, {name})",
}
_LEGAL = re.compile(
    r"(?:,?\s+(?:inc|corp|corporation|plc|co|company|ltd|n\.v|s\.a|lp)\.?|\s+&\s+co\.?|\s*\([^)]*\))+$", re.IGNORECASE
)


@dataclass(frozen=True)
class Asked:
    """A question in one form; `as_of` is the day that counts as today."""

    text: str
    as_of: dt.date
    template: str


def asked(question: str, form: Form, ticker: str, year: int, companies: Companies, seed: str) -> Asked:
    """The question in a form; the same for the same arguments.

    >>> from finexpert.filings.companies.companies import Company
    >>> table = Companies([Company("ETR", "Entergy Corporation")])
    >>> asked("what was net revenue?", "named", "ETR", 2016, table, "7").text
    'Last year at Entergy: what was net revenue?'
    """
    if form == "bare":
        return Asked(question, dt.date(year + 1, 6, 30), form)
    chance = random.Random(f"{seed} {ticker} {year} {question}")
    template = chance.choice(list(TEMPLATES))
    ago = 1 if template == "last year" else chance.randint(2, 8)
    today = dt.date(year + ago, chance.randint(1, 12), 15)
    values = {"year": year, "next": year + 1, "short": f"{year % 100:02}", "ago": ago, "question": question}
    return Asked(TEMPLATES[template].format(name=_name(ticker, companies, chance), **values), today, template)


def _name(ticker: str, companies: Companies, chance: random.Random) -> str:
    company = companies.find(ticker)
    names = [companies.name_of(ticker), *(company.aliases if company else ())]
    usual = [shorter for name in names if len(shorter := _LEGAL.sub("", name).strip()) > 2]
    # A short symbol may be any abbreviation (IP, MS): whoever uses it says what it is.
    symbol = ticker if len(ticker) > 2 else f"ticker {ticker}"
    return chance.choice([*dict.fromkeys(usual), symbol])
