"""How much a question over a library needs: told by how many companies and years it is about, without a model.

difficulty(periods, mentions)          ->  "standard"
EFFORTS["standard"]                    ->  Effort(pages=4, iterations=1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from finexpert.filings.companies.companies import CompanyMention
from finexpert.modules.flow.page_search import Effort
from finexpert.text.periods.in_question import Periods

Difficulty = Literal["direct", "standard", "detailed"]

EFFORTS: Mapping[Difficulty, Effort] = {
    "direct": Effort(pages=5, iterations=0),
    "standard": Effort(pages=4, iterations=1),
    "detailed": Effort(pages=5, iterations=2),
}

# Below it an answer is flagged as weak; the parts were searched as often as the effort allows by then.
SATISFIED: Mapping[Difficulty, float] = {"direct": 0.7, "standard": 0.75, "detailed": 0.8}


def difficulty(periods: Periods, mentions: Sequence[CompanyMention]) -> Difficulty:
    """How much a question needs: one company and one time are direct, many of either detailed.

    A time may be two neighbouring years, which one page prints.
    """
    named, years = number_of_companies(mentions), periods.years
    if named == 1 and (not years or max(years) - min(years) <= 1):
        return "direct"
    return "detailed" if named > 2 or len(years) > 3 else "standard"


def number_of_companies(mentions: Sequence[CompanyMention]) -> int:
    """How many companies are meant: several symbols at one place are one."""
    return len(set({(mention.start, mention.end): mention.company for mention in mentions}.values()))
