"""Tables found in lines of words by their alignment: what a PDF and a plain text have in place of table tags.

    Line([Span("Net sales", 0, 9), Span("1,234", 20, 25), Span("1,181", 30, 35)])

A line with a label and numbers far from it, or with numbers alone, is a row; two rows one after the other are a table, and the
short lines above and between them belong to it. A table of words alone is not told from a text in columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from finexpert.sources.reading.blocks import Block, Paragraph, Table
from finexpert.sources.reading.cells import Span, as_table, is_value, joined

Line = list[Span]

_MOST_BETWEEN = 2
_LONGEST_LABEL = 90
_LIKE_A_HEADER = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\bin (?:millions|thousands|billions)\b|\b(?:ended|change|total|quarter)\b",
    re.IGNORECASE,
)


def blocks_of(lines: Sequence[Line]) -> Iterator[Block]:
    """The lines of a page as tables and paragraphs, in their order; an empty line ends a paragraph."""
    rows = [joined(line) for line in lines]
    place = 0
    for start, end in regions_of(rows):
        yield from _paragraphs(lines[place:start])
        yield Table(as_table([row for row in rows[start:end] if row]))
        place = end
    yield from _paragraphs(lines[place:])


def _is_row(row: Line) -> bool:
    return len(row) >= 2 and any(is_value(cell.text) for cell in row[1:]) and len(row[0].text) <= 2 * _LONGEST_LABEL


def regions_of(rows: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Where tables begin and end among rows of cells, which are `joined` already; an empty row is an empty line."""
    start, done = 0, 0
    while start < len(rows):
        if not _is_row(rows[start]):
            start += 1
            continue
        end, count = start + 1, 1
        while (following := _next_row(rows, end)) is not None:
            end, count = following + 1, count + 1
        if count >= 2:
            top = _header_start(rows, start, done)
            yield top, end
            done = end
        start = end


def _next_row(rows: Sequence[Line], place: int) -> int | None:
    """The row that goes on with a table: after at most a few section lines, that are short and no sentences."""
    between = 0
    for number in range(place, len(rows)):
        row = rows[number]
        if _is_row(row):
            return number
        if row:
            between += 1
            words = " ".join(cell.text for cell in row)
            if between > _MOST_BETWEEN or len(words) > _LONGEST_LABEL or re.search(r"[.!?]$", words):
                return None
    return None


def _header_start(rows: Sequence[Line], start: int, done: int) -> int:
    """The first line of the headings above a table: lines of several cells, or with a year or a unit."""
    top = start
    for number in range(start - 1, max(done, start - 8) - 1, -1):
        row = rows[number]
        words = " ".join(cell.text for cell in row)
        if not row:
            continue
        like = _LIKE_A_HEADER.search(words) and len(words) <= _LONGEST_LABEL and not re.search(r"[.:;]$", words)
        if len(row) < 2 and not like:
            break
        top = number
    return top


def _paragraphs(lines: Sequence[Line]) -> Iterator[Paragraph]:
    words: list[str] = []
    for line in lines:
        text = " ".join(cell.text for cell in line)
        if not text and words:
            yield Paragraph(" ".join(words))
            words = []
        elif text:
            words.append(text)
    if words:
        yield Paragraph(" ".join(words))
