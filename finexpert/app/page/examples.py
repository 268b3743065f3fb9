"""Questions that a source invites, so that nobody begins before an empty box.

    examples_for(schema)    ["How many trades are there by region?", ...]

They come from names of tables, columns and companies; no row is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from finexpert.app.state.stored import FilingRow, SourceSchema, TableInfo
from finexpert.datasets.fred.series import TABLES
from finexpert.warehouse.dates import words

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
_TEXTS = ("VARCHAR", "TEXT", "CHAR", "ENUM")
_split = str.split
# Names of keys, of times and of marks; most often it is the last word that says so: `number` of `number_of_employees` counts.
_KEYS = frozenset(
    _split(
        "id uid uuid guid cid mid pid txid key code cd no nr num number ref symbol isin cusip sku zip postcode phone serial mcc year yr "
        "month quarter week day hour minute second date dt time timestamp type flag status version rev seq sequence line lat latitude "
        "lon lng longitude"
    )
)
# Each row has another one, or it is nobody's business.
_NO_GROUP = frozenset(_split("description comment comments note notes text hash password email address url"))
# What is added up over rows says nothing.
_NOT_ADDED = frozenset(
    _split(
        "pct percent percentage perc bp bps rate rates ratio share margin discount yield weight fraction utilization spread index price "
        "prices open high low close bid ask balance nav level limit age score rating rank ranking probability factor beta correlation "
        "volatility duration average avg mean median min max growth return temperature height bmi"
    )
)


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
    added = [name for name in numbers if not _NOT_ADDED & set(words(name))]
    texts = [column.name for column in table.columns if column.type.upper().startswith(_TEXTS)]
    groups = [name for name in texts if not _is_key(name) and not _NO_GROUP & set(words(name))]
    days = [column.name for column in table.columns if column.type.upper().startswith(("DATE", "TIMESTAMP"))]
    name = _said(table.name.rpartition(".")[2])
    first, how = (added[0], "total") if added else (numbers[0] if numbers else "", "average")
    if first and groups:
        yield f"What is the {how} {_said(first)} of {name} by {_said(groups[0])}?"
    if first and days:
        yield f"Show the {how} {_said(first)} of {name} by month, as a table."
    if not first:
        yield f"How many {name} are there?"


def _is_number(type: str) -> bool:
    return any(word in type.upper() for word in _NUMBERS)


def _is_key(name: str) -> bool:
    """Whether a column counts nothing.

    >>> _is_key("trade_id"), _is_key("tradeId"), _is_key("zip"), _is_key("number_of_trades"), _is_key("amount")
    (True, True, True, False, False)
    """
    said = words(name)
    # DuckDB calls a column without a name so: most often it numbers the rows.
    return bool(_KEYS & set(said[-1:])) or said[:1] == ["column"]


def _said(name: str) -> str:
    return name.replace("_", " ").strip()
