"""The sign codes of a library's chunks: which chunks are nearest in meaning to a question, among a million.

    index.update(store, embedder)          chunks without a vector are embedded, in parts: what is done stays done
    index.nearest(vector, filters, 60)     [(chunk number, cosine), ...]

A code is 128 bytes of a chunk (see `finexpert.embeddings.sign_index`); all of them are compared in memory, and only the
nearest few hundred vectors are fetched from the store and compared exactly. The file of codes only grows at its end,
and a chunk's number is never used twice: what a killed process left half is cut off, what is gone is not looked at.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from finexpert.embeddings.embedding import Embedder
from finexpert.embeddings.sign_index import BITS, codes
from finexpert.embeddings.vectors import Vectors
from finexpert.filings.library.index.lexical import UNKNOWN, Filters
from finexpert.filings.records import Chunk, ChunkKind

if TYPE_CHECKING:
    from finexpert.filings.library.store import LibraryStore

KINDS: tuple[ChunkKind, ...] = ("table", "text")
COMPARED = 400
_AT_ONCE = 500
# A chunk takes a twentieth of a second: who waits sees a step every few seconds.
_EMBEDDED_AT_ONCE = 50
# Listing what has no vector looks at every chunk, so it is done seldom.
_LISTED = 40 * _AT_ONCE
_ABOUT: list[tuple[str, str]] = [
    ("chunk", "<i8"),
    ("page", "<u8"),
    ("ticker", "<u4"),
    ("year", "<i2"),
    ("quarter", "i1"),
    ("kind", "i1"),
]
_ROW = np.dtype([*_ABOUT, ("code", "<u8", (BITS // 64,))])


@dataclass(frozen=True)
class _Held:
    """What is in memory: never changed, but replaced, so that searches need no lock. One column of `words` a row."""

    rows: NDArray[Any]
    words: NDArray[np.uint64]
    by_page: NDArray[np.intp]
    pages: NDArray[np.uint64]
    size: int
    file: tuple[int, int]


class VectorIndex:
    """The codes of a store's chunks for one embedder, in a file."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.embedder = embedder
        self.path = folder / f"{re.sub(r'[^A-Za-z0-9.-]+', '_', embedder.name)}.codes"
        self._lock = threading.Lock()
        self._held = _NOTHING

    @property
    def size(self) -> int:
        """How many chunks it knows."""
        return len(self._held.rows)

    # searching

    def nearest(self, vector: Vectors, filters: Filters, limit: int, store: LibraryStore) -> list[tuple[int, float]]:
        """The chunks nearest to a vector, with their cosine, the nearest first."""
        held = self._held
        fits = np.flatnonzero(_fits(held.rows, filters))
        if not len(fits) or limit < 1:
            return []
        far = _distances(held.words, np.frombuffer(codes(vector[None])[0], np.uint64), fits)
        near = fits[np.argpartition(far, COMPARED)[:COMPARED]] if len(fits) > COMPARED else fits
        cosines = self.cosines(vector, held.rows["chunk"][near].tolist(), store)
        return sorted(cosines.items(), key=lambda found: (-found[1], found[0]))[:limit]

    def chunks_of(self, pages: Sequence[str]) -> list[list[tuple[int, ChunkKind]]]:
        """The chunks of each of the pages, with their kind."""
        held = self._held
        numbers = np.array([_number(page) for page in pages], np.uint64)
        starts, ends = (np.searchsorted(held.pages, numbers, side) for side in ("left", "right"))
        chosen = [held.rows[held.by_page[start:end]] for start, end in zip(starts, ends, strict=True)]
        return [
            [(number, KINDS[kind]) for number, kind in zip(rows["chunk"].tolist(), rows["kind"].tolist(), strict=True)]
            for rows in chosen
        ]

    def cosines(self, vector: Vectors, chunks: Sequence[int], store: LibraryStore) -> dict[int, float]:
        """How near chunks are, those that have a vector."""
        found, vectors = store.vectors(self.embedder.name, chunks)
        if not found:
            return {}
        # Not by @: its threads would wait for busy processors longer than the few numbers take.
        return dict(zip(found, np.einsum("ij,j->i", vectors, vector).tolist(), strict=True))

    # writing

    def update(self, store: LibraryStore, progress: Callable[[int], None] = lambda chunks: None) -> None:
        """Embed what has no vector yet, and know what the store has now. One process at a time."""
        with self._lock:
            while waiting := store.without_vector(self.embedder.name, _LISTED):
                step = getattr(self.embedder, "at_once", _EMBEDDED_AT_ONCE)
                for start in range(0, len(waiting), step):
                    some = waiting[start : start + step]
                    vectors = self.embedder.embed([embedded_text(chunk) for chunk in some])
                    store.put_vectors(self.embedder.name, [chunk.id for chunk in some], vectors)
                    progress(len(some))
            self._read()
            self._append(store)
            self._drop_gone(store)

    def read(self, store: LibraryStore) -> None:
        """Know what another process has written."""
        with self._lock:
            self._read()
            self._drop_gone(store)

    def _read(self) -> None:
        held = self._held
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._held = _NOTHING
            return
        file = (status.st_dev, status.st_ino)
        start = held.size if file == held.file and status.st_size >= held.size else 0
        whole = status.st_size - status.st_size % _ROW.itemsize
        count = (whole - start) // _ROW.itemsize
        new = np.fromfile(self.path, _ROW, count, offset=start) if count else np.empty(0, _ROW)
        kept = held if start else _NOTHING
        self._held = _held(
            np.concatenate([kept.rows, _about(new)]), np.concatenate([kept.words, new["code"].T], axis=1), whole, file
        )

    def _append(self, store: LibraryStore) -> None:
        held = self._held
        missing = np.setdiff1d(np.array(store.chunk_ids(), np.int64), held.rows["chunk"])
        if not len(missing):
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.truncate(held.size)
            for start in range(0, len(missing), 4 * _AT_ONCE):
                some = missing[start : start + 4 * _AT_ONCE].tolist()
                numbers, vectors = store.vectors(self.embedder.name, some)
                chunks = store.chunks_by_id(numbers)
                there = [place for place, number in enumerate(numbers) if number in chunks]
                rows = _rows([chunks[numbers[place]] for place in there], vectors[there])
                file.write(rows.tobytes())
            file.flush()
            os.fsync(file.fileno())
        self._read()

    def _drop_gone(self, store: LibraryStore) -> None:
        held = self._held
        if not len(held.rows):
            return
        alive = np.isin(held.rows["chunk"], np.array(store.chunk_ids(), np.int64))
        if not alive.all():
            self._held = _held(held.rows[alive], held.words[:, alive], held.size, held.file)


def embedded_text(chunk: Chunk) -> str:
    """What of a chunk is embedded: of a table its header and the labels of its rows, for numbers have no meaning.

    >>> embedded_text(Chunk(1, "p", "table", "in millions | 2007 | 2006\\nnet sales | 5 | 4\\ncosts | 3 | 3", "A", 2007, None))
    'in millions 2007 2006 : net sales; costs'
    """
    if chunk.kind != "table":
        return chunk.text
    header, *lines = chunk.text.split("\n")
    labels = [line.split(" | ", 1)[0].strip() for line in lines]
    return f"{' '.join(header.replace('|', ' ').split())} : {'; '.join(label for label in labels if label)}"


def _held(rows: NDArray[Any], words: NDArray[np.uint64], size: int, file: tuple[int, int]) -> _Held:
    by_page = np.argsort(rows["page"], kind="stable")
    return _Held(rows, np.ascontiguousarray(words), by_page, rows["page"][by_page], size, file)


def _about(rows: NDArray[Any]) -> NDArray[Any]:
    """The rows without their codes, which are kept apart."""
    kept = np.empty(len(rows), _ABOUT)
    for name, _ in _ABOUT:
        kept[name] = rows[name]
    return kept


_NOTHING = _held(np.empty(0, _ABOUT), np.empty((BITS // 64, 0), np.uint64), 0, (0, 0))


def _number(page: str) -> int:
    """Stands for a page's id; of a million ids two are the same once in 36 million libraries."""
    return int.from_bytes(hashlib.blake2b(page.encode(), digest_size=8).digest(), "little")


def _rows(chunks: Sequence[Chunk], vectors: Vectors) -> NDArray[Any]:
    rows = np.empty(len(chunks), _ROW)
    if not len(chunks):
        return rows
    rows["chunk"] = [chunk.id for chunk in chunks]
    rows["page"] = [_number(chunk.page) for chunk in chunks]
    rows["ticker"] = [zlib.crc32(chunk.ticker.encode()) for chunk in chunks]
    rows["year"] = [UNKNOWN if chunk.fiscal_year is None else chunk.fiscal_year for chunk in chunks]
    rows["quarter"] = [UNKNOWN if chunk.quarter is None else chunk.quarter for chunk in chunks]
    rows["kind"] = [KINDS.index(chunk.kind) for chunk in chunks]
    rows["code"] = np.frombuffer(b"".join(codes(vectors)), np.uint64).reshape(len(chunks), -1)
    return rows


def _fits(rows: NDArray[Any], filters: Filters) -> NDArray[np.bool_]:
    fits = np.ones(len(rows), np.bool_)
    if filters.tickers:
        fits &= np.isin(rows["ticker"], [zlib.crc32(ticker.encode()) for ticker in filters.tickers])
    if filters.years:
        fits &= np.isin(rows["year"], [*filters.years, UNKNOWN])
    if filters.quarters:
        fits &= np.isin(rows["quarter"], [*filters.quarters, UNKNOWN])
    if filters.kinds:
        fits &= np.isin(rows["kind"], [KINDS.index(kind) for kind in filters.kinds])
    return fits


def _distances(words: NDArray[np.uint64], code: NDArray[np.uint64], fits: NDArray[np.intp]) -> NDArray[np.uint16]:
    """How many bits differ, of those that fit."""
    everything = len(fits) == words.shape[1]
    far = np.zeros(len(fits), np.uint16)
    for word, wanted in zip(words, code, strict=True):
        far += np.bitwise_count((word if everything else word[fits]) ^ wanted)
    return far
