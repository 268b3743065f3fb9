"""Cells of a printed table row put together again: signs that stand in a cell of their own join their number.

    >>> [cell.text for cell in joined([Span("Net loss", 0, 1), Span("$", 2, 3), Span("(1,234", 3, 4), Span(")", 4, 5)])]
    ['Net loss', '$ (1,234)']

A cell is a text with the stretch of columns, or of points on a page, that it covers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_BEFORE = re.compile(r"(?:US|C|A|HK|NT|R)?[$\u20ac\u00a3\u00a5]\s*\(?|\(|[-\u2013\u2212]\s*[$\u20ac\u00a3\u00a5]")
_AFTER = re.compile(r"\)|%|\)\s*%|%\s*\)|\(%\)")
_NUMBER = re.compile(
    r"(?:US|C|A|HK|NT|R)?[$\u20ac\u00a3\u00a5]?\s*[-\u2013\u2212(]?\s*[$\u20ac\u00a3\u00a5]?\s*\(?"
    r"(?:\d[\d,]*(?:\.\d+)?|\.\d+)\s*(?:[%x]|bps|(?:thousand|million|billion|trillion)s?|mm|bn|[mk])?\s*\)?\s*%?\s*(?:\(\w\)|\*+)?",
    re.IGNORECASE,
)
_NO_NUMBER = re.compile(r"[$\u20ac\u00a3\u00a5]?\s*(?:[-\u2013\u2014\u2212]+|\*+|n/?a|n/?m|nil)\s*%?", re.IGNORECASE)
YEAR = re.compile(r"(?:19|20)\d\d")
# A label that goes on begins with a word in small letters, or follows one that cannot be the last.
_CONTINUES = re.compile(r"[a-z]{2,}\b(?!\.)")
_OPEN_END = re.compile(
    r"(?:[,;\u2013\u2014-]|\b(?:and|or|of|in|to|for|at|by|the|on|from|per|with|as|than|including|excluding))$"
)


@dataclass(frozen=True)
class Span:
    """A cell's text and the half-open stretch that it covers, in columns or points."""

    text: str
    start: float
    end: float

    def covers(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


def is_value(text: str) -> bool:
    """Whether a cell holds what a table's body holds: a number, or a sign that there is none.

    >>> [is_value(text) for text in ("$ (1,234)", "12.5 %", "\u2014", "N/A", "2017", "Item 7", "March 31, 2017")]
    [True, True, True, True, True, False, False]
    """
    return bool(_NUMBER.fullmatch(text.strip()) or _NO_NUMBER.fullmatch(text.strip()))


def joined(row: Iterable[Span]) -> list[Span]:
    """The cells of a row without its empty ones, "$" joined to the number after it, ")" and "%" to the one before."""
    cells: list[Span] = []
    for cell in row:
        if not cell.text:
            continue
        if cells and _AFTER.fullmatch(cell.text) and re.search(r"[\d)\u2013\u2014-]$", cells[-1].text):
            last = cells.pop()
            gap = " " if cell.text[0] == "%" else ""
            cells.append(Span(last.text + gap + cell.text, last.start, cell.end))
        elif cells and _BEFORE.fullmatch(cells[-1].text) and not _BEFORE.fullmatch(cell.text):
            first = cells.pop()
            gap = "" if first.text[-1] in "(-\u2013\u2212" else " "
            cells.append(Span(first.text + gap + cell.text, first.start, cell.end))
        else:
            cells.append(cell)
    return cells


def columns_of(rows: Sequence[Sequence[Span]]) -> list[Span]:
    """The stretches that the columns of a table cover: those of its cells, put together where they overlap.

    Narrow cells tell the columns apart; one that lies over several of them, such as a heading, joins none.
    """
    columns: list[Span] = []
    cells = [cell for row in rows if len(row) > 1 for cell in row]
    for cell in sorted(cells, key=lambda each: (each.end - each.start, each.start)):
        under = [column for column in columns if column.covers(cell)]
        if not under:
            columns.append(Span("", cell.start, cell.end))
        elif len(under) == 1:
            columns.remove(under[0])
            columns.append(Span("", min(cell.start, under[0].start), max(cell.end, under[0].end)))
    return sorted(columns, key=lambda column: column.start)


def as_table(rows: Sequence[Sequence[Span]]) -> tuple[tuple[str, ...], ...]:
    """Rows of cells as a table with the columns that they have in common; a heading stands over each that it covers.

    >>> rows = [[Span("Year ended", 1, 5)], [Span("2017", 1, 3), Span("2016", 3, 5)],
    ...         [Span("Sales", 0, 1), Span("$ 5", 1, 3), Span("4", 4, 5)]]
    >>> as_table(rows)
    (('', 'Year ended', 'Year ended'), ('', '2017', '2016'), ('Sales', '$ 5', '4'))
    """
    rows = rejoined(rows)
    body = [row for row in rows if is_body(row)]
    columns = columns_of(body or rows) or columns_of(rows)
    if not columns:
        return ()
    first_body = next((number for number, row in enumerate(rows) if is_body(row)), len(rows))
    table: list[tuple[str, ...]] = []
    for number, row in enumerate(rows):
        line = [""] * len(columns)
        for cell in row:
            places = _places(cell, columns) if number < first_body else _places(cell, columns)[:1]
            for place in places:
                line[place] = f"{line[place]} {cell.text}".strip()
        if table and number < first_body and line[0] == table[-1][0]:
            line[0] = ""  # a heading beside two rows of headings
        table.append(tuple(line))
    return tuple(table)


def rejoined(rows: Sequence[Sequence[Span]]) -> list[list[Span]]:
    """Rows whose label goes on in the next line, as one row.

    >>> rows = [[Span("Selling and", 0, 9)], [Span("other costs", 0, 9), Span("5", 20, 21)], [Span("of the group", 0, 9)]]
    >>> [[cell.text for cell in row] for row in rejoined(rows)]
    [['Selling and other costs of the group', '5']]
    """
    whole: list[list[Span]] = []
    for row in rows:
        last = whole[-1] if whole else []
        if last and row and _goes_on(last, row):
            label = Span(
                f"{last[0].text} {row[0].text}", min(last[0].start, row[0].start), max(last[0].end, row[0].end)
            )
            whole[-1] = [label, *last[1:], *row[1:]]
        else:
            whole.append(list(row))
    return whole


def _goes_on(last: Sequence[Span], row: Sequence[Span]) -> bool:
    """Whether the first cell of a row goes on with the label of the row before; one of them has the numbers."""
    if is_value(last[0].text) or is_value(row[0].text) or not last[0].covers(row[0]):
        return False
    if len(last) > 1:
        return len(row) == 1 and is_body(last) and bool(_CONTINUES.match(row[0].text))
    open_end = bool(_OPEN_END.search(last[0].text)) and not last[0].text.isupper()
    return not last[0].text.endswith(":") and (open_end or bool(_CONTINUES.match(row[0].text)))


def is_body(row: Sequence[Span]) -> bool:
    """Whether a row has a value beside its label: years alone, "2017", "2016", head columns."""
    return any(is_value(cell.text) and not YEAR.fullmatch(cell.text) for cell in row[1:])


def _places(cell: Span, columns: Sequence[Span]) -> list[int]:
    """Which columns a cell lies over; the nearest where it lies over none."""
    under = [number for number, column in enumerate(columns) if column.covers(cell)]
    if under:
        return under
    middle = (cell.start + cell.end) / 2
    return [min(range(len(columns)), key=lambda n: abs((columns[n].start + columns[n].end) / 2 - middle))]
