"""A library of filings as a source: many filings, searched by page.

    with Library.open() as library:
        hits = library.search(SearchRequest(("net sales by region",), tickers=frozenset({"AAL"})))
        hits[0].page.label                     # 'American Airlines Group, FY 2010, p. 72'
        hits[0].page.as_filing().cell(...)     # cells and sentences are read as from any page

A library is a folder: the filings in `library.sqlite`, what a search needs beside it, and the file of companies if one
was given. Files are read into pages in `finexpert.filings.readers`, ranked in `finexpert.filings.library.index`; no model is asked here.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from rapidfuzz import fuzz, process

from finexpert.embeddings.embedding import Embedder, embedder
from finexpert.errors import LibraryError
from finexpert.filings.companies.companies import Companies
from finexpert.filings.library.chunking import Chunking
from finexpert.filings.library.index.index import LibraryIndex, Way
from finexpert.filings.library.store import LibraryStore
from finexpert.filings.records import FilingInfo, LibraryPage, PageHit, SearchRequest
from finexpert.settings import Settings
from finexpert.storage.closing import Closing
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

Outcome = Literal["added", "same", "replaced"]
COMPANIES_FILE = "companies.csv"


class Library(Closing):
    """Filings in a folder. Many threads may read; writers, also of other processes, take turns."""

    def __init__(self, store: LibraryStore, embedder: Embedder, companies: Path | None = None) -> None:
        self.name = store.folder.name
        self.folder = store.folder
        # Where a record's pages are found again.
        self.address = str(store.folder.absolute())
        self._store, self._embedder, self._companies_file = store, embedder, companies
        self._index_lock = threading.Lock()
        self._index: LibraryIndex | None = None
        self._table_lock = threading.Lock()
        self._open_table: DuckDBWarehouse | None = None
        self._companies: tuple[str, Companies] | None = None

    @classmethod
    def open(
        cls,
        place: Path | str | None = None,
        *,
        embedder: Embedder | None = None,
        companies: Path | None = None,
        make: bool = False,
        chunking: Chunking | None = None,
    ) -> Library:
        """The library in a folder; where none is named, that of the setting `library`, or `library` in the home.

        Raises LibraryError where there is none, unless `make` says to make it, and where its chunks are of another
        size than asked for.
        """
        folder = default_folder() if place is None else Path(place)
        return cls(LibraryStore(folder, make=make, chunking=chunking), embedder or default_embedder(), companies)

    def close(self) -> None:
        with self._table_lock:
            if self._open_table is not None:
                self._open_table.close()
        self._store.close()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what the library holds: the same for the same filings, wherever and whenever they were added."""
        filings = [
            (f.id, f.sha256, f.company, f.ticker, f.fiscal_year, f.quarter, f.kind)
            for f in sorted(self.filings(), key=lambda each: each.id)
        ]
        return hashlib.sha256(json.dumps([str(self._store.chunking), filings]).encode()).hexdigest()

    # reading

    def filings(self) -> list[FilingInfo]:
        """All filings, by company, year and quarter."""
        return self._store.filings()

    def find(self, id: str) -> FilingInfo | None:
        """A filing by its id, None where there is none of it."""
        return self._store.filing(id)

    def filing(self, id: str) -> FilingInfo:
        """A filing by its id; LibraryError with the nearest ids where there is none of it."""
        if (found := self._store.filing(id)) is None:
            raise LibraryError(f"there is no filing {id!r} in {self.folder}{self._near(id)}")
        return found

    def filing_of(self, sha256: str) -> FilingInfo | None:
        """The filing that was made of a file with this checksum, whatever the file is called."""
        return self._store.filing_of(sha256)

    def page(self, id: str) -> LibraryPage:
        """A page by its id; LibraryError where there is none."""
        if (found := self._store.page(id)) is None:
            raise LibraryError(f"there is no page {id!r} in {self.folder}: `finexpert library list` shows its filings")
        return found

    def pages_of(self, filing: str) -> list[LibraryPage]:
        """The pages of a filing in their order, parts of a page one after the other."""
        return self._store.pages_of(self.filing(filing).id)

    def search(self, request: SearchRequest, by: Way = "fused") -> list[PageHit]:
        """The pages that fit best, best first, none twice; at most `request.limit`. By "words" nothing has to be embedded."""
        found = self._opened_index().search(request, by)
        pages = self._store.pages([page for page, *_ in found])
        chunks = self._store.chunks_by_id([number for _, _, numbers, _ in found for number in numbers])
        # A page may have gone since it was ranked.
        return [
            PageHit(pages[page], score, tuple(chunks[number] for number in numbers if number in chunks), why)
            for page, score, numbers, why in found
            if page in pages
        ]

    def symbols(self, name: str) -> frozenset[str]:
        """The symbols that a company goes by, named by name or symbol; LibraryError where nobody knows it."""
        known = {filing.ticker for filing in self.filings()} - {""}
        if name.upper() in known:
            return frozenset({name.upper()})
        found = frozenset(mention.ticker for mention in self.companies.resolve(name))
        if not found:
            raise LibraryError(f"no company {name!r} is known: `finexpert library list` shows those of the library")
        return found

    @property
    def companies(self) -> Companies:
        """Who is meant by a name or a symbol: the companies of the filings, and of the table of companies if there is one."""
        stamp = self._store.stamp
        if self._companies is None or self._companies[0] != stamp:
            self._companies = stamp, Companies.of_filings(self.filings(), self._table())
        return self._companies[1]

    def _table(self) -> Path | None:
        if self._companies_file is not None:
            return self._companies_file
        kept = self.folder / COMPANIES_FILE
        return kept if kept.is_file() else None

    @cached_property
    def _named(self) -> Companies:
        """For the name of a company of which a filing tells the symbol only."""
        return Companies.of_filings((), self._table())

    def company_table(self) -> DuckDBWarehouse | None:
        """The attributes of the companies as a warehouse, opened once; None where no company is known."""
        with self._table_lock:
            if self._open_table is None and len(self.companies):
                self._open_table = self.companies.warehouse()
            return self._open_table

    # writing

    def add(
        self,
        pages: Iterable[LibraryPage],
        info: FilingInfo,
        progress: Callable[[int], None] | None = None,
        *,
        instead_of: str | None = None,
    ) -> Outcome:
        """Add a filing with its pages: all of it, or nothing.

        "same" where the library has a filing of the same file; "replaced" where it had another one of this id, or of
        the id `instead_of`, or where what is known of it has changed. `progress` is called with the number of pages
        done. The index is brought up to date by the next search, or by `refresh`.
        """
        if not info.company and info.ticker and (name := self._named.name_of(info.ticker)) != info.ticker:
            info = replace(info, company=name)
        twin = self._store.filing_of(info.sha256)
        if twin is not None and (_known(twin) == _known(info) or twin.id not in (info.id, instead_of)):
            return "same"
        replaced = any(self._store.filing(id) for id in {info.id, instead_of or info.id})
        self._store.put(info, _counted(pages, progress), instead_of=instead_of)
        return "replaced" if replaced else "added"

    def remove(self, filing: str) -> int:
        """Remove a filing; how many pages went. LibraryError where there is none of this id."""
        removed = self.filing(filing)
        self._store.remove(filing)
        return removed.pages

    def refresh(self, progress: Callable[[int], None] | None = None) -> None:
        """Bring the index up to date; `progress` is called with the number of chunks done."""
        self._opened_index().refresh(progress)

    def chunks_to_index(self) -> int:
        """How many chunks a `refresh` would embed."""
        return self._store.count_without_vector(self._embedder.name)

    def _opened_index(self) -> LibraryIndex:
        with self._index_lock:
            if self._index is None:
                self._index = LibraryIndex(self._store, self._embedder, self.folder)
            return self._index

    def _near(self, id: str) -> str:
        ids = [filing.id for filing in self.filings()]
        near = [name for name, *_ in process.extract(id, ids, scorer=fuzz.WRatio, limit=3, score_cutoff=60)]
        return f"; the nearest are {', '.join(near)}" if near else ": `finexpert library list` shows what there is"


def default_folder() -> Path:
    settings = Settings()
    return settings.library or settings.home / "library"


def default_embedder() -> Embedder:
    return embedder(Settings().embedder)


def _known(info: FilingInfo) -> dict[str, Any]:
    """What a filing says of itself, without where and when it was added."""
    return vars(replace(info, path="", pages=0, added=info.added.min))


def _counted(pages: Iterable[LibraryPage], progress: Callable[[int], None] | None) -> Iterable[LibraryPage]:
    for page in pages:
        yield page
        if progress is not None:
            progress(1)
