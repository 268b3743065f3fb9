"""Entries in an SQL database: what the file and the server have in common.

    versions   every version of every entry, only ever added to; its `seq` is the stamp of the store
    latest     which version of an entry is the current one, and its status
    names      the names of entries that are not retired: one entry a name
    about      the version of this schema, the embedder that the vectors are of, and how often they were made anew

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
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from finexpert.embeddings.embedding import Embedder
from finexpert.embeddings.vectors import Vectors
from finexpert.errors import EmbedderMismatch, NameTaken, StaleEntry, StoreError
from finexpert.knowledge.entries.entries import ACTIVE, CURRENT, Change, Entry, Hit, Status
from finexpert.knowledge.entries.sql_rows import COLUMNS, Run, Written, as_entry, marks
from finexpert.knowledge.scopes import plain
from finexpert.storage import foreign_json

TOGETHER = 32  # entries whose phrases are embedded in one call: a provider answers many as fast as one
_STORES: weakref.WeakSet[SqlEntries] = weakref.WeakSet()


class SqlEntries(ABC):
    """An `EntryStore` over SQL; one connection, used by one thread at a time, and never by a forked child."""

    def __init__(self, place: str, embedder: Embedder) -> None:
        self.place, self.embedder = place, embedder
        self._lock = threading.RLock()
        _STORES.add(self)

    def write_all(self, collection: str, changes: Sequence[Change]) -> list[Entry]:
        phrases = [list(dict.fromkeys(change.phrases)) for change in changes]
        bodies = [json.dumps(dict(change.body), allow_nan=False) for change in changes]
        vectors = self._embedded_apart(phrases)
        with self._transaction(writing=True) as run:
            self._check_embedder(run, remember=True)
            written = [
                Written(*self._write(run, collection, change, body), own)
                for change, body, own in zip(changes, bodies, vectors, strict=True)
            ]
            self._keep_vectors(run, written)
        return [each.entry for each in written]

    def _write(self, run: Run, collection: str, change: Change, body: str) -> tuple[Entry, int, int | None]:
        id, status = change.id or uuid.uuid4().hex, change.status
        names, phrases = tuple(dict.fromkeys(change.names)), tuple(dict.fromkeys(change.phrases))
        old_seq, version = self._latest(run, collection, id)
        if change.expected_version not in (None, version):
            raise StaleEntry(self._stale(collection, id, version, change.expected_version))
        if status != "retired":
            self._refuse_taken(run, collection, id, names)
        version, at = version + 1, dt.datetime.now(dt.UTC)
        entry = Entry(
            collection, id, names, status, version, change.action, change.by, at, foreign_json.parse(body), phrases
        )
        row = (json.dumps(names), status, version, entry.action, entry.by, at.isoformat(), body, json.dumps(phrases))
        run(f"INSERT INTO versions ({COLUMNS.replace('v.', '')}) VALUES ({marks(10)})", (collection, id, *row))
        seq = run("SELECT max(seq) FROM versions")[0][0]
        run("DELETE FROM latest WHERE collection = ? AND id = ?", (collection, id))
        run("INSERT INTO latest VALUES (?, ?, ?, ?)", (collection, id, seq, status))
        run("DELETE FROM names WHERE collection = ? AND id = ?", (collection, id))
        for name in names if status != "retired" else ():
            run("INSERT INTO names VALUES (?, ?, ?)", (collection, name, id))
        return entry, seq, old_seq

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

    def names(self, collection: str, statuses: Sequence[Status] = ACTIVE) -> list[tuple[str, str]]:
        select = "SELECT n.name, n.id FROM names n JOIN latest l ON l.collection = n.collection AND l.id = n.id"
        with self._transaction() as run:
            where = f"WHERE n.collection = ? AND l.status IN ({marks(len(statuses))})"
            return [(name, id) for name, id in run(f"{select} {where}", (collection, *statuses))]

    def history(self, collection: str, id: str | None = None, limit: int = 100) -> list[Entry]:
        one = "" if id is None else "AND v.id = ?"
        values = [collection, *([] if id is None else [id]), limit]
        return self._select(f"WHERE v.collection = ? {one} ORDER BY v.seq DESC LIMIT ?", *values)

    def count(self, collection: str, statuses: Sequence[Status] = ACTIVE) -> int:
        with self._transaction() as run:
            select = f"SELECT count(*) FROM latest WHERE collection = ? AND status IN ({marks(len(statuses))})"
            return int(run(select, (collection, *statuses))[0][0])

    def stamp(self) -> int:
        with self._transaction() as run:
            return self._stamp(run)

    def made_with(self) -> str | None:
        with self._transaction() as run:
            return self._about(run).get("embedder")

    def reindex(self, done: Callable[[int], None] = lambda entries: None) -> int:
        if self.made_with() is None:
            return 0
        vectors: dict[int, Vectors] = {}
        while True:
            with self._transaction() as run:
                todo = [(seq, entry) for seq, entry in self._current(run) if seq not in vectors]
            # Outside a transaction: nobody waits for a model.
            for start in range(0, len(todo), TOGETHER):
                batch = todo[start : start + TOGETHER]
                made = self._embedded_apart([entry.phrases for _, entry in batch])
                vectors |= {seq: own for (seq, _), own in zip(batch, made, strict=True)}
                done(len(batch))
            with self._transaction(writing=True) as run:
                current = self._current(run)
                if all(seq in vectors for seq, _ in current):  # else somebody wrote meanwhile
                    self._replace_vectors(run, [Written(entry, seq, None, vectors[seq]) for seq, entry in current])
                    self._say_made_anew(run)
                    return len(current)

    @abstractmethod
    def search(
        self, collection: str, vectors: Vectors, limit: int = 8, statuses: Sequence[Status] = ACTIVE
    ) -> list[Hit]: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _transaction(self, *, writing: bool = False) -> AbstractContextManager[Run]:
        """What is run inside is whole and durable when it ends, or not there at all; one writer at a time."""

    @abstractmethod
    def _keep_vectors(self, run: Run, written: Sequence[Written]) -> None:
        """Put the vectors of each version in the place of those of the version before, in this order."""

    @abstractmethod
    def _replace_vectors(self, run: Run, current: Sequence[Written]) -> None:
        """Put the vectors of all current versions in the place of all vectors."""

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
                        f"{plain(name)!r} is the name of another entry of the {collection} in {self.place} already. "
                        f"`finexpert {collection} show {plain(name)!r}` shows it",
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

    def _embedded_apart(self, texts: Sequence[Sequence[str]]) -> list[Vectors]:
        """The vectors of each row of phrases, embedded in one call."""
        together = self._embedded([phrase for phrases in texts for phrase in phrases])
        return np.split(together, np.cumsum([len(phrases) for phrases in texts])[:-1]) if texts else []

    def _current(self, run: Run) -> list[tuple[int, Entry]]:
        rows = run(f"SELECT seq, {COLUMNS} FROM versions v JOIN latest USING (seq) ORDER BY seq")
        return [(row[0], as_entry(row[1:])) for row in rows]

    def _about(self, run: Run) -> dict[str, str]:
        return dict(run("SELECT key, value FROM about WHERE key IN ('embedder', 'dimensions', 'made_anew')"))

    def _check_embedder(self, run: Run, *, remember: bool = False) -> bool:
        """Whether there are vectors yet; EmbedderMismatch where they are another embedder's.

        Asked in every transaction: another process may make the vectors anew.
        """
        kept = self._about(run)
        if kept and (kept["embedder"], kept["dimensions"]) != (self.embedder.name, str(self.embedder.dimensions)):
            raise EmbedderMismatch(
                f"{self.place} was made with the embedder {kept['embedder']} ({kept['dimensions']} dimensions), and the "
                f"one at hand is {self.embedder.name} ({self.embedder.dimensions}): vectors of two are never mixed. Set "
                f"FINEXPERT_EMBEDDER as it was, or `finexpert memory reindex` makes them anew and keeps the history"
            )
        if not kept and remember:
            self._say_whose(run)
        return bool(kept)

    def _say_whose(self, run: Run) -> None:
        for key, value in (("embedder", self.embedder.name), ("dimensions", str(self.embedder.dimensions))):
            run("INSERT INTO about VALUES (?, ?)", (key, value))

    def _say_made_anew(self, run: Run) -> None:
        times = int(self._about(run).get("made_anew", 0)) + 1
        run("DELETE FROM about WHERE key IN ('embedder', 'dimensions', 'made_anew')")
        self._say_whose(run)
        run("INSERT INTO about VALUES ('made_anew', ?)", (str(times),))


def _after_fork() -> None:
    for store in _STORES:
        store._lock = threading.RLock()
        store._forget_connection()


os.register_at_fork(after_in_child=_after_fork)
