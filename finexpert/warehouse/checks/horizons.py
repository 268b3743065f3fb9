"""Whether every table of a SELECT can be seen as of a day, and which column tells.

SELECT ... FROM trades JOIN accounts USING (account_id), as of 2022-06-30
    trades is seen by executed_at; accounts has no date, and is what trades refers to: it is read as it stands today, and that is said
"""

from __future__ import annotations

import datetime as dt

from finexpert.errors import AsOfError
from finexpert.warehouse.checks.reading import Read
from finexpert.warehouse.schema import TableSchema


def check_horizon(one: Read, day: dt.date) -> list[str]:
    """Notes on how each table is seen as of a day; raises AsOfError for a table of which that can't be told."""
    notes = []
    for table in one.used:
        if table.timeless:
            continue
        if table.date is None:
            if not _is_referred_to(table, one.used):
                raise AsOfError(_unknown(table, day))
            notes.append(f"{table.name} has no date column: it is read as it stands today, not as of {day}")
        elif not table.date.declared:
            others = f" (it also has {', '.join(table.date.others)})" if table.date.others else ""
            notes.append(f"{table.name} is seen up to {day} by {table.date.name}{others}")
    return notes


def _is_referred_to(table: TableSchema, used: list[TableSchema]) -> bool:
    """Whether rows of a table that has a date refer to it, so that it only describes what is seen as of the day."""
    return any(
        key.table == table.name
        for other in used
        if other.date is not None or other.timeless
        for key in other.foreign_keys
    )


def _unknown(table: TableSchema, day: dt.date) -> str:
    dates = [
        column.name for column in table.columns if column.dates or column.type.upper().startswith(("DATE", "TIMESTAMP"))
    ]
    which = f"none of {', '.join(dates)} tells when a row became known" if dates else "it has no date column"
    return (
        f"{table.name} cannot be seen as of {day}: {which}. Say in the semantic model which column does, or that the table is timeless "
        f"(`finexpert model init` writes one), or ask without --as-of"
    )
