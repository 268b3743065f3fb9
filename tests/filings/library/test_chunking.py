from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.errors import ConfigurationError
from finexpert.filings.library.chunking import Chunking, page_chunks, table_chunks, text_chunks
from finexpert.filings.records import LibraryPage

SMALL = Chunking(100, 20)
words = st.lists(st.text("abcdefgh.", min_size=1, max_size=12), max_size=200).map(" ".join)
cells = st.text("abc 123|,.%", max_size=30)
tables = st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=30)


@given(words)
def test_every_word_is_in_a_chunk_and_no_chunk_is_too_long(text: str) -> None:
    chunks = list(text_chunks(text, SMALL))
    assert all(0 < len(chunk) <= SMALL.size for chunk in chunks)
    place = 0
    for chunk in chunks:
        start = text.find(chunk, max(place - SMALL.overlap - 1, 0))
        assert 0 <= start <= place + 1
        place = start + len(chunk)
    assert not text[place:].strip()


def test_the_next_chunk_repeats_the_overlap() -> None:
    text = " ".join(f"word{number}" for number in range(1000))
    for first, second in pairwise(text_chunks(text)):
        start = text.index(second)
        assert 180 <= text.index(first) + len(first) - start <= 200


def test_text_is_cut_after_a_sentence() -> None:
    text = "One sentence of some words stands here, and it goes on for a while. " * 3
    assert all(chunk.endswith(".") for chunk in text_chunks(text, SMALL))


@given(tables)
def test_no_row_is_lost_or_cut_and_every_chunk_has_the_header(table: list[list[str]]) -> None:
    table = [["", "2017", "2016"], *table]
    chunks = [chunk.split("\n") for chunk in table_chunks(table, SMALL)]
    header = "| 2017 | 2016"
    assert all(chunk[0].strip() == header for chunk in chunks)
    width = next((n for n, line in enumerate(chunks[0]) if any(chunk[n : n + 1] != [line] for chunk in chunks)), 1)
    lines = [*chunks[0][:width], *(line for chunk in chunks for line in chunk[width:])]
    expected = [" | ".join(" ".join(cell.split()) for cell in row) for row in table]
    assert sorted(set(lines)) == sorted(set(expected))


def test_a_page_gives_text_table_text() -> None:
    page = LibraryPage(
        "p", "f", "", "", None, None, "", "", 1, ("before .",), (("", "2017"), ("sales", "5")), ("after .",)
    )
    assert list(page_chunks(page)) == [("text", "before ."), ("table", " | 2017\nsales | 5"), ("text", "after .")]


@pytest.mark.parametrize(("size", "overlap"), [(99, 0), (1000, 501), (1000, -1)])
def test_sizes_that_cannot_work_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ConfigurationError, match=f"chunks of {size} characters with an overlap of {overlap}"):
        Chunking(size, overlap)
