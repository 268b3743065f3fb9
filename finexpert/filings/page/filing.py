"""A filing as a source: one page of an annual report, its text and its table.

    >>> from finexpert.core.plans import Cell, Quote
    >>> page = Filing("AAA/2007/page_1.pdf", ["sales rose 4.5% ( 4.5 % ) in 2007 ."],
    ...     [["( in millions )", "2007", "2006"], ["net sales", "$ 1,234", "$ -1,181 ( 1,181 )"]], [])
    >>> page.cell(Cell(id=1, row="Net Sales", column="fiscal 2006")).value
    -1181.0
    >>> value = page.quote(Quote(id=2, quote="sales rose 4.5%", value="4.5%"))
    >>> value.value, value.citations[0].place
    (0.045, 'sales rose 4.5%')

Cells are found by the labels of row and column, sentences by quoted words. Nothing found, or several found, is an error
with the nearest candidates, never a guess. A value is at the size it is printed in; its scale says what "in millions"
says. No language model and no arithmetic here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from finexpert.core.answers import Citation
from finexpert.core.plans import Cell, Quote
from finexpert.core.workspace import Value
from finexpert.errors import CellError, QuoteError
from finexpert.filings.page import file as filing_file
from finexpert.filings.page.cells import CellFinder
from finexpert.filings.page.folding import excerpt, fold, visible
from finexpert.filings.page.labels import FUZZY_THRESHOLD, Label
from finexpert.filings.page.numbers import SCALE_WORDS, SCALES, Number, printed_numbers, read_number, read_written
from finexpert.filings.page.quotes import LONGEST_QUOTE, QuotedPage, number_in_quote
from finexpert.filings.page.table import PageTable
from finexpert.filings.page.tags import Tag, as_json, of_text
from finexpert.filings.page.units import TableUnits


class Filing:
    """A page; it never changes, so it may be read from many threads."""

    def __init__(
        self,
        id: str,
        pre_text: Sequence[str],
        table: Sequence[Sequence[str]],
        post_text: Sequence[str],
        name: str | None = None,
        *,
        fuzzy_threshold: float = FUZZY_THRESHOLD,
        tags: Sequence[Tag] = (),
    ) -> None:
        self.id = id
        self.name = name or id
        # Where a record's page is found again.
        self.address: str | None = None
        self.pre_text = filing_file.checked_texts(pre_text, "pre_text", id)
        self.post_text = filing_file.checked_texts(post_text, "post_text", id)
        self.table = filing_file.checked_table(table, id)
        self._table = PageTable(self.table)
        self._finder = CellFinder(self._table, fuzzy_threshold)
        self._units = TableUnits(self._table, self.pre_text)
        self._tags = tags
        self._tagged = {(tag.row, tag.column): tag for tag in tags}

    @classmethod
    def from_record(cls, record: Mapping[str, Any], *, fuzzy_threshold: float = FUZZY_THRESHOLD) -> Filing:
        """A page from a record in the official form; DataError where it has not that form."""
        return cls(
            filing_file.record_name(record),
            record.get("pre_text", ()),
            record.get("table", ()),
            record.get("post_text", ()),
            str(record.get("filename") or "") or None,
            fuzzy_threshold=fuzzy_threshold,
        )

    @classmethod
    def read(cls, path: Path | str, id: str | None = None, *, fuzzy_threshold: float = FUZZY_THRESHOLD) -> Filing:
        """The page with an id in a JSON file, or the file's only page."""
        path = Path(path)
        record = filing_file.choose_record(filing_file.read_records(path), id, path)
        filing = cls.from_record(record, fuzzy_threshold=fuzzy_threshold)
        filing.address = str(path.absolute())
        return filing

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what stands on the page."""
        tags = [as_json(self._tags)] if self._tags else []
        content = json.dumps([self.pre_text, self.table, self.post_text, *tags], ensure_ascii=True)
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def row_names(self) -> list[str]:
        """The labels of the table's rows, those without one left out."""
        return [label.text for label in self._table.row_labels[self._table.header_rows :] if label.text.strip()]

    def has_number(self, number: float) -> bool:
        """Whether a number is printed anywhere on the page, whatever its sign; 13.4 also where 13.4% stands."""
        return abs(number) in self._printed

    @cached_property
    def _printed(self) -> frozenset[float]:
        text = fold(" | ".join([*self.pre_text, *(cell for row in self.table for cell in row), *self.post_text]))
        return frozenset(printed.digits for printed in printed_numbers(text))

    def page_text(self, max_chars: int | None = None) -> str:
        """The page as a model is shown it, rows and columns numbered; cut, and said so, after `max_chars`.

        >>> print(Filing("a", ["before ."], [["", "2007"], ["sales", "5"]], []).page_text())
        TEXT BEFORE THE TABLE:
        before .
        <BLANKLINE>
        TABLE:
        r0: c0= | c1=2007
        r1: c0=sales | c1=5
        <BLANKLINE>
        TEXT AFTER THE TABLE:
        (none)
        """
        text = self._page_text
        if max_chars is not None and len(text) > max_chars:
            return f"{text[:max_chars]}\n[cut after {max_chars:,} of {len(text):,} characters]"
        return text

    @cached_property
    def _page_text(self) -> str:
        rows = [
            f"r{i}: " + " | ".join(f"c{j}={visible(self._table.printed(i, j)).strip()}" for j in range(len(row)))
            for i, row in enumerate(self.table)
        ]
        before, after = (visible(" ".join(text)).strip() or "(none)" for text in (self.pre_text, self.post_text))
        table = "\n".join(rows) or "(none)"
        return f"TEXT BEFORE THE TABLE:\n{before}\n\nTABLE:\n{table}\n\nTEXT AFTER THE TABLE:\n{after}"

    def cell(self, step: Cell) -> Value:
        """The value of the cell that a step names; CellError where it is not found, or several are."""
        row, column, flags = self._finder.cell(step)
        return self._value(row, column, flags)

    def cells(self) -> Iterator[tuple[int, int, Value]]:
        """Every cell below the header that holds a number: its row, its column, its value."""
        for row in range(self._table.header_rows, len(self.table)):
            for column in range(1, len(self.table[row])):
                try:
                    yield row, column, self._value(row, column, ())
                except CellError:
                    continue

    def labels(self, row: int, column: int) -> tuple[str, str]:
        """What a row and a column are called."""
        return self._finder.row_label(row), self._table.columns[column].text

    def row(self, label: str) -> list[Value]:
        """The numbers of a row, left to right; of a column, top to bottom, where the label names a column.

        Cells without a number are left out; a flag on the first value says how many.
        """
        places, flags = self._finder.line(label)
        values, left_out = [], 0
        for row, column in places:
            try:
                values.append(self._value(row, column, ()))
            except CellError:
                left_out += 1
        if not values:
            raise CellError(f"there is no number in {excerpt(label)!r}")
        if left_out:
            flags = (*flags, f"{left_out} cells of {excerpt(label, 40)!r} without a number left out")
        return [values[0].with_flags(*flags), *values[1:]]

    def quote(self, step: Quote) -> Value:
        """The value that stands in quoted words; QuoteError where the words or the value are not there."""
        if len(step.quote) > LONGEST_QUOTE:
            raise QuoteError(f"a quote of {len(step.quote):,} characters; quote the words around the value only")
        count = self._quoted.count(step.quote)
        if not count:
            near = self._quoted.nearest(step.quote)
            hint = f"; the nearest sentence is {near!r}" if near else ""
            raise QuoteError(f"the words {excerpt(step.quote)!r} do not stand in the page{hint}")
        number = number_in_quote(step.quote, step.value)
        if count > 1 and not re.search(r"[^\W\d_]{2}", step.quote):
            raise QuoteError(f"{excerpt(step.quote)!r} stands {count} times in the page; quote the words around it too")
        dates = Label(step.quote).dates
        scale = self._scale_of_quote(step.quote, count, number)
        tag = self._tag_of_text(step)
        unit, scale, flags = tag.settled(number.unit, scale) if tag else (number.unit, scale, ())
        return Value(
            number.value,
            unit=unit,
            scale=scale,
            period=next(iter(dates)) if len(dates) == 1 else tag.end if tag and not dates else None,
            citations=(Citation(source=self.name, place=step.quote, value=step.value, tag=tag.words if tag else None),),
            flags=(*number.flags, *flags),
        )

    def _tag_of_text(self, step: Quote) -> Tag | None:
        wanted = read_written(step.value)
        if not self._tags or wanted is None or not self._texts.holds(step.quote):
            return None
        text = fold(" ".join([*self.pre_text, *self.post_text]))
        return of_text(self._tags, step.value, [each.digits for each in printed_numbers(text)].count(wanted.digits))

    def _scale_of_quote(self, quote: str, count: int, number: Number) -> float:
        """The scale that the quote says, or the word after it where it ends with its number, or its table."""
        if not self._texts.holds(quote):
            return self._units.of_words(number, quote)
        if number.scale == 1.0 and re.search(r"\d[\s.)]*$", quote):
            after = (word for word in SCALE_WORDS if self._texts.count(f"{quote} {word}") == count)
            return next((SCALES[word] for word in after), 1.0)
        return number.scale

    @cached_property
    def _texts(self) -> QuotedPage:
        """The page without its table."""
        return QuotedPage([*self.pre_text, *self.post_text])

    @cached_property
    def _quoted(self) -> QuotedPage:
        rows = [" ".join(row) for row in self.table]
        # The table as shown has its dashes restored; a quote may follow either spelling.
        shown = [" ".join(self._table.printed(i, j) for j in range(len(row))) for i, row in enumerate(self.table)]
        return QuotedPage(
            [*self.pre_text, *rows, *self.post_text, *(s for s, r in zip(shown, rows, strict=True) if s != r)]
        )

    def _value(self, row: int, column: int, flags: tuple[str, ...]) -> Value:
        place = self._finder.place(row, column)
        text = self._table.printed(row, column)
        try:
            number = read_number(text)
        except CellError as error:
            raise CellError(f"r{row} / c{column} ({place}): {error}") from None
        if text != self.table[row][column]:
            flags = (*flags, f"{self.table[row][column]!r} stands for a dash here")
        labels = [self._finder.row_label(row), self._table.columns[column].text]
        unit, scale = self._units.of(number, column, labels, self._table.row_labels[row].text)
        if tag := self._tagged.get((row, column)):
            unit, scale, differs = tag.settled(unit, scale)
            flags = (*flags, *differs)
        printed = self.table[row][column].strip()
        return Value(
            number.value,
            unit=unit,
            scale=scale,
            entity=self._finder.entity(row, column),
            period=self._finder.period(row, column) or (tag.end if tag else None),
            citations=(Citation(source=self.name, place=place, value=printed, tag=tag.words if tag else None),),
            flags=(*flags, *number.flags),
        )
