"""Filing search: what to look for next, where the words of the question did not find the page."""

from __future__ import annotations

import dspy

from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.filing_search import WriteSearch

LAYER = "filing_search"

# More would only repeat what the first phrases find.
MOST_PHRASES = 4


class FilingSearch(dspy.Module):  # type: ignore[misc]
    """Writes the phrases and years of a further search; asked only after a search has failed."""

    def __init__(self) -> None:
        super().__init__()
        self.search = dspy.Predict(WriteSearch)

    def forward(self, *, question: str, tried: str, knowledge: str = rules.NONE) -> dspy.Prediction:
        """A prediction with `phrases` and `years`; raises OutputError for unusable text."""
        made = ask(self.search, LAYER, knowledge=knowledge, question=question, tried=tried)
        phrases = [phrase.strip() for phrase in made.phrases if phrase.strip()][:MOST_PHRASES]
        return dspy.Prediction(phrases=phrases, years=sorted({year for year in made.years if 1900 <= year <= 2100}))
