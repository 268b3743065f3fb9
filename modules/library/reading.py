"""Library reading: one call over the best pages; what it quotes and computes is checked by the journey, not here."""

from __future__ import annotations

import dspy

from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.library.reading import ReadPages

LAYER = "filing_reading"


class LibraryReading(dspy.Module):  # type: ignore[misc]
    """Reads several pages together."""

    def __init__(self) -> None:
        super().__init__()
        self.read = dspy.Predict(ReadPages)

    def forward(
        self,
        *,
        question: str,
        pages: str,
        operations: str,
        measures: str = rules.NONE,
        knowledge: str = rules.NONE,
        conversation: str = rules.NONE,
        answer_type: str = rules.NONE,
        feedback: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction with the fields of `ReadPages`; raises OutputError for unusable text."""
        return ask(
            self.read,
            LAYER,
            pages=pages,
            measures=measures,
            operations=operations,
            knowledge=knowledge,
            conversation=conversation,
            answer_type=answer_type,
            question=question,
            feedback=feedback,
        )
