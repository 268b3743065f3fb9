"""Questions that a source invites, so that nobody begins before an empty box.

    examples_for(schema)    ["How many trades are there by region?", ...]

They come from names of tables, columns and companies; no row is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from finexpert.app.state.stored import FilingRow, SourceSchema, TableInfo
from finexpert.datasets.fred.series import TABLES

MOST = 4
_ECONOMY = (
    "How many recessions have there been in the last 30 years?",
    "Plot the unemployment rate and its 12-month moving average since January 2000, and tell me when the moving average was highest.",
    (
        "Show real GDP quarter by quarter since 2000, with a running count of how many quarters in a row it has been lower than in the "
        "quarter before."
    ),
)
_NUMBERS = ("INT", "DOUBLE", "DECIMAL", "NUMERIC", "FLOAT", "REAL", "HUGEINT")
_KEYS = ("id", "key", "code", "number", "year")


def examples_for(schema: SourceSchema) -> list[str]:
    """At most four questions."""
    if set(TABLES) <= {table.name for table in schema.tables}:
        return list(_ECONOMY)
    found = dict.fromkeys(
        [*_of_filings(schema.filings), *(each for table in schema.tables for each in _of_table(table))]
    )
    return list(found)[:MOST]


def examples_of_all(each: Sequence[Sequence[str]]) -> list[str]:
    """The first of each source, then the second of each, and so on.

    >>> examples_of_all([["a", "b"], ["c"]])
    ['a', 'c', 'b']
    """
    if len(each) == 1:
        return list(each[0])
    turns = zip_longest(*each)
    return [example for turn in turns for example in turn if example][:MOST]


def _of_filings(filings: Sequence[FilingRow]) -> Iterator[str]:
    latest = {
        filing.company: filing for filing in sorted(filings, key=lambda each: each.fiscal_year or 0) if filing.company
    }
    dated = [filing for filing in latest.values() if filing.fiscal_year]
    for filing in dated[:2]:
        yield f"What was the revenue of {filing.company} in {filing.fiscal_year}?"
    if len(dated) > 1:
        first, second = dated[:2]
        yield f"Which had the higher revenue in {first.fiscal_year}, {first.company} or {second.company}?"


def _of_table(table: TableInfo) -> Iterator[str]:
    numbers = [column.name for column in table.columns if _is_number(column.type) and not _is_key(column.name)]
    words = [
        column.name for column in table.columns if column.type.upper().startswith(("VARCHAR", "TEXT", "CHAR", "ENUM"))
    ]
    days = [column.name for column in table.columns if column.type.upper().startswith(("DATE", "TIMESTAMP"))]
    name = _said(table.name.rpartition(".")[2])
    if numbers and words:
        yield f"What is the total {_said(numbers[0])} of {name} by {_said(words[0])}?"
    if numbers and days:
        yield f"Show the {_said(numbers[0])} of {name} by month, as a table."
    if not numbers:
        yield f"How many {name} are there?"


def _is_number(type: str) -> bool:
    return any(word in type.upper() for word in _NUMBERS)


def _is_key(name: str) -> bool:
    """Whether a column counts nothing.

    >>> _is_key("trade_id"), _is_key("amount")
    (True, False)
    """
    return name.lower().rpartition("_")[2] in _KEYS


def _said(name: str) -> str:
    return name.replace("_", " ").strip()
