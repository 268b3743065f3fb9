"""Entries in PostgreSQL with pgvector: the store that several machines share.

    PostgresEntries("postgresql://desk@db/knowledge", embedder)  ->  the tables of the schema `finexpert` there

Each collection has an HNSW index over what is not retired: at 100,000 vectors a search takes 4 ms, an exact one 70, and
a new vector is found by every client at once. Up to 2,000 dimensions; vectors of more are compared one by one. Writers
take turns by an advisory lock, so the numbers of versions rise in the order in which others see them.

Neither users nor backups are looked after here; whoever may connect may read and change everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from finexpert.embeddings.embedding import Embedder
from finexpert.embeddings.vectors import Vectors
from finexpert.errors import StoreError
from finexpert.knowledge.entries.entries import ACTIVE, Hit, Status
from finexpert.knowledge.entries.postgres_server import (
    REBUILD_SECONDS,
    WRITERS,
    alive,
    allowing,
    connect,
    explained,
    without_password,
)
from finexpert.knowledge.entries.sql import SqlEntries
from finexpert.knowledge.entries.sql_rows import COLUMNS, Run, Written, as_entry, marks

if TYPE_CHECKING:
    import psycopg

INDEXED_DIMENSIONS = 2_000  # pgvector's limit for HNSW over four-byte numbers


class PostgresEntries(SqlEntries):
    """An `EntryStore` on a server; the schema is made by the first who connects, which needs the right to make it."""

    def __init__(self, url: str, embedder: Embedder) -> None:
        super().__init__(without_password(url), embedder)
        self._url = url
        self._connection: psycopg.Connection | None = None
        self._left_to_parent: list[Any] = []
        self._closed = False
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
            best: dict[int, Hit] = {}
            for vector in vectors:
                for hit_seq, hit in self._nearest(run, collection, as_text(vector), limit, statuses):
                    if hit_seq not in best or hit.score > best[hit_seq].score:
                        best[hit_seq] = hit
            # Each statement sees what is committed by then: vectors made anew in between would be another embedder's.
            self._check_embedder(run)
        ranked = sorted(best.items(), key=lambda item: (-item[1].score, item[0]))
        return [hit for _, hit in ranked[:limit]]

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection, self._closed = None, True

    @contextmanager
    def _transaction(self, *, writing: bool = False) -> Iterator[Run]:
        with self._lock, explained(self.place):
            connection = self._connected()

            def run(statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
                # The statements are this package's own; what varies is in the values.
                cursor = connection.execute(statement.replace("?", "%s"), values)
                return cursor.fetchall() if cursor.description else []

            if not writing:
                yield run
                return
            with connection.transaction():
                run("SELECT pg_advisory_xact_lock(?)", (WRITERS,))
                yield run

    def _connected(self) -> psycopg.Connection:
        if self._closed:
            raise StoreError(f"the store {self.place} was closed: open it again")
        if self._connection is None or not alive(self._connection):
            self._connection = connect(self._url, self.place)
        return self._connection

    def _forget_connection(self) -> None:
        if self._connection is not None:
            self._left_to_parent.append(self._connection)
            self._connection = None

    def _keep_vectors(self, run: Run, written: Sequence[Written]) -> None:
        for each in written:
            self._make_index(run, each.entry.collection)
            if each.old_seq is not None:
                run("DELETE FROM vectors WHERE seq = ?", (each.old_seq,))
            self._insert(run, "vectors", each)

    def _insert(self, run: Run, table: str, written: Written) -> None:
        entry, seq, _, vectors = written
        rows = [(entry.collection, seq, number, entry.status, as_text(row)) for number, row in enumerate(vectors)]
        if rows:
            each = ", ".join(["(?, ?, ?, ?, ?::vector)"] * len(rows))
            run(f"INSERT INTO {table} VALUES {each}", [value for row in rows for value in row])

    def _replace_vectors(self, run: Run, current: Sequence[Written]) -> None:
        with allowing(self._connected(), REBUILD_SECONDS):
            self._exchange_vectors(run, current)

    def _exchange_vectors(self, run: Run, current: Sequence[Written]) -> None:
        # Beside the old one, which others go on searching: they wait only while the two are exchanged.
        self._make_table(run, "vectors_anew")
        for each in current:
            self._insert(run, "vectors_anew", each)
        collections = sorted({each.entry.collection for each in current})
        for collection in collections:
            self._index_part(run, "vectors_anew", _index_of(collection) + "_anew", collection)
        run("DROP TABLE vectors")
        run("ALTER TABLE vectors_anew RENAME TO vectors")
        for collection in collections:
            run(f"ALTER INDEX IF EXISTS {_index_of(collection)}_anew RENAME TO {_index_of(collection)}")

    def _make_index(self, run: Run, collection: str) -> None:
        """The table of vectors, and the index of this collection."""
        if run("SELECT to_regclass(?)", (f"finexpert.{_index_of(collection)}",)) == [(None,)]:
            self._make_table(run, "vectors")
            self._index_part(run, "vectors", _index_of(collection), collection)

    def _make_table(self, run: Run, name: str) -> None:
        """A table of vectors, whose width the embedder decides."""
        run(
            f"CREATE TABLE IF NOT EXISTS {name} (collection TEXT NOT NULL, seq BIGINT NOT NULL, position INTEGER NOT NULL, "
            f"status TEXT NOT NULL, vector vector({self.embedder.dimensions}) NOT NULL, PRIMARY KEY (seq, position))"
        )

    def _index_part(self, run: Run, table: str, name: str, collection: str) -> None:
        if self.embedder.dimensions <= INDEXED_DIMENSIONS:
            run(
                f"CREATE INDEX IF NOT EXISTS {name} ON {table} USING hnsw (vector vector_ip_ops) "
                f"WHERE collection = {_quoted(collection)} AND status <> 'retired'"
            )

    def _nearest(
        self, run: Run, collection: str, vector: str, limit: int, statuses: Sequence[Status]
    ) -> Iterator[tuple[int, Hit]]:
        """The entries nearest to one vector, each by its nearest phrase."""
        # An index of a part of the table is used only where its condition stands in the statement as it is.
        part = f"collection = {_quoted(collection)}" + ("" if "retired" in statuses else " AND status <> 'retired'")
        count = 8 * limit
        while True:
            nearest = (
                f"WITH near AS MATERIALIZED (SELECT seq, position, -(vector <#> ?::vector) AS score FROM vectors "
                f"WHERE {part} AND status IN ({marks(len(statuses))}) ORDER BY vector <#> ?::vector LIMIT {count}) "
                f"SELECT seq, position, score, {COLUMNS} FROM near JOIN versions v USING (seq) ORDER BY score DESC, seq"
            )
            rows = run(nearest, (vector, *statuses, vector))
            if len(rows) < count or len({row[0] for row in rows}) >= limit:
                break
            count *= 8  # entries with so many phrases that too few entries were among the nearest
        for seq, position, score, *row in rows:
            entry = as_entry(row)
            yield seq, Hit(entry, float(score), entry.phrases[position])


def as_text(vector: Vectors) -> str:
    """A vector as pgvector reads it; nine digits give every four-byte number back.

    >>> import numpy as np
    >>> as_text(np.array([0.5, -0.25], dtype=np.float32))
    '[0.5,-0.25]'
    """
    return "[" + ",".join(f"{number:.9g}" for number in vector.tolist()) + "]"


def _index_of(collection: str) -> str:
    return "nearest_" + hashlib.sha256(collection.encode()).hexdigest()[:12]


def _quoted(text: str) -> str:
    """
    >>> _quoted("desk's")
    "'desk''s'"
    """
    if "?" in text or "\\" in text or "%" in text:
        raise StoreError(f"{text!r} cannot name a collection: it has a ?, a % or a backslash")
    return "'" + text.replace("'", "''") + "'"
