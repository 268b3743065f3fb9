"""Finding the cell that a step of a plan names.

    >>> from finexpert.core.plans import Cell
    >>> table = PageTable([["", "2007", "2006"], ["net sales", "5", "4"], ["net sales growth", "2%", "1%"]])
    >>> CellFinder(table).cell(Cell(id=1, row="net sales", column="2006"))
    (1, 2, ())
    >>> CellFinder(table).cell(Cell(id=1, row="net sales", column="2006", row_number=2))
    (1, 2, ("the row number 2 is r2 'net sales growth'; chosen by its label",))

A printed number selects, the label verifies it. Where only the label is given it must fit one row or column alone, and
a number that speaks against such a label is a miscount: models, small ones most of all, read better than they count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from finexpert.core.plans import Cell
from finexpert.errors import CellError
from finexpert.filings.page.folding import excerpt
from finexpert.filings.page.labels import FUZZY_THRESHOLD, Label, Match, find, nearest, similarity
from finexpert.filings.page.table import PageTable

_NUMBERED = re.compile(r"^\s*[rc]\s?(\d{1,5})\s*$", re.IGNORECASE)
_CACHED = 2_000


@dataclass
class _Axis:
    """The rows or the columns: their labels, and which of them hold data."""

    word: str
    letter: str
    labels: list[Label]
    alternatives: list[Label]
    data: Sequence[int]
    threshold: float
    cache: dict[str, list[Match]] = field(default_factory=dict)

    def matches(self, name: str) -> list[Match]:
        """What fits a name, among the places that hold data; their section counts where that makes the name unique."""
        if name not in self.cache:
            if len(self.cache) >= _CACHED:
                self.cache.clear()
            self.cache[name] = self._find(name)
        return self.cache[name]

    def _find(self, name: str) -> list[Match]:
        own = self._among(self.labels, name)
        if (own and own[0].kind != "fuzzy" and len(own) == 1) or self.labels is self.alternatives:
            return own
        other = self._among(self.alternatives, name)
        if not other or (own and own[0].kind != "fuzzy" and other[0].kind == "fuzzy"):
            return own
        if other[0].kind != "fuzzy" or not own or other[0].score > own[0].score:
            return other
        return own

    def _among(self, labels: list[Label], name: str) -> list[Match]:
        found = find([labels[place] for place in self.data], name, self.threshold)
        return [match._replace(place=self.data[match.place]) for match in found]

    def call(self, place: int) -> str:
        return f"{self.letter}{place} {excerpt(self.alternatives[place].text, 60)!r}"

    def choose(self, name: str, number: int | None) -> tuple[int, tuple[str, ...]]:
        """The place that a name and a number mean; the number counts, unless the name is that of another place alone."""
        if number is None and (numbered := _NUMBERED.match(name)):
            name, number = "", int(numbered[1])
        matches = self.matches(name) if name.strip() else []
        if number is not None and 0 <= number < len(self.labels):
            return self._verified(name, number, matches)
        if not matches:
            raise CellError(f"no {self.word} is called {excerpt(name)!r}; the nearest are {self._nearest(name)}")
        if len(matches) > 1:
            candidates = tuple(self.call(match.place) for match in matches[:6])
            raise CellError(
                f"several {self.word}s fit {excerpt(name)!r}: {', '.join(candidates)}; give the {self.word}'s number too",
                name=name,
                candidates=candidates,
            )
        flags = self._fuzzy_flag(matches[0], name)
        if number is not None:
            flags = (*flags, f"there is no {self.word} number {number}; chosen by its label")
        return matches[0].place, flags

    def _verified(self, name: str, number: int, matches: Sequence[Match]) -> tuple[int, tuple[str, ...]]:
        """The numbered place, unless the name is that of another one alone; with what speaks against it."""
        wanted = Label(name)
        if not name.strip() or wanted.squeezed in (self.labels[number].squeezed, self.alternatives[number].squeezed):
            return number, ()
        for match in matches:
            if match.place == number:
                return number, self._fuzzy_flag(match, name)
        if len(matches) == 1 and matches[0].kind != "fuzzy":
            return matches[0].place, (f"the {self.word} number {number} is {self.call(number)}; chosen by its label",)
        likeness = max(similarity(self.labels[number], wanted), similarity(self.alternatives[number], wanted))
        if likeness >= self.threshold:
            return number, (f"fuzzy {likeness:.0f}: {excerpt(name, 60)!r} for {self.call(number)}",)
        return number, (f"the label {excerpt(name, 60)!r} is not that of {self.call(number)}",)

    def _fuzzy_flag(self, match: Match, name: str) -> tuple[str, ...]:
        if match.kind != "fuzzy":
            return ()
        return (f"fuzzy {match.score:.0f}: {excerpt(name, 60)!r} for {self.call(match.place)}",)

    def _nearest(self, name: str) -> str:
        near = nearest([self.alternatives[place] for place in self.data], name)
        return ", ".join(self.call(self.data[place]) for place in near) or "none: they have no labels; give its number"


class CellFinder:
    """Finds cells of one table."""

    def __init__(self, table: PageTable, threshold: float = FUZZY_THRESHOLD) -> None:
        self.table = table
        self.threshold = threshold
        self._axes: tuple[_Axis, _Axis] | None = None

    @property
    def rows(self) -> _Axis:
        return self._both()[0]

    @property
    def columns(self) -> _Axis:
        return self._both()[1]

    def _both(self) -> tuple[_Axis, _Axis]:
        if self._axes is None:
            table = self.table
            filled = [i for i in range(table.header_rows, len(table.rows)) if any(c.strip() for c in table.rows[i][1:])]
            first = 0 if table.width == 1 or self._values_in_first_column() else 1
            columns = table.columns
            self._axes = (
                _Axis("row", "r", table.row_labels, table.qualified_labels, filled, self.threshold),
                _Axis("column", "c", columns, columns, range(first, table.width), self.threshold),
            )
        return self._axes

    def _values_in_first_column(self) -> bool:
        """Whether the rows have no labels: the first column has a year for a header and amounts below it."""
        below = [row[0].strip() for row in self.table.rows[self.table.header_rows :] if row and row[0].strip()]
        amounts = sum(
            bool(re.match(r"[($\s-]*\$?\s*[\d.]", cell)) and not re.search(r"[a-z]{3}", cell) for cell in below
        )
        return bool(below) and bool(self.table.columns[0].years) and amounts * 2 > len(below)

    def cell(self, step: Cell) -> tuple[int, int, tuple[str, ...]]:
        """Row, column and flags; CellError where there is no such cell, or more than one."""
        if not self.table.width:
            raise CellError("the page has no table; quote its text instead")
        try:
            row, row_flags = self.rows.choose(step.row, step.row_number)
            column, column_flags = self._column(step.column, step.column_number)
        except CellError as error:
            if step.row_number is not None or step.column_number is not None:
                raise
            row, column = self._swapped(step, error)
            row_flags, column_flags = ("row and column were given the other way round",), ()
        if column >= len(self.table.rows[row]):
            raise CellError(f"{self.rows.call(row)} ends before {self.columns.call(column)}")
        return row, column, (*row_flags, *column_flags)

    def line(self, label: str) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
        """The places of a row, or of a column where no row has that label."""
        if not self.table.width:
            raise CellError("the page has no table; quote its text instead")
        try:
            row, flags = self.rows.choose(label, None)
            return [(row, column) for column in self.columns.data if column < len(self.table.rows[row])], flags
        except CellError:
            if _NUMBERED.match(label) and not label.strip().casefold().startswith("c"):
                raise
            matches = self.columns.matches(label) if not _NUMBERED.match(label) else []
            if len(matches) != 1 and not _NUMBERED.match(label):
                raise
            column, flags = self.columns.choose(label, None)
            return [(row, column) for row in self.rows.data if column < len(self.table.rows[row])], flags

    def _column(self, name: str, number: int | None) -> tuple[int, tuple[str, ...]]:
        try:
            return self.columns.choose(name, number)
        except CellError:
            if number is None and len(self.columns.data) == 1:
                only = self.columns.data[0]
                return only, (f"{excerpt(name, 60)!r} for {self.columns.call(only)}, the only column",)
            raise

    def _swapped(self, step: Cell, error: CellError) -> tuple[int, int]:
        rows, columns = self.rows.matches(step.column), self.columns.matches(step.row)
        if len(rows) == len(columns) == 1 and "fuzzy" not in (rows[0].kind, columns[0].kind):
            return rows[0].place, columns[0].place
        raise error

    def row_label(self, row: int) -> str:
        """The label with its section in front."""
        return self.table.qualified_labels[row].text.strip()

    def place(self, row: int, column: int) -> str:
        """'row / column' as a citation names them."""
        return f"{self.row_label(row) or f'r{row}'} / {self.table.columns[column].text or f'c{column}'}"

    def period(self, row: int, column: int) -> str | None:
        """The time that the labels name, the column's first; None where they name none or several."""
        for label in (self.table.columns[column], self.table.qualified_labels[row]):
            if label.dates:
                return next(iter(label.dates)) if len(label.dates) == 1 else None
        return None

    def entity(self, row: int, column: int) -> str:
        """What the number is about: the row's label, or the column's where the rows are points in time."""
        label = self.table.qualified_labels[row]
        about_time = bool(label.dates) and not label.core
        return (self.table.columns[column].text if about_time else label.text).strip()
