"""A small library: two companies, three years, two pages a filing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from finexpert.filings.library.store import LibraryStore
from finexpert.filings.records import FilingInfo, LibraryPage

ADDED = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
Put = Callable[[LibraryStore, str, int], None]


def filing(ticker: str, year: int) -> tuple[FilingInfo, list[LibraryPage]]:
    id = f"{ticker}/{year}"
    name = {"AAA": "Arbor Mills", "BBB": "Basalt Energy"}.get(ticker, ticker.title())
    sales = LibraryPage(
        f"{id}/page_1", id, name, ticker, year, None, "10-K", "", 1,
        (f"net sales of paper rose in {year} because mills ran longer .",),
        (("( in millions )", str(year), str(year - 1)), ("net sales", "120", "110"), ("cost of sales", "80", "75")),
        ("the backlog of orders was steady .",),
    )  # fmt: skip
    leases = LibraryPage(
        f"{id}/page_2", id, name, ticker, year, None, "10-K", "", 2,
        (f"future minimum payments under operating leases for warehouses as of december 31 , {year} .",),
        (), ("rent expense is recorded in equal amounts .",),
    )  # fmt: skip
    return FilingInfo(id, name, ticker, year, None, "10-K", id, id, f"{ticker}{year}", 2, ADDED), [sales, leases]


@pytest.fixture
def put() -> Put:
    """Puts the made-up filing of a company and a year into a store."""
    return lambda store, ticker, year: store.put(*filing(ticker, year))


@pytest.fixture
def store(tmp_path: Path, put: Put) -> Iterator[LibraryStore]:
    made = LibraryStore(tmp_path / "library", make=True)
    for ticker in ("AAA", "BBB"):
        for year in (2010, 2011, 2012):
            put(made, ticker, year)
    yield made
    made.close()
