"""Rows of the tables that hold entries, whichever database they are in.

as_entry(["glossary", "5f0c...", '["stress month"]', "active", 2, "edit", "anna", ...])  ->  Entry(...)
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from finexpert.embeddings.vectors import Vectors
from finexpert.errors import StoreError
from finexpert.knowledge.entries.entries import Entry
from finexpert.storage import foreign_json

COLUMNS = ", ".join(
    f"v.{name}"
    for name in ["collection", "id", "names", "status", "version", "action", "author", "written_at", "body", "phrases"]
)
SCHEMA_VERSION = 1


class Run(Protocol):
    """Runs one statement, with `?` for its values, and gives its rows."""

    def __call__(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...


class Written(NamedTuple):
    """A version with its number in the store, that of the version before, and the vectors of its phrases."""

    entry: Entry
    seq: int
    old_seq: int | None
    vectors: Vectors


def marks(number: int) -> str:
    """
    >>> marks(3)
    '?, ?, ?'
    """
    return ", ".join("?" * number) or "NULL"


class Unreadable(StoreError):
    """A row does not hold what was written into it."""


@contextmanager
def read_back() -> Iterator[None]:
    """Around the reading of what the store wrote itself: whatever is wrong with it, the file was damaged since."""
    try:
        yield
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise Unreadable(f"what the store holds cannot be read ({type(error).__name__}): it is damaged") from error


def as_entry(row: Sequence[Any]) -> Entry:
    """The entry of a row of `COLUMNS`."""
    collection, id, names, status, version, action, author, written_at, body, phrases = row
    with read_back():
        at = dt.datetime.fromisoformat(written_at)
        listed = tuple(foreign_json.parse(names)), tuple(foreign_json.parse(phrases))
        return Entry(
            collection, id, listed[0], status, version, action, author, at, foreign_json.parse(body), listed[1]
        )
