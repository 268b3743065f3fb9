"""Entries in an SQL database: what the file and the server have in common.

    versions   every version of every entry, only ever added to; its `seq` is the stamp of the store
    latest     which version of an entry is the current one, and its status
    names      the names of entries that are not retired: one entry a name
    about      the version of this schema, and the embedder that the vectors are of

A change, its history, its names and its vectors are one transaction. Texts are embedded before it begins, so nobody
waits for a model. How vectors are kept and searched is up to the engine.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import threading
import uuid
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from finexpert.errors import EmbedderMismatch, NameTaken, StaleEntry, StoreError
from finexpert.stores.embedding import Embedder
from finexpert.stores.entries import CURRENT, Entry, Hit, Status, Vectors

COLUMNS = ", ".join(
    f"v.{name}"
    for name in ["collection", "id", "names", "status", "version", "action", "author", "written_at", "body", "phrases"]
)
SCHEMA_VERSION = 1
_STORES: weakref.WeakSet[SqlEntries] = weakref.WeakSet()


class Run(Protocol):
    """Runs one statement, with `?` for its values, and gives its rows."""

    def __call__(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...


class SqlEntries(ABC):
    """An `EntryStore` over SQL; one connection, used by one thread at a time, and never by a forked child."""

    def __init__(self, place: str, embedder: Embedder) -> None:
        self.place, self.embedder = place, embedder
        self._same_embedder = False
        self._lock = threading.RLock()
        _STORES.add(self)

    def write(
        self,
        collection: str,
        *,
        body: Mapping[str, Any],
        names: Sequence[str],
        phrases: Sequence[str],
        status: Status,
        action: str,
        by: str,
        id: str | None = None,
        expected_version: int | None = None,
    ) -> Entry:
        id, names, phrases = id or uuid.uuid4().hex, tuple(dict.fromkeys(names)), tuple(dict.fromkeys(phrases))
        written = json.dumps(dict(body), allow_nan=False)
        vectors = self._embedded(phrases)
        with self._transaction(writing=True) as run:
            self._check_embedder(run, remember=True)
            old_seq, version = self._latest(run, collection, id)
            if expected_version not in (None, version):
                raise StaleEntry(self._stale(collection, id, version, expected_version))
            if status != "retired":
                self._refuse_taken(run, collection, id, names)
            version, at = version + 1, dt.datetime.now(dt.UTC)
            entry = Entry(collection, id, names, status, version, action, by, at, json.loads(written), phrases)
            row = (json.dumps(names), status, version, action, by, at.isoformat(), written, json.dumps(phrases))
            run(f"INSERT INTO versions ({COLUMNS.replace('v.', '')}) VALUES ({marks(10)})", (collection, id, *row))
            seq = run("SELECT max(seq) FROM versions")[0][0]
            run("DELETE FROM latest WHERE collection = ? AND id = ?", (collection, id))
            run("INSERT INTO latest VALUES (?, ?, ?, ?)", (collection, id, seq, status))
            run("DELETE FROM names WHERE collection = ? AND id = ?", (collection, id))
            for name in names if status != "retired" else ():
                run("INSERT INTO names VALUES (?, ?, ?)", (collection, name, id))
            self._keep_vectors(run, entry, old_seq, seq, vectors)
        return entry

    def get(self, collection: str, id: str) -> Entry | None:
        return next(
            iter(self._select("JOIN latest USING (seq) WHERE v.collection = ? AND v.id = ?", collection, id)), None
        )

    def named(self, collection: str, name: str) -> Entry | None:
        where = "JOIN latest l USING (seq) JOIN names n ON n.collection = l.collection AND n.id = l.id"
        return next(iter(self._select(f"{where} WHERE n.collection = ? AND n.name = ?", collection, name)), None)

    def entries(self, collection: str, statuses: Sequence[Status] = CURRENT) -> list[Entry]:
        where = f"JOIN latest l USING (seq) WHERE l.collection = ? AND l.status IN ({marks(len(statuses))})"
        return sorted(self._select(where, collection, *statuses), key=lambda entry: (entry.names[:1], entry.id))

    def history(self, collection: str, id: str | None = None, limit: int = 100) -> list[Entry]:
        one = "" if id is None else "AND v.id = ?"
        values = [collection, *([] if id is None else [id]), limit]
        return self._select(f"WHERE v.collection = ? {one} ORDER BY v.seq DESC LIMIT ?", *values)

    def count(self, collection: str, statuses: Sequence[Status] = ("active",)) -> int:
        with self._transaction() as run:
            select = f"SELECT count(*) FROM latest WHERE collection = ? AND status IN ({marks(len(statuses))})"
            return int(run(select, (collection, *statuses))[0][0])

    def stamp(self) -> int:
        with self._transaction() as run:
            return self._stamp(run)

    @abstractmethod
    def search(
        self, collection: str, vectors: Vectors, limit: int = 8, statuses: Sequence[Status] = ("active",)
    ) -> list[Hit]: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _transaction(self, *, writing: bool = False) -> AbstractContextManager[Run]:
        """What is run inside is whole and durable when it ends, or not there at all; one writer at a time."""

    @abstractmethod
    def _keep_vectors(self, run: Run, entry: Entry, old_seq: int | None, seq: int, vectors: Vectors) -> None:
        """Put the vectors of a version in the place of those of the version before."""

    @abstractmethod
    def _forget_connection(self) -> None:
        """After a fork: leave the connection to the parent, without closing it."""

    def _select(self, where: str, *values: Any) -> list[Entry]:
        with self._transaction() as run:
            return [as_entry(row) for row in run(f"SELECT {COLUMNS} FROM versions v {where}", values)]

    def _stamp(self, run: Run) -> int:
        return int(run("SELECT max(seq) FROM versions")[0][0] or 0)

    def _latest(self, run: Run, collection: str, id: str) -> tuple[int | None, int]:
        """The number of an entry's current version in the store, and in its own history (0 where there is none)."""
        select = "SELECT seq, v.version FROM latest l JOIN versions v USING (seq) WHERE l.collection = ? AND l.id = ?"
        return next(((seq, version) for seq, version in run(select, (collection, id))), (None, 0))

    def _refuse_taken(self, run: Run, collection: str, id: str, names: Iterable[str]) -> None:
        for name in names:
            for (other,) in run("SELECT id FROM names WHERE collection = ? AND name = ?", (collection, name)):
                if other != id:
                    raise NameTaken(
                        f"{name!r} is the name of another entry of the {collection} in {self.place} already. "
                        f"`finexpert {collection} show {name!r}` shows it",
                        entry_id=other,
                    )

    def _stale(self, collection: str, id: str, version: int, expected: int | None) -> str:
        return (
            f"the entry {id} of the {collection} in {self.place} is at version {version}, not {expected}: "
            f"someone else changed it. `finexpert {collection} list` shows what it says now"
        )

    def _embedded(self, phrases: Sequence[str]) -> Vectors:
        if not phrases:
            return np.empty((0, self.embedder.dimensions), np.float32)
        vectors = np.ascontiguousarray(self.embedder.embed(phrases), dtype=np.float32)
        if vectors.shape != (len(phrases), self.embedder.dimensions) or not np.isfinite(vectors).all():
            raise StoreError(
                f"the embedder {self.embedder.name} gave {vectors.shape} numbers for {len(phrases)} texts, or some that "
                f"are not finite; set FINEXPERT_EMBEDDER to another"
            )
        return vectors

    def _check_embedder(self, run: Run, *, remember: bool = False) -> bool:
        """Whether there are vectors yet; EmbedderMismatch where they are another embedder's."""
        if self._same_embedder:
            return True
        mine = {"embedder": self.embedder.name, "dimensions": str(self.embedder.dimensions)}
        kept = dict(run("SELECT key, value FROM about WHERE key IN ('embedder', 'dimensions')"))
        if kept and kept != mine:
            raise EmbedderMismatch(
                f"{self.place} was made with the embedder {kept['embedder']} ({kept['dimensions']} dimensions), and the "
                f"one at hand is {self.embedder.name} ({self.embedder.dimensions}): vectors of two are never mixed. Set "
                f"FINEXPERT_EMBEDDER as it was, or `finexpert memory export FOLDER` and import it into a new store"
            )
        if not kept and remember:
            for key, value in mine.items():
                run("INSERT INTO about VALUES (?, ?)", (key, value))
        # Only what stood there before this transaction is certain: this one may still be taken back.
        self._same_embedder = bool(kept)
        return bool(kept)


def marks(number: int) -> str:
    """
    >>> marks(3)
    '?, ?, ?'
    """
    return ", ".join("?" * number) or "NULL"


def as_entry(row: Sequence[Any]) -> Entry:
    """The entry of a row of `COLUMNS`."""
    collection, id, names, status, version, action, author, written_at, body, phrases = row
    at = dt.datetime.fromisoformat(written_at)
    listed = tuple(json.loads(names)), tuple(json.loads(phrases))
    return Entry(collection, id, listed[0], status, version, action, author, at, json.loads(body), listed[1])


def _after_fork() -> None:
    for store in _STORES:
        store._lock = threading.RLock()
        store._forget_connection()


os.register_at_fork(after_in_child=_after_fork)
