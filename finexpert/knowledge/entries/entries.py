"""Entries: what every store keeps, whatever it is kept in. A process is an entry, and so is a keyword.

    Entry(collection="glossary", id="5f0c...", names=("stress month",), status="active", version=2, action="edit",
          by="anna", body={"term": "stress month", "meaning": "a month in which ..."}, phrases=("stress month",), ...)

An entry is never overwritten: every change is a new version, and the earlier ones stay as its history. What is
found by meaning is found by its phrases, each of which has a vector. Nothing here knows what a body means.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from finexpert.embeddings.vectors import Vectors

Status = Literal["draft", "active", "retired"]

ACTIVE: tuple[Status, ...] = ("active",)
CURRENT: tuple[Status, ...] = ("draft", "active")


@dataclass(frozen=True)
class Entry:
    """One version of an entry. `names` are normalised; `at` is in UTC."""

    collection: str
    id: str
    names: tuple[str, ...]
    status: Status
    version: int
    action: str
    by: str
    at: dt.datetime
    body: Mapping[str, Any]
    phrases: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """What is to be kept: a new entry (`id` None or not there yet), or a new version of one."""

    body: Mapping[str, Any]
    names: Sequence[str]
    phrases: Sequence[str]
    status: Status
    action: str
    by: str
    id: str | None = None
    expected_version: int | None = None


@dataclass(frozen=True)
class Hit:
    """An entry found, by the phrase that was nearest, with their cosine."""

    entry: Entry
    score: float
    phrase: str


class EntryStore(Protocol):
    """Keeps entries in collections.

    Must make a change durable, whole, before `write_all` returns, also for other processes. Must refuse names that
    another entry of the collection has that is not retired, and must do so within the transaction of the change. May
    be used by several threads and processes at once. Must not change or drop an earlier version. Must never compare
    vectors of two embedders.
    """

    @property
    def place(self) -> str:
        """Where it is, without a password."""
        ...

    def write_all(self, collection: str, changes: Sequence[Change]) -> list[Entry]:
        """Keep all changes or, where one is refused, none.

        Raises NameTaken; StaleEntry when the current version of an entry is not `expected_version`.
        """
        ...

    def get(self, collection: str, id: str) -> Entry | None:
        """The current version, whatever its status."""
        ...

    def named(self, collection: str, name: str) -> Entry | None:
        """The current version that has this normalised name and is not retired."""
        ...

    def entries(self, collection: str, statuses: Sequence[Status] = CURRENT) -> list[Entry]:
        """The current versions with one of these statuses, by first name."""
        ...

    def names(self, collection: str, statuses: Sequence[Status] = ACTIVE) -> list[tuple[str, str]]:
        """Each name of the entries with one of these statuses, and the id of its entry; what is retired has none."""
        ...

    def history(self, collection: str, id: str | None = None, limit: int = 100) -> list[Entry]:
        """Every version of an entry, or of all, the newest first."""
        ...

    def search(
        self, collection: str, vectors: Vectors, limit: int = 8, statuses: Sequence[Status] = ACTIVE
    ) -> list[Hit]:
        """The entries nearest to any of the vectors (n, dimensions), each once, with its best score first."""
        ...

    def count(self, collection: str, statuses: Sequence[Status] = ACTIVE) -> int: ...

    def stamp(self) -> int:
        """A number that differs after every change, whoever made it; cheap enough to be asked at every question."""
        ...

    def made_with(self) -> str | None:
        """The name of the embedder that the vectors are of; None while there are none."""
        ...

    def reindex(self, done: Callable[[int], None] = ...) -> int:
        """Make all vectors anew with the embedder at hand, at once for everybody; how many entries that were.

        Nothing else is changed, and nothing at all where it is interrupted. `done` is told of entries as they are embedded.
        """
        ...

    def close(self) -> None: ...
