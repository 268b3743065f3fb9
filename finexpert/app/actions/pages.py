"""Pages of a library: read, seen as a picture with the place of a citation, and searched.

view = desk.cited(person, answer.id, 1)      # the page of the first citation, marked
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from finexpert.answers.sources.sources import Sources
from finexpert.app.actions.correcting import Correcting
from finexpert.app.people.people import Person
from finexpert.app.searching import search_now
from finexpert.app.state.stored import Found, Mark, PageView
from finexpert.core.answers import Citation
from finexpert.errors import LibraryError, NotFound, Refused
from finexpert.filings.library.library import Library
from finexpert.filings.readers.files import checksum
from finexpert.filings.records import LibraryPage, SearchRequest

_LONGEST_SEARCH = 1_000
_MOST_HITS = 50

_PRINTED = re.compile(r"\d[\d,]*(?:\.\d+)?")


class Pages(Correcting):
    """What stands on the pages that answers rest on."""

    def search_pages(
        self,
        person: Person,
        source: str,
        text: str,
        *,
        ticker: str = "",
        year: int | None = None,
        quarter: int | None = None,
        limit: int = 8,
    ) -> list[Found]:
        """The pages of a library that fit best, best first."""
        person.need("read")
        if not text.strip() or len(text) > _LONGEST_SEARCH:
            raise Refused(f"a search has 1 to {_LONGEST_SEARCH:,} characters")
        request = SearchRequest(
            (text.strip(),),
            tickers=frozenset({ticker}) if ticker else frozenset(),
            years=frozenset({year}) if year is not None else frozenset(),
            quarters=frozenset({quarter}) if quarter is not None else frozenset(),
            limit=max(1, min(limit, _MOST_HITS)),
        )
        with self.library(person, source) as library:
            return [
                Found(page=hit.page.id, filing=hit.page.filing, label=hit.page.label, score=hit.score, why=hit.why,
                      text=hit.chunks[0].text if hit.chunks else "")
                for hit in search_now(library, request)
            ]  # fmt: skip

    def page(
        self, person: Person, source: str, filing: str, page: str | int, phrases: Sequence[str] = (), value: str = ""
    ) -> PageView:
        """A page of a filing, by its number or its id. Phrases are marked on its picture, and a value on their line."""
        person.need("read")
        with self.library(person, source) as library:
            found = _page(library, filing, page)
            return _view(library, found, phrases, value)

    def cited(self, person: Person, answer: str, number: int) -> PageView:
        """The page of a citation of an answer, counted from 1, with what is cited marked."""
        person.need("read")
        shown = self.answer(person, answer)
        if not 1 <= number <= len(shown.citations) or shown.citations[number - 1].page is None:
            raise NotFound(f"this answer has no page for the citation {number}")
        citation = shown.citations[number - 1]
        with self._opened_at(self._asked_of(person, shown)) as opened:
            library, page = _cited(opened, citation)
            return _view(library, page, *_marked(citation))


def _cited(opened: Any, citation: Citation) -> tuple[Library, LibraryPage]:
    """The page of a citation and its library; NotFound where no library of an answer has it any more."""
    page = str(citation.page)
    libraries = opened.libraries if isinstance(opened, Sources) else {citation.library: opened}
    for name, library in libraries.items():
        with suppress(LibraryError):
            if citation.library in (None, name):
                return library, library.page(page)
    raise NotFound(f"there is no page {page[:80]!r} in the libraries of this answer")


def _marked(citation: Citation) -> tuple[list[str], str]:
    """What to look for on the page: the quoted words, or the row's label with the number of the cell."""
    value = "" if citation.value is None else str(citation.value)
    row, separator, column = citation.place.rpartition(" / ")
    if not separator:
        # A row of a table is quoted with bars between its cells, which the page does not print.
        return [citation.place.partition(" | ")[0]], _printed(value)
    return [row, column], _printed(value)


def _printed(value: str) -> str:
    """A number as filings print it.

    >>> _printed("-1181.0"), _printed("94.25"), _printed("ROE"), _printed("$ (32,765)"), _printed("3.5 %")
    ('1,181', '94.25', '', '32,765', '3.5')
    """
    try:
        number = abs(float(value))
    except ValueError:
        found = _PRINTED.search(value)
        return found[0] if found else ""
    return f"{number:,.0f}" if number.is_integer() else f"{number:,}"


def _page(library: Library, filing: str, page: str | int) -> LibraryPage:
    try:
        if isinstance(page, int) or page.isdigit():
            parts = [each for each in library.pages_of(filing) if each.number == int(page)]
            if not parts:
                raise NotFound(f"the filing {filing[:80]!r} has no page {page}")
            return parts[0]
        return library.page(page)
    except LibraryError as error:
        raise NotFound(f"there is no page {str(page)[:80]!r} of {filing[:80]!r} in this library") from error


def _view(library: Library, page: LibraryPage, phrases: Sequence[str], value: str) -> PageView:
    picture, marks = _picture(library, page, phrases, value)
    return PageView(
        id=page.id,
        label=page.label,
        filing=page.filing,
        number=page.number,
        text_before=list(page.pre_text),
        table=[list(row) for row in page.table],
        text_after=list(page.post_text),
        picture=picture,
        has_picture=picture is not None,
        marks=marks,
    )


def _picture(
    library: Library, page: LibraryPage, phrases: Sequence[str], value: str
) -> tuple[bytes | None, list[Mark]]:
    """The PDF's own page, where the filing is a PDF that is still there as it was read."""
    info = library.filing(page.filing)
    path = Path(info.path)
    if path.suffix.lower() != ".pdf" or not path.is_file() or checksum(path) != info.sha256:
        return None, []
    from finexpert.filings.readers.pdf.drawing import drawn

    made = drawn(path, page.number, phrases, value)
    if made is None:
        return None, []
    return made.png, [Mark(left=m[0], top=m[1], right=m[2], bottom=m[3]) for m in made.marks]
