"""Keys that no constraint declares: foreign keys by name and inclusion.

    trades.account_id, and a table accounts whose account_id is unique  ->  trades.account_id -> accounts.account_id (inferred)

Names propose, values decide: a sample of the column has to stand in the other one. What was inferred is marked so wherever it is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from finexpert.warehouse.dates import words
from finexpert.warehouse.schema import ForeignKey, TableSchema

_FIRST_COLUMNS = 3
_ENDS = ("id", "key", "code", "cd", "no", "num", "nr", "number", "symbol", "ticker", "isin", "cusip", "sku")
# One word is enough where it says what is named; an id alone may be anything's.
_TELLING = ("symbol", "ticker", "isin", "cusip", "sku")


class Lookup(Protocol):
    """Looks at values at home: both answer None where there was no time.

    Must not let a value leave.
    """

    def unique(self, table: TableSchema, column: str) -> bool | None: ...

    def included(self, table: TableSchema, column: str, other: TableSchema, other_column: str) -> bool | None: ...


def with_inferred(tables: Sequence[TableSchema], look: Lookup) -> list[TableSchema]:
    """The tables with the foreign keys that names and values speak for, beside those that are declared."""
    index = _Index(tables)
    found = []
    for table in tables:
        known = {column for key in table.foreign_keys for column in key.columns}
        new = [key for key in _proposed(table, index, look) if key.columns[0] not in known]
        found.append(replace(table, foreign_keys=(*table.foreign_keys, *new)) if new else table)
    return found


def by_name(tables: Sequence[TableSchema]) -> Iterator[tuple[str, str]]:
    """The pairs of tables of which one may refer to the other: by a key that is known, else by a name alone, which is a guess.

    >>> from finexpert.warehouse.schema import Column
    >>> trades = TableSchema("trades", "", (Column("trade_id", "BIGINT"), Column("account_id", "INTEGER")))
    >>> list(by_name([trades, TableSchema("accounts", "", (Column("account_id", "INTEGER"),))]))
    [('trades', 'accounts')]
    """
    index = _Index(tables)
    for table in tables:
        known = {column: key.table for key in table.foreign_keys for column in key.columns}
        yield from ((table.name, other) for other in set(known.values()))
        for column in table.columns:
            if (column.name,) in table.keys or column.name in known:
                continue
            for other, target in index.targets(column.name):
                if other.name != table.name and target in (other.columns[0].name, *map(_only, other.keys)):
                    yield table.name, other.name
                    break


def _only(key: tuple[str, ...]) -> str:
    return key[0] if len(key) == 1 else ""


def key_of(table: TableSchema, look: Lookup) -> str | None:
    """The column of a table without a declared key that is its key: called so, and without any value twice."""
    own = words(table.name.rpartition(".")[2])
    for column in table.columns[:_FIRST_COLUMNS]:
        parts = words(column.name)
        named = (
            parts[-1:]
            and parts[-1] in _ENDS
            and (len(parts) == 1 or singular(parts[-2]) == singular((own or [""])[-1]))
        )
        if named and look.unique(table, column.name) is True:
            return column.name
    return None


class _Index:
    """Tables by what a column that refers to them may be called: by their key, and by their own name."""

    def __init__(self, tables: Sequence[TableSchema]) -> None:
        self.by_key: dict[str, list[TableSchema]] = defaultdict(list)
        self.by_name: dict[str, list[TableSchema]] = defaultdict(list)
        for table in tables:
            keys = [key[0] for key in table.keys if len(key) == 1] or [column.name for column in table.columns[:1]]
            for key in keys:
                self.by_key[key.lower()].append(table)
            if name := words(table.name.rpartition(".")[2]):
                self.by_name[singular(name[-1])].append(table)

    def targets(self, column: str) -> Iterator[tuple[TableSchema, str]]:
        """The columns that a column may refer to, the likeliest first."""
        parts = words(column)
        if not parts or parts[-1] not in _ENDS or (len(parts) == 1 and parts[0] not in _TELLING):
            return
        named = self.by_name[singular(parts[-2])] if len(parts) > 1 else []
        for table in named:
            # Among columns of accounts, account_id is looked for first, then id.
            for name in (column, parts[-1]):
                if (found := table.column(name)) is not None:
                    yield table, found.name
        for table in self.by_key[column.lower()]:
            if table not in named and (found := table.column(column)) is not None:
                yield table, found.name


def _proposed(table: TableSchema, index: _Index, look: Lookup) -> Iterator[ForeignKey]:
    for column in table.columns:
        if (column.name,) in table.keys:
            continue
        for other, target in index.targets(column.name):
            if other.name == table.name or ((target,) not in other.keys and look.unique(other, target) is not True):
                continue
            if look.included(table, column.name, other, target):
                yield ForeignKey((column.name,), other.name, (target,), inferred=True)
                break


def singular(word: str) -> str:
    """
    >>> singular("accounts"), singular("currencies"), singular("branches"), singular("status")
    ('account', 'currency', 'branch', 'status')
    """
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
