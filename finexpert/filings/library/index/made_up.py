"""Made-up filings, to measure a library that holds many: the same ones every time, and nothing that means anything.

    for info, pages in filings(1_000_000): ...     10-Ks of 40 pages, about five chunks a page
    question(417)                                  words that stand on one of the pages, common and rare ones

Words come as often as in a language (the tenth most common one a tenth as often as the first), so that an index has long
and short lists to go through, as with real text. How well anything is found cannot be measured with them.
"""

from __future__ import annotations

import datetime as dt
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from finexpert.embeddings.vectors import Vectors
from finexpert.filings.records import FilingInfo, LibraryPage

PAGES = 40
CHUNKS_A_PAGE = 5
YEARS = tuple(range(2000, 2020))
_VOCABULARY = 30_000
_SENTENCES, _WORDS = 20, 24
_ROWS = 8
_EMBEDDED = 12
_CONSONANTS, _VOWELS = "bdfgklmnprtv", "aeiou"


class MadeUpEmbedder:
    """An `Embedder` of the first words of a text, each a random vector; 384 numbers, as the packaged model has."""

    dimensions = 384
    name = f"made-up-pages-{dimensions}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split(maxsplit=_EMBEDDED)[:_EMBEDDED] or [""]:
                row += _of_word(word)
            row /= np.linalg.norm(row)
        return rows


@lru_cache(maxsize=_VOCABULARY)
def _of_word(word: str) -> Vectors:
    return np.random.RandomState(zlib.crc32(word.encode())).standard_normal(384).astype(np.float32)


def filings(chunks: int) -> Iterator[tuple[FilingInfo, list[LibraryPage]]]:
    """Filings with at least so many chunks in all.

    >>> info, pages = next(filings(1))
    >>> info.id, len(pages), pages[0].ticker, pages[0].fiscal_year
    ('BABA/2000', 40, 'BABA', 2000)
    """
    count = -(-chunks // (PAGES * CHUNKS_A_PAGE))
    for number in range(count):
        company, year = number // len(YEARS), YEARS[number % len(YEARS)]
        ticker = _word(company).upper()
        id = f"{ticker}/{year}"
        pages = [_page(number * PAGES + place, id, ticker, year, place + 1) for place in range(PAGES)]
        added = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
        yield FilingInfo(id, ticker.title(), ticker, year, None, "10-K", id, id, f"{number:064x}", PAGES, added), pages


def question(number: int, pages: int) -> tuple[str, str, int]:
    """A question on one of so many pages, its company and its year."""
    page = number * 7919 % pages
    filing = page // PAGES
    words = _words(page).reshape(_SENTENCES, _WORDS)[number % _SENTENCES, :12]
    text = f"what was the {' '.join(map(_word, words.tolist()))} in {YEARS[filing % len(YEARS)]}?"
    return text, _word(filing // len(YEARS)).upper(), YEARS[filing % len(YEARS)]


def _page(number: int, filing: str, ticker: str, year: int, place: int) -> LibraryPage:
    words = [_word(word) for word in _words(number).tolist()]
    sentences = [" ".join(words[at : at + _WORDS]) + " ." for at in range(0, len(words), _WORDS)]
    rows = [
        (" ".join(words[5 * row : 5 * row + 3]), str(number % 997 * row), str(number % 991 + row))
        for row in range(_ROWS)
    ]
    table = (("( in millions )", str(year), str(year - 1)), *rows)
    half = _SENTENCES // 2
    before, after = tuple(sentences[:half]), tuple(sentences[half:])
    return LibraryPage(
        f"{filing}/page_{place}", filing, ticker.title(), ticker, year, None, "10-K", "", place, before, table, after
    )


def _words(page: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    drawn = np.random.RandomState(page).random_sample(_SENTENCES * _WORDS)
    return np.searchsorted(_shares(), drawn)


@lru_cache(maxsize=1)
def _shares() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    shares = np.cumsum(1.0 / np.arange(1, _VOCABULARY + 1))
    return np.asarray(shares / shares[-1])


@lru_cache(maxsize=_VOCABULARY)
def _word(number: int) -> str:
    letters = [_CONSONANTS[number % 12]]
    number //= 12
    while len(letters) < 4 or number:
        letters.append((_VOWELS if len(letters) % 2 else _CONSONANTS)[number % (5 if len(letters) % 2 else 12)])
        number //= 5 if len(letters) % 2 == 0 else 12
    return "".join(letters)
