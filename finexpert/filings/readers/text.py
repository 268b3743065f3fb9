"""A filing as plain text: pages at form feeds or `<PAGE>`, tables where words line up in columns.

    Net sales                 1,234      1,181
    Cost of sales               700        650

Two spaces part cells. A file without page marks is cut into pages of about the same length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from finexpert.filings.readers.aligned import blocks_of
from finexpert.filings.readers.blocks import PrintedPage, running_pages
from finexpert.filings.readers.cells import Span

_PAGE_MARK = re.compile(r"\f|^[^\S\n]*<PAGE>[^\S\n]*\d*[^\S\n]*$", re.MULTILINE | re.IGNORECASE)
_CELL = re.compile(r"\S+(?: \S+)*")
_TAG = re.compile(r"^[^\S\n]*</?(?:TABLE|CAPTION|S|C|FN)>.*$", re.MULTILINE | re.IGNORECASE)
_RULE = re.compile(r"[-=_\s.]{3,}")
_MARKS = tuple(re.compile(mark, re.IGNORECASE) for mark in ("<DOCUMENT>", "<TEXT>", "</TEXT>"))


def read_text(text: str) -> list[PrintedPage]:
    """The pages of a text that have something on them.

    >>> page, = read_text("Sales by year.\\n\\n           2017    2016\\nSales       5       4\\nCosts       3       2\\n")
    >>> [block for block in page.blocks]
    [Paragraph(text='Sales by year.'), Table(rows=(('', '2017', '2016'), ('Sales', '5', '4'), ('Costs', '3', '2')))]
    """
    marked = _PAGE_MARK.split(text)
    if len(marked) > 1:
        found = [list(blocks_of(_lines(part))) for part in marked]
        return [PrintedPage(number, blocks) for number, blocks in enumerate(filter(None, found), start=1)]
    return list(running_pages(blocks_of(_lines(text))))


def main_document(text: str) -> str:
    """The first document of a whole submission to the SEC, which holds exhibits too; else the text as it is."""
    if "<DOCUMENT>" not in text[:10_000].upper():
        return text
    # One mark after the other: a pattern of all three takes the cube of the length where one is missing.
    start = place = 0
    for mark in _MARKS:
        match = mark.search(text, place)
        if match is None:
            return text
        start, place, end = place, match.end(), match.start()
    return text[start:end]


def _lines(text: str) -> list[list[Span]]:
    return [list(_cells(line)) for line in _TAG.sub("", text).expandtabs(8).splitlines()]


def _cells(line: str) -> Iterator[Span]:
    if not _RULE.fullmatch(line):
        for match in _CELL.finditer(line):
            # Dots lead the eye from a label to its number.
            cell = match[0].rstrip(". \t") if match[0].endswith("...") else match[0]
            if cell:
                yield Span(cell, match.start(), match.end())
