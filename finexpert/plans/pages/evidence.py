"""Proof of what a model says about pages: whether quoted words stand there, and which number of them is meant.

    proof = prove(page, "Total current assets | 14,277", "14,277")      # the cell, with the unit and scale of its table
    holds(page, "net sales rose because of higher volume")              # the part of the page on which the words stand

Words are compared without white space, hyphens and case. A row may be quoted with columns left out, in its order. What does not
stand on the page is None: nothing is taken for true because it is alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from finexpert.core.plans import Cell, Quote
from finexpert.errors import CellError, QuoteError
from finexpert.filings.page.filing import Filing
from finexpert.filings.page.folding import fold
from finexpert.filings.page.numbers import Printed as PrintedNumber
from finexpert.filings.page.numbers import printed_numbers, read_written
from finexpert.filings.page.quotes import QuotedPage
from finexpert.filings.records import LibraryPage
from finexpert.plans.pages.printed import Printed

_TOKEN = re.compile(r"[a-z]+|\d[\d,]*(?:\.\d+)?|\.\d+")
_LEAST_WORDS = 1


@dataclass(frozen=True)
class Proof:
    """Where a number stands: the page, and the step that reads it there; `negative` as it is printed."""

    page: LibraryPage
    step: Cell | Quote
    negative: bool


def prove(printed: Printed, quote: str, number: str) -> Proof | None:
    """Where a quoted number stands on a page: in a cell of its table before a sentence; None where it does not."""
    wanted = read_written(number)
    if wanted is None or not _stands_in(quote, wanted):
        return None
    for part in printed.parts:
        if found := _cell(part, quote, wanted):
            return found
    for part in printed.parts:
        try:
            value = part.as_filing().quote(Quote(id=1, quote=quote, value=number))
        except (QuoteError, CellError):
            continue
        return Proof(part, Quote(id=1, quote=quote, value=number), isinstance(value.value, float) and value.value < 0)
    return None


def holds(printed: Printed, quote: str) -> LibraryPage | None:
    """The part of a page on which quoted words stand, or the first where they stand across two; else None."""
    for part in printed.parts:
        if QuotedPage(list(_pieces(part))).holds(quote) or any(_in_row(quote, row) for row in part.table):
            return part
    whole = [piece for part in printed.parts for piece in _pieces(part)]
    return printed.parts[0] if QuotedPage(whole).holds(quote) else None


def _stands_in(quote: str, wanted: PrintedNumber) -> bool:
    return any(found.digits == wanted.digits for found in printed_numbers(fold(quote)))


def _cell(part: LibraryPage, quote: str, wanted: PrintedNumber) -> Proof | None:
    """The cell with the number in the row that the quote stands in, before one that only has the quote around it.

    Of several such cells it is the one at which the quote ends: where the number stands twice in the quote, the second.
    """
    filing = part.as_filing()
    rows: dict[int, list[tuple[int, float]]] = {}
    for row, column, value in filing.cells():
        read = read_written(str(value.citations[0].value)) if value.citations else None
        if read is None or read.digits != wanted.digits or not isinstance(value.value, int | float):
            continue
        if _names(quote, part.table, row):
            rows.setdefault(row, []).append((column, value.value))
    if not rows:
        return None
    # The lines around a row are often the row that is meant, with the same digits in this one.
    row = next((row for row in rows if _in_row(quote, part.table[row])), next(iter(rows)))
    cells = rows[row]
    negative = wanted.minus or wanted.brackets
    alike = [cell for cell in cells if (cell[1] < 0) == negative] or cells
    said = [n for n in printed_numbers(fold(quote.replace("|", " | "))) if n.digits == wanted.digits]
    signed = [n for n in said if (n.minus or n.brackets) == negative] or said
    column, number = alike[min(len(signed), len(alike)) - 1]
    return Proof(part, _step(filing, row, column), number < 0)


def _step(filing: Filing, row: int, column: int) -> Cell:
    labels = filing.labels(row, column)
    return Cell(id=1, row=labels[0], column=labels[1], row_number=row, column_number=column)


def _names(quote: str, table: Sequence[Sequence[str]], row: int) -> bool:
    """Whether a quote is of this row: it stands in it, or in it and the lines around it."""
    if _in_row(quote, table[row]):
        return True
    near = [" ".join(line) for line in table[max(0, row - 2) : row + 3]]
    return QuotedPage(near).holds(quote) and bool(set(_tokens(quote)) & set(_tokens(table[row][0])))


def _in_row(quote: str, row: Sequence[str]) -> bool:
    """Whether all words and numbers of a quote stand in one row in their order, columns left out or not.

    >>> row = ("Total current assets", "14,277", "13,709")
    >>> _in_row("Total current assets 13,709", row), _in_row("Total assets | 13,709", row), _in_row("Total liabilities", row)
    (True, False, False)
    """
    label = _tokens(row[0]) if row else []
    asked = _tokens(quote)
    cells = _tokens(" ".join(row[1:]))
    if len(asked) < _LEAST_WORDS or not label or asked[: len(label)] != label:
        return False
    rest = iter(cells)
    return all(token in rest for token in asked[len(label) :])


def _tokens(text: str) -> list[str]:
    return [token.replace(",", "") for token in _TOKEN.findall(fold(text))]


def _pieces(part: LibraryPage) -> Iterator[str]:
    yield from part.pre_text
    for row in part.table:
        yield " ".join(row)
    yield from part.post_text
