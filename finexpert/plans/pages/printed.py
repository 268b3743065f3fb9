"""A page of a filing as it is printed: all tables and texts of one sheet, as the library keeps them in parts.

    P1: Apple, FY 2024, p. 31 (10-K)
    CONSOLIDATED BALANCE SHEETS (In millions)
    | September 28, 2024 | September 30, 2023
    Total current assets | 152,987 | 143,566

Nothing is ranked here. A long page is cut by passage: what speaks of the words asked for stays, with the table's headings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from finexpert.filings.page.table import PageTable
from finexpert.filings.records import FilingInfo, LibraryPage

CUT = "[...]"
_WORD = re.compile(r"[a-z]+|\d[\d,.]*\d|\d")
_ENDINGS = ("ies", "ing", "es", "ed", "s")


@dataclass(frozen=True)
class Line:
    """A paragraph or a row of a table; `heading` where a table cannot be read without it."""

    text: str
    heading: bool = False


@dataclass(frozen=True)
class Printed:
    """A printed page; `parts` are the library's pages of it, in their order."""

    filing: FilingInfo
    number: int
    parts: tuple[LibraryPage, ...]

    @property
    def id(self) -> str:
        return self.parts[0].id

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        return tuple(line for part in self.parts for line in _lines(part) if line.text.strip(" |"))

    @cached_property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    @cached_property
    def words(self) -> list[str]:
        """The words of the page in the form in which they are compared."""
        return words_of(self.text)

    def shown(self, longest: int, asked: Collection[str] = ()) -> str:
        """The page in at most about so many characters: the passages with most of the words asked for, in their order."""
        if len(self.text) <= longest:
            return self.text
        wanted = set(asked)
        ranked = sorted(range(len(self.lines)), key=lambda place: -self._worth(place, wanted))
        kept, size = {0}, len(self.lines[0].text)
        for place in ranked:
            if size + len(self.lines[place].text) > longest:
                continue
            kept.add(place)
            size += len(self.lines[place].text) + 1
        said: list[str] = []
        for place, line in enumerate(self.lines):
            if place in kept:
                said.append(line.text[:longest])
            elif said[-1] != CUT:
                said.append(CUT)
        return "\n".join(said)

    def _worth(self, place: int, wanted: set[str]) -> float:
        """What a line is worth: its own words asked for, a share of its neighbours', and more where it heads a table."""
        near = [
            len(wanted & set(words_of(self.lines[other].text))) / (1 + abs(other - place))
            for other in range(max(0, place - 2), min(len(self.lines), place + 3))
        ]
        return sum(near) + 2.0 * self.lines[place].heading


def printed_pages(filing: FilingInfo, parts: Iterable[LibraryPage]) -> list[Printed]:
    """The printed pages of a filing; parts of a page stand one after the other."""
    return [Printed(filing, number, tuple(some)) for number, some in groupby(parts, key=lambda part: part.number)]


def words_of(text: str) -> list[str]:
    """Words and numbers of a text, without the endings of number and tense.

    >>> words_of("Inventories rose 4.5% to $1,234")
    ['inventor', 'rose', '4.5', 'to', '1,234']
    """
    return [_stem(word) for word in _WORD.findall(text.lower())]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word.removesuffix("y") if len(word) > 4 else word


def _lines(part: LibraryPage) -> Iterable[Line]:
    for text in part.pre_text:
        yield Line(text)
    headers = PageTable(part.table).header_rows if part.table else 0
    for number, row in enumerate(part.table):
        yield Line(" | ".join(cell.strip() for cell in row), heading=number < max(headers, 1))
    for text in part.post_text:
        yield Line(text)
