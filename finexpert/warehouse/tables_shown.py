"""The tables of a schema that a prompt shows, and their card: all where there is room, else those that a question may need.

tables_for("overdue consumer loans by branch", schemas)   ->   [<crd_loan_arrears_m>, <crd_loan_master>, ...]
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import pandas as pd

from finexpert.embeddings.embedding import embedder
from finexpert.settings import Settings
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.schema_card import describe_schema
from finexpert.warehouse.table_selection import select_tables

# On 5,000 generated tables the one needed is among the first ten for 99 % of questions; more leaves room for joins.
SHOWN = 20
# Letters of a card that a prompt has room for, of so many tables at most. Names in another language than the question's are hard to
# find by, so what has room is shown whole.
ROOM = 16_000
MOST_SHOWN = 80


def tables_for(question: str, schemas: Sequence[TableSchema]) -> Sequence[TableSchema]:
    """The tables to show for a question: all that there is room for, else those selected, in the schema's order."""
    if not question or len(schemas) <= SHOWN or (len(schemas) <= MOST_SHOWN and sum(map(_letters, schemas)) <= ROOM):
        return schemas
    settings = Settings()
    by = embedder(settings.embedder)
    found = select_tables(
        question, schemas, min(MOST_SHOWN, len(schemas) - 1), by=by, cache=settings.home / "cache" / "tables"
    )
    letters = {table.name: _letters(table) for table in schemas}
    used = itertools.accumulate(letters[name] for name in found)
    names = {
        name for place, (name, sum_of) in enumerate(zip(found, used, strict=True)) if place < SHOWN or sum_of <= ROOM
    }
    return [table for table in schemas if table.name in names]


def _letters(table: TableSchema) -> int:
    """About how many letters a table takes in a card."""
    said = (
        each
        for column in table.columns
        for each in (column.name, column.type, column.comment, *(column.categories or ()))
    )
    return len(table.name) + len(table.comment) + 5 * len(table.columns) + sum(map(len, said))


def card_of(
    shown: Sequence[TableSchema], of: int, samples: Mapping[str, pd.DataFrame] | None = None, dialect: str = "duckdb"
) -> str:
    """The schema card of some tables; it says how many more there are."""
    card = describe_schema(shown, samples, dialect)
    return card if len(shown) == of else f"{card}\n\n({of - len(shown):,} more tables are not shown)"
