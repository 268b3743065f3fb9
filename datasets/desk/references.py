"""Every reference function by its name: what gold of a question, or the expectation of a transcript, may rest on.

    REFERENCES["recessions_since_2000"](FredTables(warehouse, as_of))

The functions of questions carry the ids of these; those that stand here belong to transcripts alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finexpert.datasets.desk.keyword_references import KEYWORD_REFERENCES
from finexpert.datasets.desk.process_references import PROCESS_REFERENCES
from finexpert.datasets.fred import questions
from finexpert.datasets.fred.questions import Question
from finexpert.datasets.fred.references import REFERENCES as FRED_REFERENCES
from finexpert.datasets.fred.references import Reference
from finexpert.datasets.fred.tables import FredTables
from finexpert.warehouse.warehouse import Warehouse


def recessions_since_2000(fred: FredTables) -> list[int]:
    """For each recession that started since 2000: year and month of its first and of its last quarter, its months."""
    return [
        number
        for recession in fred.recessions
        if recession.start >= pd.Timestamp("2000-01-01")
        for number in (
            recession.start.year,
            recession.start.month,
            recession.end.year,
            recession.end.month,
            recession.months,
        )
    ]


REFERENCES: Mapping[str, Reference] = {
    **FRED_REFERENCES,
    **KEYWORD_REFERENCES,
    **PROCESS_REFERENCES,
    "recessions_since_2000": recessions_since_2000,
}


def gold(question: Question, warehouse: Warehouse) -> Any:
    """The right answer to a question of the desk set, or to one over FRED."""
    return questions.gold(question, warehouse, REFERENCES)
