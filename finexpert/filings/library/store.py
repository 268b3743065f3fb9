"""The store of a library: filings, their pages and chunks, and the vectors of chunks, in one SQLite file.

    store = LibraryStore(Path("library"), make=True)
    store.put(info, pages)             # one transaction: the whole filing, or nothing of it
    store.stamp                        # "1f3c...:12", another after every change: what is derived compares it

An index reads `chunk_ids` and `chunks`, and keeps vectors here; no ranking is done here. Threads may share a store: they
take turns. Processes may, too: readers do not wait, writers wait for each other.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from finexpert.embeddings.vectors import Vectors
from finexpert.errors import LibraryError
from finexpert.filings.library.chunking import STANDARD, Chunking, page_chunks
from finexpert.filings.library.file import connect, explained
from finexpert.filings.library.rows import CHUNK, FILING, PAGE, as_chunk, as_filing_info, as_page, filing_row, page_row
from finexpert.filings.records import Chunk, FilingInfo, LibraryPage

FILE = "library.sqlite"
# A connection of a parent must not be closed by its child: it would let go of the parent's locks.
_LEFT_TO_PARENT: list[sqlite3.Connection] = []
_AT_ONCE = 500


class LibraryStore:
    """What a library holds, on disk. `make` makes the folder where there is none, else that is a LibraryError."""

    def __init__(self, folder: Path, *, make: bool = False, chunking: Chunking | None = None) -> None:
        self.folder = folder
        self.path = folder / FILE
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = connect(self.path, make=make)
        self._process = os.getpid()
        try:
            self.chunking = self._agreed(chunking)
        except LibraryError:
            self.close()
            raise

    def _agreed(self, chunking: Chunking | None) -> Chunking:
        """How chunks are cut: as the library's first filing was, for scores of unlike chunks do not compare."""
        with self._cursor() as run:
            kept = run.execute("SELECT value FROM about WHERE key = 'chunking'").fetchone()
        if kept is None:
            return chunking or STANDARD
        size, overlap = map(int, kept[0].split("/"))
        if chunking not in (None, Chunking(size, overlap)):
            raise LibraryError(
                f"the library {self.folder} has chunks of {size} characters with an overlap of {overlap}, "
                f"not {chunking}: name another folder with --library for other chunks"
            )
        return Chunking(size, overlap)

    @property
    def stamp(self) -> str:
        """Changes with every filing that is added or removed, by whatever process."""
        with self._cursor() as run:
            about = dict(run.execute("SELECT key, value FROM about"))
        return f"{about['library']}:{about['revision']}"

    # filings and pages

    def put(self, info: FilingInfo, pages: Iterable[LibraryPage], *, instead_of: str | None = None) -> None:
        """Keep a filing with all its pages, in the place of an older one of this or that id; all of it, or nothing."""
        pages = list(pages)
        info = replace(info, pages=len({page.number for page in pages}))
        chunks = [
            (page.id, info.id, kind, text, info.ticker, info.fiscal_year, info.quarter)
            for page in pages
            for kind, text in page_chunks(page, self.chunking)
        ]
        with self._writing() as run:
            for id in {info.id, instead_of or info.id}:
                self._delete(run, id)
            self._refuse_taken(run, info.id, [page.id for page in pages])
            run.execute(f"INSERT INTO filings ({FILING}) VALUES (?,?,?,?,?,?,?,?,?,?,?)", filing_row(info))
            rows = [page_row(page, info.id, position) for position, page in enumerate(pages)]
            run.executemany(
                "INSERT INTO pages (id, filing, position, number, section, body) VALUES (?,?,?,?,?,?)", rows
            )
            run.executemany(
                "INSERT INTO chunks (page, filing, kind, text, ticker, fiscal_year, quarter) VALUES (?,?,?,?,?,?,?)",
                chunks,
            )

    def remove(self, filing: str) -> int:
        """Remove a filing and all that belongs to it; how many parts of pages it had, 0 where there is no such."""
        with self._writing() as run:
            return self._delete(run, filing)

    def filings(self) -> list[FilingInfo]:
        """All filings, by company, year and quarter."""
        with self._cursor() as run:
            rows = run.execute(f"SELECT {FILING} FROM filings ORDER BY company, ticker, fiscal_year, quarter, id")
            return [as_filing_info(row) for row in rows]

    def filing(self, id: str) -> FilingInfo | None:
        with self._cursor() as run:
            row = run.execute(f"SELECT {FILING} FROM filings WHERE id = ?", [id]).fetchone()
        return as_filing_info(row) if row else None

    def filing_of(self, sha256: str) -> FilingInfo | None:
        """The filing that was made of a file with this checksum."""
        with self._cursor() as run:
            row = run.execute(f"SELECT {FILING} FROM filings WHERE sha256 = ? ORDER BY id", [sha256]).fetchone()
        return as_filing_info(row) if row else None

    def page(self, id: str) -> LibraryPage | None:
        with self._cursor() as run:
            row = run.execute(f"SELECT {PAGE} WHERE p.id = ?", [id]).fetchone()
        return as_page(row) if row else None

    def pages(self, ids: Sequence[str]) -> dict[str, LibraryPage]:
        """Those of the pages that there are, by their ids."""
        return {row[0]: as_page(row) for row in self._rows_in(f"SELECT {PAGE} WHERE p.id", ids)}

    def pages_of(self, filing: str) -> list[LibraryPage]:
        with self._cursor() as run:
            rows = run.execute(f"SELECT {PAGE} WHERE p.filing = ? ORDER BY p.position", [filing]).fetchall()
        return [as_page(row) for row in rows]

    # chunks and vectors: what an index is made of

    def chunk_ids(self) -> list[int]:
        """The numbers of all chunks, ascending."""
        with self._cursor() as run:
            return [number for (number,) in run.execute("SELECT id FROM chunks ORDER BY id")]

    def chunks(self, after: int = 0, at_once: int = 2000) -> Iterator[Chunk]:
        """All chunks with a greater number than `after`, ascending; read in parts, so that memory stays small."""
        while True:
            with self._cursor() as run:
                rows = run.execute(f"{CHUNK} WHERE id > ? ORDER BY id LIMIT ?", [after, at_once]).fetchall()
            yield from map(as_chunk, rows)
            if len(rows) < at_once:
                return
            after = rows[-1][0]

    def chunks_by_id(self, ids: Sequence[int]) -> dict[int, Chunk]:
        return {row[0]: as_chunk(row) for row in self._rows_in(f"{CHUNK} WHERE id", ids)}

    def without_vector(self, embedder: str, limit: int = 2000) -> list[Chunk]:
        """The first chunks that have no vector of this embedder yet; vectors of another one are forgotten."""
        with self._writing(counted=False) as run:
            self._use_embedder(run, embedder)
            missing = "WHERE id NOT IN (SELECT chunk FROM vectors) ORDER BY id LIMIT ?"
            return [as_chunk(row) for row in run.execute(f"{CHUNK} {missing}", [limit])]

    def count_without_vector(self, embedder: str) -> int:
        """How many chunks have no vector of this embedder."""
        made = "SELECT count(*) FROM vectors, about WHERE key = 'embedder' AND value = ?"
        with self._cursor() as run:
            (chunks,), (vectors,) = (
                run.execute("SELECT count(*) FROM chunks").fetchone(),
                run.execute(made, [embedder]).fetchone(),
            )
        return int(chunks - vectors)

    def put_vectors(self, embedder: str, ids: Sequence[int], vectors: Vectors) -> None:
        """Keep the vectors of chunks, as 16-bit floats: half the size, and the same ranking to the third digit."""
        halves = vectors.astype(np.float16)
        rows = [(number, row.tobytes()) for number, row in zip(ids, halves, strict=True)]
        with self._writing(counted=False) as run:
            self._use_embedder(run, embedder)
            # A chunk may have gone while its text was embedded.
            run.executemany("INSERT OR REPLACE INTO vectors SELECT id, ?2 FROM chunks WHERE id = ?1", rows)

    def vectors(self, embedder: str, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        """The vectors of those chunks that have one of this embedder: their numbers, and one row each."""
        select = "SELECT chunk, vector FROM vectors, about WHERE key = 'embedder' AND value = ? AND chunk"
        found = self._rows_in(select, ids, embedder)
        if not found:
            return [], np.zeros((0, 0), dtype=np.float32)
        matrix = np.frombuffer(b"".join(blob for _, blob in found), dtype=np.float16).astype(np.float32)
        return [number for number, _ in found], matrix.reshape(len(found), -1)

    def _rows_in(self, select: str, ids: Sequence[int | str], *before: str) -> list[Any]:
        """The rows of a SELECT that ends with what must be one of the ids; in parts, for a SELECT takes only so many."""
        rows: list[Any] = []
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            with self._cursor() as run:
                rows += run.execute(f"{select} IN ({_marks(some)})", [*before, *some]).fetchall()
        return rows

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    @staticmethod
    def _use_embedder(run: sqlite3.Connection, embedder: str) -> None:
        kept = run.execute("SELECT value FROM about WHERE key = 'embedder'").fetchone()
        if kept != (embedder,):
            run.execute("DELETE FROM vectors")
            run.execute("INSERT OR REPLACE INTO about VALUES ('embedder', ?)", [embedder])

    @staticmethod
    def _delete(run: sqlite3.Connection, filing: str) -> int:
        run.execute("DELETE FROM vectors WHERE chunk IN (SELECT id FROM chunks WHERE filing = ?)", [filing])
        run.execute("DELETE FROM chunks WHERE filing = ?", [filing])
        run.execute("DELETE FROM filings WHERE id = ?", [filing])
        return run.execute("DELETE FROM pages WHERE filing = ?", [filing]).rowcount

    @staticmethod
    def _refuse_taken(run: sqlite3.Connection, filing: str, ids: list[str]) -> None:
        if len(set(ids)) < len(ids):
            twice = next(id for number, id in enumerate(ids) if id in ids[:number])
            raise LibraryError(f"the page {twice!r} stands twice in the filing {filing!r}")
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            other = run.execute(f"SELECT id, filing FROM pages WHERE id IN ({_marks(some)}) LIMIT 1", some).fetchone()
            if other:
                raise LibraryError(
                    f"the page {other[0]!r} of {filing!r} belongs to the filing {other[1]!r} already: "
                    f"`finexpert library remove {other[1]}` first"
                )

    @contextmanager
    def _writing(self, *, counted: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction; with `counted` the stamp changes, so that what is derived is brought up to date."""
        with self._cursor() as run:
            # IMMEDIATE takes the lock of writers now; a reader that turns writer later could fail instead of waiting.
            run.execute("BEGIN IMMEDIATE")
            try:
                before = run.total_changes
                yield run
                if counted and run.total_changes > before:
                    run.execute("UPDATE about SET value = value + 1 WHERE key = 'revision'")
                    run.execute("INSERT OR IGNORE INTO about VALUES ('chunking', ?)", [str(self.chunking)])
                run.execute("COMMIT")
            finally:
                if run.in_transaction:
                    run.rollback()

    @contextmanager
    def _cursor(self) -> Iterator[sqlite3.Connection]:
        with self._lock, explained(self.path):
            if self._connection is None:
                raise LibraryError(f"the library {self.folder} was closed: open it again")
            if self._process != os.getpid():
                _LEFT_TO_PARENT.append(self._connection)
                self._connection, self._process = connect(self.path, make=False), os.getpid()
            yield self._connection


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
