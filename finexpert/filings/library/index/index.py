"""The index of a library: the pages that answer a question best, by words and by meaning.

    index = LibraryIndex(store, embedder, Path("library"))
    index.search(SearchRequest(("net sales by region",), tickers=frozenset({"AAPL"}), years=frozenset({2014})))
    [("AAPL/2014/page_31.pdf", 14.2, [812, 811], "words #1, meaning #3"), ...]

The full text and the vectors each propose pages; `fusion` looks at these again and ranks them. All of it is
derived from the store and kept beside it: it is brought up to date when the store's stamp has changed, made anew when it
is lost, and a killed process leaves nothing half. While one process brings it up to date, others search what is there.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np

from finexpert.embeddings.embedding import Embedder
from finexpert.embeddings.vectors import Vectors
from finexpert.filings.library.file import cannot_use
from finexpert.filings.library.index.fusion import NAMED_WEIGHTS, WEIGHTS, Asked, Scores, evidence, fused
from finexpert.filings.library.index.lexical import Filters, Found, LexicalIndex
from finexpert.filings.library.index.vectors import VectorIndex
from finexpert.filings.library.index.words import Packed, word_numbers
from finexpert.filings.library.store import LibraryStore
from finexpert.filings.records import SearchRequest

Way = Literal["fused", "words", "meaning"]
Ranked = tuple[str, float, list[int], str]

VERSION = 1
BY_WORDS, BY_MEANING = 60, 20
CHUNKS_SHOWN = 3
# What a page gains that has the unit asked for: less than any evidence of the subject.
_UNIT = 0.3


class LibraryIndex:
    """The index of one store for one embedder. Many threads may search."""

    def __init__(self, store: LibraryStore, embedder: Embedder, folder: Path) -> None:
        self.store, self.embedder = store, embedder
        # Chunk numbers of another library mean other chunks, even in the same folder.
        self.folder = folder / f"index-v{VERSION}" / store.stamp.partition(":")[0]
        self._lexical = LexicalIndex(self.folder / "words")
        self._vectors = VectorIndex(self.folder, embedder)
        self._lock = threading.Lock()
        self._stamp = self._words_stamp = ""

    def refresh(self, progress: Callable[[int], None] | None = None) -> None:
        """Bring the index up to the store, after another process that is at it; `progress` is told chunks as embedded."""
        self._bring_up(progress, wait=True)

    def search(self, request: SearchRequest, by: Way = "fused") -> list[Ranked]:
        """The best pages with their score, their best chunks and why, best first; at most `request.limit`.

        "words" ranks the first phrase by BM25 alone, and embeds nothing; "meaning" by the vectors alone, for measurements.
        """
        if self.store.stamp != (self._words_stamp if by == "words" else self._stamp):
            self._bring_up(None, wait=False, words_only=by == "words")
        phrases = [phrase for phrase in dict.fromkeys(request.phrases) if phrase.strip()]
        if not phrases or request.limit < 1 or not self._lexical.size:
            return []
        filters = Filters(request.tickers, _with_neighbours(request.years), request.quarters, request.kinds)
        vectors = self.embedder.embed(phrases) if by != "words" else np.zeros((len(phrases), 0), np.float32)
        if by == "words":
            found = self._lexical.search(self._asked(phrases[0]).words, filters, request.limit)
            return [(each.page, each.score, [], "words") for each in found]
        if by == "meaning":
            near = self._near(vectors[0], filters, request.limit)
            return [(page, cosine, [], "meaning") for page, cosine in near.items()]
        return self._fused(request, phrases, vectors, filters)

    # proposing

    def _fused(
        self, request: SearchRequest, phrases: Sequence[str], vectors: Vectors, filters: Filters
    ) -> list[Ranked]:
        asked = [self._asked(phrase) for phrase in phrases]
        by_words = max(20, BY_WORDS // len(phrases), request.limit)
        by_meaning = max(8, BY_MEANING // len(phrases))
        worded = [self._lexical.search(each.words, filters, by_words) for each in asked]
        near = [list(self._near(vector, filters, by_meaning)) for vector in vectors]
        found = {each.page: each for some in worded for each in some}
        unknown = dict.fromkeys(page for some in near for page in some if page not in found)
        found |= {each.page: each for each in self._lexical.pages(list(unknown))}
        pages = list(found.values())
        if not pages:
            return []
        chunks = self._vectors.chunks_of([page.page for page in pages])
        packed = Packed([page.words for page in pages])
        years = [page.year for page in pages]
        weights = NAMED_WEIGHTS if request.tickers and request.years else WEIGHTS
        scores = np.zeros(len(pages))
        cosines: list[dict[int, float]] = []
        for each, vector in zip(asked, vectors, strict=True):
            numbers = [number for some in chunks for number, _ in some]
            cosines.append(self._vectors.cosines(vector, numbers, self.store))
            meaning = _meaning(chunks, cosines[-1])
            scores += fused(evidence(each, packed, years, meaning, request.years), weights) / len(asked)
        scores += _unit_bonus(request.unit, packed)
        best = sorted(range(len(pages)), key=lambda place: (-scores[place], pages[place].page))[: request.limit]
        return [
            (
                pages[place].page,
                float(scores[place]),
                _best_chunks([number for number, _ in chunks[place]], cosines),
                _why(pages[place], worded, near),
            )
            for place in best
        ]

    def _asked(self, phrase: str) -> Asked:
        return Asked.of(phrase, self._lexical.size, self._lexical.count)

    def _near(self, vector: Vectors, filters: Filters, pages: int) -> dict[str, float]:
        """The pages of the nearest chunks, each by its nearest, the nearest first."""
        near = self._vectors.nearest(vector, filters, 4 * pages, self.store)
        chunks = self.store.chunks_by_id([number for number, _ in near])
        found: dict[str, float] = {}
        for number, cosine in near:
            if number in chunks and len(found) < pages:
                found.setdefault(chunks[number].page, cosine)
        return found

    # keeping up to date

    def _bring_up(self, progress: Callable[[int], None] | None, *, wait: bool, words_only: bool = False) -> None:
        with self._lock:
            stamp = self.store.stamp
            with _alone(self.folder / "lock", wait=wait) as alone:
                if alone:
                    self._lexical.update(self.store)
                    self._words_stamp = stamp
                    if words_only:
                        return
                    self._vectors.update(self.store, progress or (lambda chunks: None))
                    self._stamp = stamp
                else:
                    self._lexical.reload()
                    self._vectors.read(self.store)


@contextmanager
def _alone(path: Path, *, wait: bool) -> Iterator[bool]:
    """Whether this process is the only one here until the end of the block; the lock goes with the process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise cannot_use(path.parent, error) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _with_neighbours(years: frozenset[int]) -> frozenset[int]:
    """The years whose filings report a year: its own, the next one's, which prints it again, the one before's outlook.

    >>> sorted(_with_neighbours(frozenset({2012})))
    [2011, 2012, 2013]
    """
    return frozenset(year + late for year in years for late in (-1, 0, 1))


def _meaning(chunks: Sequence[Sequence[tuple[int, str]]], cosines: dict[int, float]) -> Scores:
    """The cosine of each page's nearest chunk of a table, and of a text; 0 where there is none."""
    return np.array(
        [
            [
                max((cosines.get(number, 0.0) for number, of in some if of == kind), default=0.0)
                for kind in ("table", "text")
            ]
            for some in chunks
        ]
    )


def _unit_bonus(unit: str | None, packed: Packed) -> Scores:
    if not unit:
        return np.zeros(packed.size)
    number = word_numbers([unit.casefold().removesuffix("s") or unit])[0]
    has = np.zeros(packed.size)
    for part in (packed.text, packed.rows, packed.rest):
        has[part.page[part.words == number]] = _UNIT
    return has


def _best_chunks(numbers: Sequence[int], cosines: Sequence[dict[int, float]]) -> list[int]:
    def nearness(number: int) -> float:
        return max(each.get(number, 0.0) for each in cosines)

    return sorted(numbers, key=lambda number: (-nearness(number), number))[:CHUNKS_SHOWN]


def _why(page: Found, worded: Sequence[Sequence[Found]], near: Sequence[Sequence[str]]) -> str:
    """By what a page was found: its best place among the proposals of each kind."""
    by_words = [1 + [each.page for each in some].index(page.page) for some in worded if page in some]
    by_meaning = [1 + some.index(page.page) for some in near if page.page in some]
    parts = [f"words #{min(by_words)}"] if by_words else []
    return ", ".join([*parts, *([f"meaning #{min(by_meaning)}"] if by_meaning else [])])
