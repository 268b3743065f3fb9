"""Library table: one call that fills a small table from the best pages; what it quotes is checked by the journey, not here."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from finexpert.modules.calling import ask
from finexpert.plans.pages.tabled import TableColumn
from finexpert.signatures import rules
from finexpert.signatures.library.reading import ReadTable

LAYER = "filing_reading"


class LibraryTable(dspy.Module):  # type: ignore[misc]
    """Reads several pages together into rows."""

    def __init__(self) -> None:
        super().__init__()
        self.read = dspy.Predict(ReadTable)

    def forward(
        self,
        *,
        question: str,
        columns: Sequence[TableColumn],
        pages: str,
        operations: str,
        measures: str = rules.NONE,
        knowledge: str = rules.NONE,
        feedback: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction with the fields of `ReadTable` and of an answer without words; raises OutputError for unusable text."""
        made = ask(
            self.read,
            LAYER,
            pages=pages,
            measures=measures,
            operations=operations,
            knowledge=knowledge,
            question=question,
            columns="; ".join(map(_told, columns)),
            feedback=feedback,
        )
        made.kind, made.result, made.listed, made.answer = "table", "", [], []
        return made


def _told(column: TableColumn) -> str:
    """
    >>> _told(TableColumn(name="revenue", unit="million USD"))
    'revenue (number, million USD)'
    """
    return f"{column.name} ({', '.join(filter(None, (column.kind, column.unit)))})"
