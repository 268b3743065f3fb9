"""The words of a page as an index keeps them: numbers in place of words, cut into sentences and rows.

    pack(page)           ->  bytes, kept beside the page in the full-text index
    Packed([...]).text   ->  the words of the sentences of many pages in one array, to be counted at once

A page is kept in three parts: its sentences; its rows, each as its label with the header of the table; and the rest, the
numbers of the cells and the name of the company. Words of questions in general are left out. No ranking here.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from finexpert.filings.page.table import PageTable
from finexpert.filings.records import LibraryPage
from finexpert.text.terms import words_of

Words = NDArray[np.uint32]

# Singular, as words_of gives them: "doe" is "does".
COMMON = frozenset(
    (
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "and", "or", "is", "are", "was", "were", "be", "been",
        "do", "did", "doe", "does", "has", "have", "had", "how", "what", "which", "when", "who", "where", "why", "by",
        "from", "with", "over", "per", "than", "then", "that", "this", "these", "those", "it", "its", "as",
    )
)  # fmt: skip
SIGNS = ("%", "$")
_END = np.uint32(0)


def content_words(text: str) -> list[str]:
    """The words of a text that say what it is about.

    >>> content_words("What was the net sales of 2010?")
    ['net', 'sale', '2010']
    """
    return [word for word in words_of(text) if word not in COMMON]


def word_numbers(words: Iterable[str]) -> Words:
    """A number for each word, the same in every process; 0 is none of them."""
    return np.array([zlib.crc32(word.encode()) or 1 for word in words], np.uint32)


@dataclass(frozen=True)
class PageWords:
    """The words of a page: of each sentence, of each row's label, of the header, and the rest."""

    sentences: list[list[str]]
    labels: list[list[str]]
    header: list[str]
    rest: list[str]

    @classmethod
    def of(cls, page: LibraryPage) -> PageWords:
        """The words of a page. The company is said by its name and its ticker, the year not: it is compared apart."""
        header_rows = PageTable(page.table).header_rows if page.table else 0
        body = page.table[header_rows:]
        sentences = [content_words(sentence) for sentence in (*page.pre_text, *page.post_text)]
        labels = [content_words(row[0]) for row in body if row]
        return cls(
            [sentence for sentence in sentences if sentence],
            [label for label in labels if label],
            [word for row in page.table[:header_rows] for cell in row for word in content_words(cell)],
            [
                *content_words(f"{page.company} {page.ticker} {page.section}"),
                *(word for row in body for cell in row[1:] for word in content_words(cell)),
            ],
        )

    def all(self) -> list[str]:
        """Every word as often as it stands on the page."""
        lists = [*self.sentences, *self.labels, self.header, self.rest]
        return [word for words in lists for word in words]


def pack(page: LibraryPage, words: PageWords) -> bytes:
    """A page's words as bytes: the lengths of the three parts, then the parts; every sentence and row ends with 0.

    A number says nothing without its year, so every row has the words of the header too.
    """
    printed = " ".join([*page.pre_text, *(cell for row in page.table for cell in row), *page.post_text])
    signs = [sign for sign in SIGNS if sign in printed]
    parts = [_segments(words.sentences), _segments([[*label, *words.header] for label in words.labels])]
    parts.append(word_numbers([*words.header, *words.rest, *signs]))
    lengths = np.array([len(part) for part in parts], np.uint32)
    return np.concatenate([lengths, *parts]).astype("<u4").tobytes()


def _segments(lists: Sequence[Sequence[str]]) -> Words:
    parts = [part for words in lists for part in (word_numbers(words), np.array([_END], np.uint32))]
    return np.concatenate(parts) if parts else np.empty(0, np.uint32)


@dataclass(frozen=True)
class Part:
    """One part of several pages: its words, and of each the page and the sentence or row that it belongs to."""

    words: Words
    page: NDArray[np.intp]
    segment: NDArray[np.intp]
    segment_page: NDArray[np.intp]


class Packed:
    """Pages unpacked together, so that a question's words are counted in all of them at once.

    >>> page = LibraryPage("p", "f", "Acme", "ACM", 2010, None, "10-K", "", 1, ("sales rose .", "costs fell ."), (), ())
    >>> packed = Packed([pack(page, PageWords.of(page))] * 2)
    >>> packed.text.segment.tolist(), packed.text.page.tolist()
    ([0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1])
    """

    def __init__(self, pages: Sequence[bytes]) -> None:
        arrays = [np.frombuffer(page, "<u4") for page in pages]
        self.size = len(arrays)
        split = [np.split(array[3:], np.cumsum(array[:2], dtype=np.intp)) for array in arrays]
        self.text = _part([parts[0] for parts in split])
        self.rows = _part([parts[1] for parts in split])
        self.rest = _part([parts[2] for parts in split])


def _part(arrays: Sequence[Words]) -> Part:
    words = np.concatenate(arrays) if arrays else np.empty(0, np.uint32)
    page = np.repeat(np.arange(len(arrays)), [len(array) for array in arrays])
    ends = words == _END
    segment = np.cumsum(ends) - ends
    kept = ~ends
    return Part(words[kept], page[kept], segment[kept], page[ends])
