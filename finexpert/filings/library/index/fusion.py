"""Fusion: what speaks for a page, by words and by meaning, made one score.

    evidence(asked, packed, years)     ->  one row a page: BM25 of the page, of its word pairs, of its best sentence, ...
    fused(rows)                        ->  one score a page

Each page that the full text or the vectors propose is looked at again as a whole: a question's words side by side, in
one sentence or in one row count more than the same words strewn over a page, and a page whose filing is of the year asked
about more than one that only prints it. The weights were fitted on questions other than those that are measured, by
logistic regression on pairs of the right page and a wrong one. Nothing is read and no model is asked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from finexpert.filings.library.index.words import Packed, Part, Words, content_words, word_numbers

Scores = NDArray[np.float64]

# In the order of the columns of `evidence`.
WEIGHTS: dict[str, float] = {
    "page": 4.9,
    "pairs": 2.4,
    "triples": 1.9,
    "sentence": 1.2,
    "row": 1.6,
    "table meaning": 2.7,
    "text meaning": 3.9,
    "years printed": 3.9,
    "filing of the year": 1.7,
    "filing of the next year": 0.9,
    "filing of the year before": 0.6,
}
# Where company and year are filters, what is left is which page of a filing: its words as a whole say most.
NAMED_WEIGHTS: dict[str, float] = {
    "page": 7.4,
    "pairs": 0.6,
    "triples": 1.3,
    "sentence": 1.7,
    "row": 0.6,
    "table meaning": 3.7,
    "text meaning": 2.9,
    "years printed": 3.4,
    "filing of the year": 1.2,
    "filing of the next year": 0.2,
    "filing of the year before": 0.1,
}
# A year that was asked for as a filing's says more than one that stands in the words.
_WANTED = 8.0
_K1, _B = 1.2, 0.75
# A longer phrase is no question; each word is counted in every sentence of every page proposed.
_LONGEST = 200
_GLUED = re.compile(r"(?<!\d)([0-3]?\d)((?:19|20)\d\d)(?!\d)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def years_in(text: str) -> frozenset[int]:
    """The years that a text names, also where the day is glued to them.

    >>> sorted(years_in("as of december 312013, up from fiscal 2012 ( 2,010 shares )"))
    [2012, 2013]
    """
    return frozenset(map(int, _YEAR.findall(_GLUED.sub(r"\1 \2", text))))


@dataclass(frozen=True)
class Asked:
    """A phrase to search for: its words in order, how much each says, the years it names."""

    words: tuple[str, ...]
    numbers: Words
    weights: Scores
    years: frozenset[int]

    @classmethod
    def of(cls, phrase: str, pages: int, count: Callable[[str], int]) -> Asked:
        """A phrase, with `count(word)` the pages that a word stands on, of so many `pages`."""
        words = tuple(content_words(_GLUED.sub(r"\1 \2", phrase)))[:_LONGEST]
        found = np.array([count(word) for word in words], np.float64)
        weights = np.log1p(np.maximum(pages - found + 0.5, 0.5) / (found + 0.5))
        return cls(words, word_numbers(words), weights, years_in(phrase))


def evidence(
    asked: Asked, packed: Packed, years: Sequence[int | None], meaning: Scores, wanted: frozenset[int]
) -> Scores:
    """What speaks for each page, a column for each of `WEIGHTS`; BM25 as a share of the best page's.

    `meaning` holds the cosines of each page's best chunk of its table and of its text. `wanted` are the years of filings
    that were asked for; where none is, it is the latest year in the words.
    """
    terms, place = np.unique(asked.numbers, return_index=True)
    weights = asked.weights[place]
    text, rows, rest = (_matched(part, terms) for part in (packed.text, packed.rows, packed.rest))
    counted = [(packed.text.page, text), (packed.rows.page, rows), (packed.rest.page, rest)]
    length = _counts([(page, np.zeros_like(page)) for page, _ in counted], packed.size, 1)[:, 0]
    frequencies = _counts(counted, packed.size, len(terms))
    order = np.searchsorted(terms, asked.numbers)
    columns = [
        _bm25(frequencies, length, weights),
        _runs(order, 2, packed, text, rows, len(terms)),
        _runs(order, 3, packed, text, rows, len(terms)),
        _best_segment(packed.text, text, weights, packed.size),
        _best_segment(packed.rows, rows, weights, packed.size),
    ]
    columns = [column / max(float(column.max(initial=0.0)), 1e-9) for column in columns]
    printed = np.isin(terms, word_numbers(map(str, asked.years)))
    shown = (frequencies[:, printed] > 0).sum(axis=1) / max(1, len(asked.years))
    return np.column_stack([*columns, meaning, shown, *_nearness(years, asked.years, wanted)])


def fused(rows: Scores, weights: Mapping[str, float] = WEIGHTS) -> Scores:
    """One score a page: the weighted sum."""
    return np.asarray(rows @ np.array(list(weights.values())))


def _nearness(years: Sequence[int | None], asked: frozenset[int], wanted: frozenset[int]) -> list[Scores]:
    """Whether the filing is of the year, of the next one, which prints it too, or of the one before."""
    weight = _WANTED if wanted else 1.0
    targets = wanted or ({max(asked)} if asked else frozenset())
    return [np.array([weight * (year is not None and year - late in targets) for year in years]) for late in (0, 1, -1)]


def _matched(part: Part, terms: Words) -> NDArray[np.intp]:
    """Of each word which of the rising terms it is, or -1."""
    if not len(terms):
        return np.full(len(part.words), -1)
    place = np.minimum(np.searchsorted(terms, part.words), len(terms) - 1)
    return np.where(terms[place] == part.words, place, -1)


def _counts(parts: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]], size: int, terms: int) -> Scores:
    total = np.zeros(size * terms)
    for owner, matched in parts:
        hit = matched >= 0
        total += np.bincount(owner[hit] * terms + matched[hit], minlength=size * terms)
    return total.reshape(size, terms)


def _bm25(frequencies: Scores, length: Scores, weights: Scores) -> Scores:
    if not len(length):
        return np.zeros(0)
    norm = _K1 * (1 - _B + _B * length / max(1.0, float(length.mean())))
    return np.asarray((frequencies * (_K1 + 1) / (frequencies + norm[:, None])) @ weights)


def _best_segment(part: Part, matched: NDArray[np.intp], weights: Scores, size: int) -> Scores:
    """The BM25 of each page's best sentence, or of its best row."""
    segments = len(part.segment_page)
    best = np.zeros(size)
    if segments:
        length = np.bincount(part.segment, minlength=segments).astype(np.float64)
        scores = _bm25(_counts([(part.segment, matched)], segments, len(weights)), length, weights)
        np.maximum.at(best, part.segment_page, scores)
    return best


def _runs(
    order: NDArray[np.intp], n: int, packed: Packed, text: NDArray[np.intp], rows: NDArray[np.intp], terms: int
) -> Scores:
    """BM25 over n of the question's words that follow each other, within one sentence or row."""
    runs = np.unique(_code([order[i : len(order) - n + 1 + i] for i in range(n)], terms)) if len(order) >= n else None
    if runs is None or not packed.size:
        return np.zeros(packed.size)
    parts = []
    for part, matched in ((packed.text, text), (packed.rows, rows)):
        stretch = [matched[i : max(0, len(matched) - n + 1) + i] for i in range(n)]
        whole = part.segment[: len(stretch[0])] == part.segment[n - 1 :]
        whole &= np.logical_and.reduce([each >= 0 for each in stretch])
        code = _code([each[whole] for each in stretch], terms)
        place = np.minimum(np.searchsorted(runs, code), len(runs) - 1)
        parts.append((part.page[: len(whole)][whole], np.where(runs[place] == code, place, -1)))
    frequencies = _counts(parts, packed.size, len(runs))
    pages = (frequencies > 0).sum(axis=0)
    weights = np.log1p((packed.size - pages + 0.5) / (pages + 0.5))
    length = np.bincount(packed.text.page, minlength=packed.size) + np.bincount(packed.rows.page, minlength=packed.size)
    return _bm25(frequencies, length.astype(np.float64), weights)


def _code(stretch: Sequence[NDArray[np.intp]], terms: int) -> NDArray[np.intp]:
    code = np.zeros_like(stretch[0])
    for each in stretch:
        code = code * terms + each
    return code
