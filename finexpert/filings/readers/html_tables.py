"""A table of an HTML filing: its cells on a grid, put together as they are printed.

    <td>Net sales</td><td>$</td><td>(1,234</td><td>)</td><td></td><td>900</td>  ->  ("Net sales", "$ (1,234)", "900")

Filings use tables also to place text (bullets, signatures, one wide cell): those come back as paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lxml import etree

from finexpert.filings.readers.blocks import Paragraph, Table
from finexpert.filings.readers.cells import Span, is_value, joined
from finexpert.filings.readers.grid import as_table

_BULLET = re.compile(r"[\u2022\u25cf\u25aa\u25e6\u00b7\u2013\u2014*o-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]")
_WIDEST = 1000
_LONGEST_CELL = 300
# Of grid columns over all rows of a table: a few cells can claim millions.
_MOST_COVERED = 500_000

Grid = list[list[Span]]


def table_block(
    table: etree._Element, text: Callable[[etree._Element], str], skips: Callable[[etree._Element], bool]
) -> Iterator[Table | Paragraph]:
    """The table, or the paragraphs that it places; `text` gives the words of a cell, `skips` tells what nobody sees."""
    rows = [row for row in (joined(line) for line in _grid(table, text, skips)) if row]
    if _holds_data(rows):
        yield Table(as_table(rows))
        return
    for row in rows:
        yield Paragraph(" ".join(cell.text for cell in row))


def _holds_data(rows: Grid) -> bool:
    wide = [row for row in rows if len(row) > 1]
    if len(wide) < 2:
        return False
    if sum(bool(_BULLET.fullmatch(row[0].text)) for row in wide) > len(wide) // 2:
        return False
    if any(is_value(cell.text) for row in wide for cell in row[1:]):
        return True
    cells = [cell.text for row in wide for cell in row]
    return sum(map(len, cells)) / len(cells) < _LONGEST_CELL / 3 and max(map(len, cells)) < _LONGEST_CELL


def _grid(
    table: etree._Element, text: Callable[[etree._Element], str], skips: Callable[[etree._Element], bool]
) -> Iterator[list[Span]]:
    """The cells of each row with the grid columns that they cover, spans over columns and rows counted."""
    covered_in_all = 0
    blocked: dict[int, tuple[int, Span | None]] = {}  # column -> rows still covered from above, label to repeat
    for row in table.iter("tr"):
        group = row.getparent()
        if skips(row) or (group is not table and group is not None and skips(group)):
            continue
        cells: list[Span] = []
        column = 0
        waiting = [cell for cell in row if cell.tag in ("td", "th")]
        covered, blocked = blocked, {}
        covered_in_all += len(covered)
        if covered_in_all > _MOST_COVERED:
            covered = {}
        for place, (left, label) in covered.items():
            if left > 1:
                blocked[place] = (left - 1, label)
            if label is not None:
                cells.append(label)
        for cell in waiting:
            while column in covered:
                column += 1
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            covered_in_all += width
            if covered_in_all > _MOST_COVERED:
                width = height = 1
            span = Span(text(cell), column, column + width, ruled=True)
            cells.append(span)
            if height > 1:
                # A label beside several rows names each of them; a heading or number stands once.
                blocked |= {column + n: (height - 1, span if column == n == 0 else None) for n in range(width)}
            column += width
        yield sorted(cells, key=lambda each: each.start)


def _span(cell: etree._Element, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(max(int(value), 1), _WIDEST) if value.isascii() and value.isdigit() and len(value) < 6 else 1
