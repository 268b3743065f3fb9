"""The table of a page: which rows are headers, what each row and column is called, what stands in a cell.

    >>> table = PageTable([["", "2017", "", "2016", ""], ["", "high", "low", "high", "low"],
    ...                    ["first quarter", "$ 9", "$ 7", "8", "2014"]])
    >>> table.header_rows, [label.text for label in table.columns]
    (2, ['', '2017 high', '2017 low', '2016 high', '2016 low'])
    >>> table.printed(2, 4)
    '-'

A header that spans columns is repeated over them, a row without cells (a section) qualifies the rows below it, and
"2013" or "2014" where a dash was mangled into its code point is a dash again. Numbers are read in `numbers`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from finexpert.filings.page.folding import fold
from finexpert.filings.page.labels import Label
from finexpert.filings.page.numbers import DATE, FOOTNOTE, MISSING, ZERO, printed_numbers, without_doubles

_YEAR_ONLY = re.compile(r"\$?\s*(?:19|20)\d\d(?:\s*[(\[]\s*\w{1,2}\s*[)\]])?")
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_YEAR_FIRST = re.compile(r"(?:19|20)\d\d(?!\d)(?:\s*[(\[]|\s*[a-z]|$)")
_DASH_CODE = re.compile(r"(\$\s*)?201[34](\.0)?")
_ONE_NUMBER = re.compile(
    r"[($\u20ac\u00a3\s-]*(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)[\s)%]*(?:(?:million|billion|thousand|trillion)s?|mm|bn|[mk])?"
)
# "Authorized shares - 500" stands without a cell, and is the name of nothing below it.
_A_COUNT = re.compile(r"(?:\u2014|\u2013|-)\s*\d[\d,.]*(?:\s+and\s+\d[\d,.]*)?\s*$")
_HEADER_ROWS_MOST = 6


class PageTable:
    """A table as given, rows of cells; rows may differ in length."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self.rows: tuple[tuple[str, ...], ...] = tuple(tuple(row) for row in rows)
        self.width = max((len(row) for row in self.rows), default=0)

    @cached_property
    def header_rows(self) -> int:
        """How many rows at the top hold no data: 0 where the first row is data already."""
        count = 0
        for row in self.rows[:_HEADER_ROWS_MOST]:
            if not self._is_header(row, first=count == 0):
                break
            count += 1
        return min(count, max(len(self.rows) - 1, 0))

    @cached_property
    def columns(self) -> list[Label]:
        """The label of each column: its header cells from top to bottom, spanning ones repeated."""
        header = [list(row) + [""] * (self.width - len(row)) for row in self.rows[: self.header_rows]]
        for upper in header[:-1]:
            for place in range(2, self.width):
                if not upper[place].strip() and upper[place - 1].strip():
                    upper[place] = upper[place - 1]
        return [
            Label(" ".join(row[place].strip() for row in header if row[place].strip())) for place in range(self.width)
        ]

    @cached_property
    def years(self) -> list[frozenset[str]]:
        """The years that each column stands under, a labelled row of years below the header included.

        What a model is shown has that row as data ("Years Ended December 31, | 2022 | 2021"), and recorded plans name columns by it.
        """
        found = [frozenset(YEAR.findall(label.text)) for label in self.columns]
        row = self.rows[self.header_rows] if self.header_rows < len(self.rows) else ()
        cells = [fold(cell).strip() for cell in row[1:] if cell.strip()]
        if any(found[1:]) or len(set(cells)) < 2 or not all(_YEAR_ONLY.fullmatch(cell) for cell in cells):
            return found
        return [frozenset(), *(frozenset(YEAR.findall(cell)) for cell in row[1:]), *found[len(row) :]]

    @cached_property
    def row_labels(self) -> list[Label]:
        return [Label(row[0] if row else "") for row in self.rows]

    @cached_property
    def sections(self) -> list[str]:
        """For each row, the section row above it, or an empty text."""
        sections, current = [], ""
        for number, row in enumerate(self.rows):
            if number >= self.header_rows and row and row[0].strip() and not any(cell.strip() for cell in row[1:]):
                if not _A_COUNT.search(row[0]):
                    current = row[0].strip() if len(row) > 1 else ""
                sections.append("")
            else:
                sections.append(current)
        return sections

    @cached_property
    def qualified_labels(self) -> list[Label]:
        """The row labels with their section in front."""
        return [
            Label(f"{section} {label.text}") if section else label
            for section, label in zip(self.sections, self.row_labels, strict=True)
        ]

    def printed(self, row: int, column: int) -> str:
        """A cell as printed, with a dash where a dash was mangled."""
        text = self.rows[row][column]
        found = _DASH_CODE.fullmatch(text.strip())
        return "-" if found and column > 0 and row >= self.header_rows and self._stands_for_dash(row, column) else text

    def _stands_for_dash(self, row: int, column: int) -> bool:
        """Not where years stand around it, nor where a number of that size would be no surprise."""
        beside = [cell for place, cell in enumerate(self.rows[row]) if place not in (0, column)]
        above = [r[column] for r in self.rows[self.header_rows :] if len(r) > column]
        if _mostly_years(above) or _mostly_years(beside):
            return False
        if any(_DASH_CODE.fullmatch(cell.strip()) for cell in beside):
            return True
        sizes = [p.digits for cell in beside for p in printed_numbers(fold(cell)[:200])]
        low, high = (1800, 2250) if self._dash_codes >= 3 else (1340, 3020)
        return not any(low <= size <= high for size in sizes)

    @cached_property
    def _dash_codes(self) -> int:
        return sum(
            bool(_DASH_CODE.fullmatch(cell.strip())) for row in self.rows[self.header_rows :] for cell in row[1:]
        )

    @staticmethod
    def _is_header(row: Sequence[str], *, first: bool) -> bool:
        """No cell beside the label is a number, years apart, or most are words; later ones have no label of their own."""
        cells = [fold(cell)[:200] for cell in row[1:]]
        if not first and (_has_own_label(row) or not any(cells)):
            return False
        words = sum(
            bool(cell) and not any(c.isdigit() for c in cell) and any(c.isalpha() for c in cell) for cell in cells
        )
        return not any(_is_data(cell) for cell in cells) or (first and words * 2 > sum(map(bool, cells)))


def _mostly_years(cells: Sequence[str]) -> bool:
    others = [cell for cell in cells if cell.strip() and not _DASH_CODE.fullmatch(cell.strip())]
    return sum(bool(_YEAR_ONLY.fullmatch(cell.strip())) for cell in others) * 2 > len(others)


def _has_own_label(row: Sequence[str]) -> bool:
    label = fold(row[0]) if row else ""
    return bool(label) and not re.fullmatch(
        r"\(?[^()]*\b(?:in|of)?\s*(?:thousands|millions|billions)\b[^()]*\)?"
        r"|[^()]*\([^()]*\b(?:thousands|millions|billions)\b[^()]*\)",
        label,
    )


def _is_data(cell: str) -> bool:
    if _YEAR_FIRST.match(cell) or DATE.search(cell):
        return False
    plain = FOOTNOTE.sub("", without_doubles(cell)).strip()
    return bool(_ONE_NUMBER.fullmatch(plain) or ZERO.fullmatch(plain) or (plain and MISSING.fullmatch(plain)))
