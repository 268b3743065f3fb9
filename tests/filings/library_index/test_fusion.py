"""What speaks for a page: each kind of evidence, alone."""

from __future__ import annotations

import numpy as np
import pytest

from finexpert.filings.library.index.fusion import WEIGHTS, Asked, evidence, fused, years_in
from finexpert.filings.library.index.words import Packed, PageWords, pack
from finexpert.filings.records import LibraryPage


def page(text: str = "", row: str = "", header: str = "2010") -> bytes:
    table = (("( in millions )", header), (row, "5")) if row else ()
    made = LibraryPage("p", "f", "Acme", "ACM", 2010, None, "10-K", "", 1, tuple(text.split(" . ")), table, ())
    return pack(made, PageWords.of(made))


def columns(question: str, pages: list[bytes], years: list[int | None] | None = None) -> dict[str, list[float]]:
    asked = Asked.of(question, 100, lambda word: 5)
    rows = evidence(asked, Packed(pages), years or [None] * len(pages), np.zeros((len(pages), 2)), frozenset())
    return {name: rows[:, place].round(3).tolist() for place, name in enumerate(WEIGHTS)}


@pytest.mark.parametrize(
    ("column", "question", "better", "worse"),
    [
        ("pairs", "minimum lease payments", "minimum lease due", "lease of a minimum size"),
        ("triples", "minimum lease payments", "minimum lease payments", "minimum lease and lease payments"),
        ("sentence", "pension cost", "pension cost rose . nothing else", "pension fell . cost rose"),
        ("years printed", "sales in 2010 and 2011", "in 2010 and 2011", "in 2010"),
        ("page", "pension", "pension", "pensioners"),
    ],
)
def test_one_page_is_better(column: str, question: str, better: str, worse: str) -> None:
    first, second = columns(question, [page(better), page(worse)])[column]
    assert first > second


def test_words_of_a_row_and_its_header_stand_together() -> None:
    first, second = columns("net sales in europe", [page("x", "net sales", "europe"), page("x", "net", "sales")])["row"]
    assert first > second


def test_runs_of_words_do_not_cross_sentences() -> None:
    assert columns("pension cost", [page("the pension . cost of goods")])["pairs"] == [0.0]


def test_the_latest_year_in_the_words_is_the_filings() -> None:
    found = columns("from 2009 to 2010", [page("x")] * 4, [2010, 2011, 2009, None])
    assert found["filing of the year"] == [1.0, 0.0, 0.0, 0.0]
    assert found["filing of the next year"] == [0.0, 1.0, 0.0, 0.0]
    assert found["filing of the year before"] == [0.0, 0.0, 1.0, 0.0]


def test_no_page_and_no_word_give_no_evidence() -> None:
    assert evidence(Asked.of("net sales", 0, lambda w: 0), Packed([]), [], np.zeros((0, 2)), frozenset()).shape[0] == 0
    assert columns("?", [page("net sales")])["page"] == [0.0]


def test_what_is_best_in_everything_is_first() -> None:
    rows = np.array([[0.2] * len(WEIGHTS), [1.0] * len(WEIGHTS), [0.1] * len(WEIGHTS)])
    assert int(np.argmax(fused(rows))) == 1


@pytest.mark.parametrize(
    ("text", "years"),
    [("december 312013", {2013}), ("2010-2012", {2010, 2012}), ("2,010 shares of 992010", set()), ("fy2014", {2014})],
)
def test_years(text: str, years: set[int]) -> None:
    assert years_in(text) == years
