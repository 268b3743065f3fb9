"""Entries in an SQLite file: the store of one machine, used by several threads and processes at once.

    SqliteEntries(Path("knowledge.sqlite"), embedder).write_all("glossary", [Change({"term": "stress month", ...}, ...)])

Write-ahead logging with a sync at every commit: what `write_all` returned survives `kill -9` and a power cut. Vectors are
rows of the same file; a search asks the sign index, kept in memory and brought up to date when the stamp has changed,
and compares the vectors that it lists exactly. The file is made by the first write; before, the store is empty.

Not for a network drive: SQLite's locks need a local disk. Where several machines share a store, use a server.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from finexpert.embeddings.embedding import Embedder
from finexpert.embeddings.sign_index import SignIndex, codes
from finexpert.embeddings.vectors import Vectors
from finexpert.errors import StoreError
from finexpert.knowledge.entries.entries import ACTIVE, Hit, Status
from finexpert.knowledge.entries.sql import SqlEntries
from finexpert.knowledge.entries.sql_rows import COLUMNS, Run, Written, as_entry, marks, read_back
from finexpert.knowledge.entries.sqlite_file import connect, connect_empty, explained, reported

# A connection of a parent must not be closed by its child: it would let go of the parent's locks.
_LEFT_TO_PARENT: list[sqlite3.Connection] = []


class SqliteEntries(SqlEntries):
    """An `EntryStore` in one file, beside which SQLite keeps `-wal` and `-shm` while it is open.

    >>> import tempfile
    >>> from finexpert.embeddings.embedding import WordHashing
    >>> from finexpert.knowledge.entries.entries import Change
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = SqliteEntries(Path(folder.name) / "knowledge.sqlite", embedder := WordHashing())
    >>> calm = Change({"meaning": "yes"}, ["a"], ["calm month"], "active", "define", "anna")
    >>> _ = store.write_all("glossary", [calm])
    >>> [(hit.phrase, hit.entry.version) for hit in store.search("glossary", embedder.embed(["calm months"]))]
    [('calm month', 1)]
    >>> store.close(), folder.cleanup()
    (None, None)
    """

    def __init__(self, path: Path, embedder: Embedder) -> None:
        super().__init__(str(path), embedder)
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._empty: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._closed = False
        self._indexes: dict[str, SignIndex] = {}
        self._made_anew = ""
        with self._transaction():
            pass

    def search(
        self, collection: str, vectors: Vectors, limit: int = 8, statuses: Sequence[Status] = ACTIVE
    ) -> list[Hit]:
        if not len(vectors) or limit < 1:
            return []
        with self._transaction() as run:
            if not self._check_embedder(run):
                return []
            with read_back():
                index = self._index(run, collection)
                near = index.nearest(vectors, statuses, limit, partial(_vectors, run, vectors.shape[1]))
            select = f"SELECT seq, {COLUMNS} FROM versions v WHERE seq IN ({marks(len(near))})"
            found = {row[0]: as_entry(row[1:]) for row in run(select, [seq for seq, _, _ in near])}
            with read_back():
                return [Hit(found[seq], score, found[seq].phrases[position]) for seq, position, score in near]

    def close(self) -> None:
        with self._lock:
            for connection in (self._connection, self._empty):
                if connection is not None:
                    connection.close()
            self._connection, self._empty, self._closed = None, None, True

    @contextmanager
    def _transaction(self, *, writing: bool = False) -> Iterator[Run]:
        with self._lock, explained(self.path):
            connection = self._connected(writing)

            def run(statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
                return connection.execute(statement, values).fetchall()

            # IMMEDIATE takes the lock of writers now; a reader that turns writer later could fail instead of waiting.
            connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            try:
                yield run
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.rollback()

    def _connected(self, writing: bool) -> sqlite3.Connection:
        if self._closed:
            raise StoreError(f"the store {self.path} was closed: open it again")
        file = self._found()
        if self._connection is not None:
            if file != self._file:
                raise StoreError(f"the file {self.path} was moved or replaced while it was open: start again")
            return self._connection
        if file is None and not writing:
            self._empty = self._empty or connect_empty()
            return self._empty
        self._connection = connect(self.path)
        self._file = self._found()
        return self._connection

    def _found(self) -> tuple[int, int] | None:
        """Which file is at the path now."""
        with reported(self.path):
            try:
                status = self.path.stat()
            except FileNotFoundError:
                return None
        return status.st_dev, status.st_ino

    def _forget_connection(self) -> None:
        if self._connection is not None:
            _LEFT_TO_PARENT.append(self._connection)
            self._connection = None

    def _keep_vectors(self, run: Run, written: Sequence[Written]) -> None:
        coded = iter(codes(np.concatenate([each.vectors for each in written]))) if written else iter(())
        for entry, seq, old_seq, vectors in written:
            if old_seq is not None:
                of_old = (entry.collection, old_seq)
                listed = "SELECT number FROM codes WHERE collection = ? AND seq = ?"
                run(f"DELETE FROM vectors WHERE number IN ({listed})", of_old)
                run("DELETE FROM codes WHERE collection = ? AND seq = ?", of_old)
            for position, vector in enumerate(vectors):
                row = (entry.collection, seq, position, entry.status, next(coded))
                run("INSERT INTO codes (collection, seq, position, status, code) VALUES (?, ?, ?, ?, ?)", row)
                run("INSERT INTO vectors VALUES (last_insert_rowid(), ?)", (vector.tobytes(),))

    def _replace_vectors(self, run: Run, current: Sequence[Written]) -> None:
        run("DELETE FROM vectors")
        run("DELETE FROM codes")
        self._keep_vectors(run, current)

    def _index(self, run: Run, collection: str) -> SignIndex:
        """The index of a collection as of this transaction: only what changed since the last search is read."""
        if (times := self._about(run).get("made_anew", "")) != self._made_anew:
            self._indexes, self._made_anew = {}, times
        index = self._indexes.setdefault(collection, SignIndex())
        stamp = self._stamp(run)
        if index.stamp != stamp:
            since = (collection, index.stamp)
            # The plus keeps SQLite from reading the whole collection by its index.
            select = (
                "SELECT o.seq FROM versions n JOIN versions o USING (collection, id) "
                "WHERE n.seq > ?2 AND +n.collection = ?1 AND o.version = n.version - 1"
            )
            replaced = run(select, since) if len(index) else []
            rows = run("SELECT number, seq, position, status, code FROM codes WHERE collection = ? AND seq > ?", since)
            index.update(stamp, [seq for (seq,) in replaced], rows)
        return index


def _vectors(run: Run, dimensions: int, numbers: Sequence[int]) -> Vectors:
    listed = ",".join(map(str, numbers))
    rows = run(f"SELECT vector FROM vectors WHERE number IN ({listed}) ORDER BY number")
    kept: Vectors = np.frombuffer(b"".join(vector for (vector,) in rows), np.float32)
    return kept.reshape(len(rows), dimensions)
