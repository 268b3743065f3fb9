"""Tables found in lines of words by their alignment: what a PDF and a plain text have in place of table tags.

    Line([Span("Net sales", 0, 9), Span("1,234", 20, 25), Span("1,181", 30, 35)])

A line with a label and numbers far from it, or with numbers alone, is a row; two rows one after the other are a table, and the
short lines above and between them belong to it. A table of words alone is not told from a text in columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from finexpert.filings.readers.blocks import Block, Paragraph, Table
from finexpert.filings.readers.cells import Span, is_body, is_value, is_year, joined
from finexpert.filings.readers.grid import as_table, columns_of

Line = list[Span]

_MOST_BETWEEN = 2
# The equity of a balance sheet tells the shares of each class within a label.
_MOST_LABEL_LINES = 14
_MOST_HEADER_LINES = 16
_MOST_SECTIONS = 6
_NEAR_THE_MIDDLE = 0.015
_LONGEST_LABEL = 90
_SENTENCE = re.compile(r"[.!?]$|\bfollow(?:s|ing)?\b[^.]{0,40}:?$")
_BULLET = re.compile(r"[\u2022\u25cf\u25aa\u25e6\u00b7]")
_TITLE = re.compile(
    r"(?:condensed )?consolidated (?:condensed )?(?:statements?|balance)\b|notes to\b|note \d", re.IGNORECASE
)
_FOOT = re.compile(
    r"^.{0,80}\bform (?:10-?[kq]|20-?f|40-?f|8-?k)\b\W*\d{1,3}$|^\d{1,3}\W.{0,80}\bform (?:10-?[kq]|20-?f)$",
    re.IGNORECASE,
)
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
    if len(row) < 2 or not any(is_value(cell.text) for cell in row[1:]) or len(row[0].text) > 2 * _LONGEST_LABEL:
        return False
    return not _FOOT.match(" ".join(cell.text for cell in row))


def regions_of(rows: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Where tables begin and end among rows of cells, which are `joined` already; an empty row is an empty line."""
    start, done = 0, 0
    while start < len(rows):
        if not _is_row(rows[start]):
            start += 1
            continue
        found = [start]
        while (following := _next_row(rows, found)) is not None:
            found.append(following)
        end = found[-1] + 1
        if len(found) >= 2:
            yield _header_start(rows, found, done), end
            done = end
        start = end


def _next_row(rows: Sequence[Line], found: Sequence[int]) -> int | None:
    """The row that goes on with a table: after a few short lines that are no sentences, or after a label of several lines."""
    values = values_start([rows[number] for number in found])
    between = 0
    labels_alone = True
    for number in range(found[-1] + 1, len(rows)):
        row = rows[number]
        if _is_row(row):
            # A label of several lines may be the end of one table and the text above another: the columns tell.
            same = between <= _MOST_BETWEEN or _in_columns(row, [rows[each] for each in found])
            return number if same and not _heads_another(row, [rows[each] for each in found]) else None
        if not row:
            continue
        if _is_heading(row, [rows[each] for each in found]):
            return None
        between += 1
        labels_alone = labels_alone and all(cell.end <= values for cell in row)
        if not (_is_short(row) and between <= _MOST_BETWEEN) and not (labels_alone and between <= _MOST_LABEL_LINES):
            return None
    return None


def values_start(rows: Sequence[Line]) -> float:
    """Where the values of some rows begin: what ends before stands in the column of the labels."""
    return min((cell.start for row in rows for cell in row[1:] if is_value(cell.text)), default=0.0)


def _is_heading(row: Line, table: Sequence[Line]) -> bool:
    """Whether a line without numbers stands right of all labels below numbers: it heads another table, or a part of one."""
    body = [each for each in table if is_body(each)]
    labels = max((each[0].end for each in body if not is_value(each[0].text)), default=0.0)
    edge = min(labels, values_start(body))
    if not body or row[0].start < edge or any(is_value(cell.text) and not is_year(cell.text) for cell in row):
        return False
    return len(row) >= 2 or bool(_LIKE_A_HEADER.search(row[0].text))


def _is_short(row: Line) -> bool:
    words = " ".join(cell.text for cell in row)
    return len(words) <= _LONGEST_LABEL and not _SENTENCE.search(words)


def _in_columns(row: Line, table: Sequence[Line]) -> bool:
    columns = columns_of(table)
    return all(any(column.covers(cell) for column in columns) for cell in row if is_value(cell.text))


def _heads_another(row: Line, table: Sequence[Line]) -> bool:
    """Whether a row of years, with words or without, stands below numbers: the columns below it are of these years."""
    years = [cell.text for cell in row if is_year(cell.text)]
    return len(years) >= 2 and not is_body(row) and any(is_body(each) for each in table)


def _header_start(rows: Sequence[Line], found: Sequence[int], done: int) -> int:
    """The first line of the headings above a table: lines of several cells, over its numbers, or with a year or a unit.

    The lines of the first label, and a section's, stand between the headings and the first row.
    """
    table = [rows[number] for number in found]
    values = values_start(table)
    top, skipped, empty, looked_at = found[0], 0, 0, 0
    for number in range(found[0] - 1, done - 1, -1):
        row = rows[number]
        if not row:
            empty += 1
            continue
        words = " ".join(cell.text for cell in row)
        looked_at += 1
        far = empty > 1 and (top < found[0] or not is_body(rows[found[0]]))
        ruled = _is_ruled_over(row, values)
        if looked_at > _MOST_HEADER_LINES or (far and not ruled) or _TITLE.match(words) or _BULLET.match(words):
            break
        if _is_title(row, table):
            break
        empty = 0
        short = len(words) <= _LONGEST_LABEL and not re.search(r"[.:;]$", words)
        like = _LIKE_A_HEADER.search(words) and short
        if len(row) >= 2 or like or ruled or (short and row[0].start >= values):
            top, skipped = number, 0
        elif row[0].end <= values and not re.search(r"[.!?]$", words) and skipped < _MOST_SECTIONS:
            skipped += 1
        else:
            break
    return top


def _is_title(row: Line, table: Sequence[Line]) -> bool:
    """Whether a line is the middle of the whole table, labels too, and not of its numbers: it is a title and no heading."""
    left, right = min(cell.start for each in table for cell in each), max(cell.end for each in table for cell in each)
    middle, values = (left + right) / 2, values_start(table)
    near = (right - left) * _NEAR_THE_MIDDLE
    off = abs((row[0].start + row[0].end) / 2 - middle)
    return len(row) == 1 and not row[0].ruled and off <= near and abs(middle - (values + right) / 2) > 2 * near


def _is_ruled_over(row: Line, values: float) -> bool:
    """Whether rules say that a line heads columns of numbers, however far above them."""
    over = [cell for cell in row if cell.start + cell.end > 2 * values]
    return bool(over) and all(cell.ruled and cell.start > values / 2 for cell in over)


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
