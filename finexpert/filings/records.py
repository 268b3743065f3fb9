"""What a library of filings holds, and what a search in it asks and gives.

    FilingInfo    one filing as it was added: company, form, fiscal year and quarter, file
    LibraryPage   what is searched, shown to a model and cited: a page, at most one table with the text around it
    Chunk         a stretch of a page's table or text, as the index holds it
    SearchRequest, PageHit

A page of a real file with several tables gives several parts: "apple-10q-2025q1/page_12", then ".../page_12.2".
Plain records, nothing is read, stored or searched here.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from finexpert.filings.page.filing import Filing
from finexpert.filings.page.tags import Tag

ChunkKind = Literal["table", "text"]


@dataclass(frozen=True)
class FilingInfo:
    """A filing of the library. `kind` is "10-K", "10-Q", "transcript", "annual report" or "" where it is not known."""

    id: str
    company: str
    ticker: str
    fiscal_year: int | None
    quarter: int | None
    kind: str
    title: str
    path: str
    sha256: str
    pages: int
    added: dt.datetime


@dataclass(frozen=True)
class LibraryPage:
    """A page, or a part of one: at most one table, the text before it and the text after it, and the tags of their numbers."""

    id: str
    filing: str
    company: str
    ticker: str
    fiscal_year: int | None
    quarter: int | None
    kind: str
    section: str
    number: int
    pre_text: tuple[str, ...]
    table: tuple[tuple[str, ...], ...]
    post_text: tuple[str, ...]
    tags: tuple[Tag, ...] = ()

    def as_filing(self) -> Filing:
        """The page as a source that cells and sentences are read from; citations name it by its label."""
        return Filing(self.id, self.pre_text, self.table, self.post_text, self.label, tags=self.tags)

    @property
    def label(self) -> str:
        """How a citation names the page.

        >>> page = LibraryPage("AAL/2010/page_72.pdf", "AAL/2010", "American Airlines Group", "AAL", 2010, None, "10-K",
        ...     "", 72, (), (), ())
        >>> page.label
        'American Airlines Group, FY 2010, p. 72'
        >>> from dataclasses import replace
        >>> replace(page, company="Apple", fiscal_year=2025, quarter=1, number=3).label
        'Apple, Q1 2025, p. 3'
        """
        parts = [self.company or self.ticker or self.filing]
        if self.fiscal_year is not None:
            parts.append(f"Q{self.quarter} {self.fiscal_year}" if self.quarter else f"FY {self.fiscal_year}")
        return ", ".join([*parts, f"p. {self.number}"])


@dataclass(frozen=True)
class Chunk:
    """A stretch of a page that is indexed; `id` is its number in the library, which no other chunk ever gets."""

    id: int
    page: str
    kind: ChunkKind
    text: str
    ticker: str
    fiscal_year: int | None
    quarter: int | None


@dataclass(frozen=True)
class SearchRequest:
    """What is looked for: phrases, and filters; an empty filter lets everything through.

    `kinds` are the kinds of chunks; `unit` is a word that should stand near, such as "million" or "%".
    """

    phrases: tuple[str, ...]
    tickers: frozenset[str] = frozenset()
    years: frozenset[int] = frozenset()
    quarters: frozenset[int] = frozenset()
    kinds: frozenset[ChunkKind] = frozenset()
    unit: str | None = None
    limit: int = 8


@dataclass(frozen=True)
class PageHit:
    """A page that was found, with its chunks that matched, best first; `why` says by what."""

    page: LibraryPage
    score: float
    chunks: tuple[Chunk, ...]
    why: str
