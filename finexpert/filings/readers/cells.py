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
_MONEY_ALONE = re.compile(r"(?:US|C|A|HK|NT|R)?[$\u20ac\u00a3\u00a5]")
_MARK = re.compile(r"(?:\(\w{1,3}\))+")
_NUMBER = re.compile(
    r"(?:US|C|A|HK|NT|R)?[$\u20ac\u00a3\u00a5]?\s*[-\u2013\u2212(]?\s*[$\u20ac\u00a3\u00a5]?\s*\(?"
    r"(?:\d[\d,]*(?:\.\d+)?|\.\d+)\s*(?:[%x]|bps|(?:thousand|million|billion|trillion)s?|mm|bn|[mk])?\s*\)?\s*%?\s*(?:\(\w\)|\*+)?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\d{1,3}(?:\.\d+)?\s*%?\s*(?:to|[-\u2013])\s*\d{1,3}(?:\.\d+)?\s*%?")
_NO_NUMBER = re.compile(r"[$\u20ac\u00a3\u00a5]?\s*(?:[-\u2013\u2014\u2212]+|\*+|n/?a|n/?m|nil)\s*%?", re.IGNORECASE)
_MOST_LABELS = 2
_YEAR = re.compile(r"(?:19|20)\d\d\s*(?:\(\w{1,2}\)\s*)*")
# A label that goes on begins with a word in small letters, or follows one that cannot be the last.
_CONTINUES = re.compile(r"[a-z]{2,}\b(?!\.)")
_OPEN_END = re.compile(
    r"(?:[,;\u2013\u2014-]|\b(?:and|or|of|in|to|for|at|by|the|on|from|per|with|as|than|including|excluding))$"
)


@dataclass(frozen=True)
class Span:
    """A cell's text and the half-open stretch that it covers, in columns or points.

    `ruled` where the stretch is all that it heads, by a rule below it or by the spans of a grid; else it is that of its words.
    """

    text: str
    start: float
    end: float
    ruled: bool = False

    def covers(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


def is_value(text: str) -> bool:
    """Whether a cell holds what a table's body holds: a number, or a sign that there is none.

    >>> [is_value(text) for text in ("$ (1,234)", "12.5 %", "7 to 45", "\u2014", "2017", "Item 7", "March 31, 2017")]
    [True, True, True, True, True, False, False]
    """
    return any(form.fullmatch(text.strip()) for form in (_NUMBER, _NO_NUMBER, _RANGE))


def is_year(text: str) -> bool:
    """Whether a cell is a year, with the mark of a footnote or without.

    >>> is_year("2017 (a)"), is_year("2017"), is_year("2,017")
    (True, True, False)
    """
    return bool(_YEAR.fullmatch(text.strip()))


def joined(row: Iterable[Span]) -> list[Span]:
    """The cells of a row without its empty ones, "$" joined to the number after it, ")" and "%" to the one before."""
    cells: list[Span] = []
    for cell in row:
        if not cell.text:
            continue
        if (
            cells
            and _AFTER.fullmatch(cell.text)
            and re.search(r"[\d)\u2013\u2014-]$", cells[-1].text)
            and not is_year(cells[-1].text)
        ):
            last = cells.pop()
            gap = " " if cell.text[0] == "%" else ""
            cells.append(Span(last.text + gap + cell.text, last.start, cell.end))
        elif (
            cells
            and _MARK.fullmatch(cell.text)
            and not _NUMBER.fullmatch(cell.text)
            and not _BEFORE.fullmatch(cells[-1].text)
        ):
            last = cells.pop()
            cells.append(Span(f"{last.text} {cell.text}", last.start, cell.end if len(cells) == 0 else last.end))
        elif cells and _BEFORE.fullmatch(cells[-1].text) and not _BEFORE.fullmatch(cell.text):
            first = cells.pop()
            gap = "" if first.text[-1] in "(-\u2013\u2212" else " "
            cells.append(Span(first.text + gap + cell.text, first.start, cell.end))
        else:
            cells.append(cell)
    return cells


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
            whole[-1] = [_one(last[0], row[0]), *last[1:], *row[1:]]
        elif len(last) > 1 and row and _describes(last, row):
            whole[-1] = [*last, *row] if is_value(row[0].text) else [last[0], _one(last[1], row[0]), *row[1:]]
        else:
            whole.append(list(row))
    return whole


def _one(above: Span, below: Span) -> Span:
    return Span(f"{above.text} {below.text}", min(above.start, below.start), max(above.end, below.end))


def _describes(last: Sequence[Span], row: Sequence[Span]) -> bool:
    """Whether a label and its description have no numbers yet, and the row below goes on with these alone."""
    if len(last) > 2 or any(is_value(cell.text) for cell in last) or row[0].start <= last[0].end:
        return False
    words = [cell for cell in row if not is_value(cell.text)]
    return (len(words) < len(row) and not words) or (words == [row[0]] and row[0].covers(last[1]))


def _goes_on(last: Sequence[Span], row: Sequence[Span]) -> bool:
    """Whether the first cell of a row goes on with the label of the row before; one of them has the numbers."""
    if is_value(last[0].text) or is_value(row[0].text) or not last[0].covers(row[0]):
        return False
    if len(last) > 1:
        return len(row) == 1 and is_body(last) and bool(_CONTINUES.match(row[0].text))
    open_end = bool(_OPEN_END.search(last[0].text)) and not last[0].text.isupper()
    return not last[0].text.endswith(":") and (open_end or bool(_CONTINUES.match(row[0].text)))


def is_body(row: Sequence[Span]) -> bool:
    """Whether a row has a value beside its label: years alone, "2017", "2016", head columns, and so do words with a footnote's mark."""
    values = [cell.text for cell in row[1:] if is_value(cell.text) and not is_year(cell.text)]
    return bool(values) and not (len(row) - len(values) > _MOST_LABELS and all(map(_MARK.fullmatch, values)))


def is_money(row: Sequence[Span]) -> bool:
    """Whether a row has nothing but a sign of money, which stands a little above its numbers."""
    return all(_MONEY_ALONE.fullmatch(cell.text) for cell in row)
