"""Library search: which companies, years, statements and phrases a question over filings needs."""

from __future__ import annotations

import dspy

from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.library.search import PlanSearches

LAYER = "filing_search"

MOST_SEARCHES = 8


class LibrarySearch(dspy.Module):  # type: ignore[misc]
    """One call before any page is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.plan = dspy.Predict(PlanSearches)

    def forward(
        self,
        *,
        question: str,
        filings: str,
        today: str,
        measures: str = rules.NONE,
        knowledge: str = rules.NONE,
        conversation: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction with `companies`, `years`, `statements` and `searches`; raises OutputError for unusable text."""
        made = ask(
            self.plan,
            LAYER,
            filings=filings,
            measures=measures,
            knowledge=knowledge,
            conversation=conversation,
            today=today,
            question=question,
        )
        return dspy.Prediction(
            companies=[name.strip() for name in made.companies if name.strip()],
            years=sorted({year for year in made.years if 1900 <= year <= 2100}),
            statements=list(dict.fromkeys(made.statements)),
            searches=phrases(made.searches),
        )


def phrases(written: list[str]) -> list[str]:
    """Phrases without empty ones and repetitions, as many as are searched for."""
    return list(dict.fromkeys(phrase.strip() for phrase in written if phrase.strip()))[:MOST_SEARCHES]
