"""A small library of filings that is made up: six companies, three years each, one page a year, and twelve questions.

    >>> library = SampleLibrary()
    >>> library.page("HRBX/2022/page_4.pdf").table[1]
    ('net revenue', '$ 412', '$ 388')
    >>> len(library.companies), len(load_sample_questions())
    (6, 12)

No company of these names exists, and no number means anything. The pages have the form of `pages.jsonl`, so a test or a first
try needs no filing of anyone's: `write_sample` puts them into a folder, for `finexpert library add`.
"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import importlib.resources
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from finexpert.datasets.filings.questions import FilingQuestion, parse_questions
from finexpert.errors import LibraryError
from finexpert.filings.companies.companies import Companies
from finexpert.filings.companies.table import Company
from finexpert.filings.records import FilingInfo, LibraryPage

YEARS = (2021, 2022, 2023)
PAGE_NUMBER = 4
_ADDED = dt.datetime(2024, 1, 2, tzinfo=dt.UTC)


@dataclass(frozen=True)
class _Story:
    """What the pages of one company are made of: figures from the year before the first on, and a product with its sales."""

    ticker: str
    name: str
    sector: str
    headquarters: str
    founded: int
    product: str
    revenue: tuple[int, ...]
    costs: tuple[int, ...]
    people: tuple[int, ...]
    sold: tuple[int, ...]


_STORIES = (
    _Story("HRBX", "Harborlight Ferries Inc.", "Transportation", "Port Ellery, Maine", 1911, "crossings",
           (371, 388, 412, 455), (301, 315, 330, 349), (2110, 2160, 2204, 2290), (51, 54, 58, 61)),
    _Story("QLTN", "Quillstone Paper Company", "Process industries", "Marlow Falls, Wisconsin", 1897, "reams",
           (920, 905, 941, 896), (760, 772, 780, 781), (5400, 5310, 5295, 5120), (310, 301, 308, 290)),
    _Story("VDMR", "Verdamere Foods plc", "Consumer non-durables", "Ashby Cross, Ireland", 1948, "jars",
           (1480, 1533, 1610, 1702), (1190, 1221, 1290, 1355), (8200, 8350, 8420, 8600), (640, 655, 671, 702)),
    _Story("NWBK", "Northwick Bancorp", "Finance", "Northwick, Ohio", 1926, "accounts",
           (266, 274, 301, 338), (180, 184, 196, 214), (1490, 1505, 1560, 1611), (88, 90, 95, 101)),
    _Story("TESL", "Tessaline Instruments Corp.", "Electronic technology", "Delmont, Colorado", 1974, "sensors",
           (530, 588, 702, 811), (398, 430, 501, 566), (3010, 3200, 3580, 3905), (24, 27, 33, 39)),
    _Story("OKGW", "Oakgate Water Utilities Group", "Utilities", "Oakgate, Vermont", 1889, "cubic metres",
           (199, 205, 211, 219), (140, 146, 149, 158), (760, 771, 768, 780), (72, 73, 73, 75)),
)  # fmt: skip


class SampleLibrary:
    """The made-up pages and companies, in memory: what gold is computed on, without a search."""

    @cached_property
    def companies(self) -> Companies:
        return Companies(_company(story) for story in _STORIES)

    @cached_property
    def _pages(self) -> dict[str, LibraryPage]:
        return {page.id: page for page in sample_pages()}

    def page(self, id: str) -> LibraryPage:
        if id not in self._pages:
            raise LibraryError(f"there is no page {id!r} in the sample library")
        return self._pages[id]

    def filings(self) -> list[FilingInfo]:
        return [sample_info(page) for page in self._pages.values()]

    def pages_of(self, filing: str) -> list[LibraryPage]:
        return [page for page in self._pages.values() if page.filing == filing]


def sample_pages() -> Iterator[LibraryPage]:
    """The eighteen pages, by company and year."""
    for story in _STORIES:
        for place, year in enumerate(YEARS, start=1):
            yield _page(story, year, place)


def sample_info(page: LibraryPage) -> FilingInfo:
    """The filing that a page of the sample makes up, each page being a filing of its own."""
    digest = hashlib.sha256(json.dumps([page.id, page.pre_text, page.table, page.post_text]).encode()).hexdigest()
    title = f"{page.company}, annual report {page.fiscal_year}"
    return FilingInfo(
        page.filing, page.company, page.ticker, page.fiscal_year, None, page.kind, title, page.id, digest, 1, _ADDED
    )


def load_sample_questions() -> list[FilingQuestion]:
    """The twelve questions over the sample."""
    name = "filings_sample.jsonl"
    text = (importlib.resources.files("finexpert.datasets") / "questions" / name).read_text(encoding="utf-8")
    return parse_questions(text, name)


def write_sample(folder: Path) -> tuple[Path, Path]:
    """Write `pages.jsonl` and `companies.csv` into a folder, and give their paths back."""
    folder.mkdir(parents=True, exist_ok=True)
    pages, companies = folder / "pages.jsonl", folder / "companies.csv"
    with pages.open("w", encoding="utf-8") as file:
        for page in sample_pages():
            file.write(json.dumps(_record(page)) + "\n")
    with companies.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["Symbol", "Security", "Market cap", "Sector", "Headquarters Location", "Founded"])
        for story in _STORIES:
            size = f"{story.revenue[-1] * 3 / 1000:.2f} B USD"
            lines.writerow([story.ticker, story.name, size, story.sector, story.headquarters, story.founded])
    return pages, companies


def _page(story: _Story, year: int, place: int) -> LibraryPage:
    now, before = place, place - 1
    income = [story.revenue[i] - story.costs[i] for i in (now, before)]
    change = "rose" if story.revenue[now] > story.revenue[before] else "fell"
    return LibraryPage(
        id=f"{story.ticker}/{year}/page_{PAGE_NUMBER}.pdf",
        filing=f"{story.ticker}/{year}",
        company=story.name,
        ticker=story.ticker,
        fiscal_year=year,
        quarter=None,
        kind="annual report",
        section="results of the year",
        number=PAGE_NUMBER,
        pre_text=(
            f"net revenue of {story.name} {change} in {year} .",
            "the results of the year and of the year before were as follows ( in millions of dollars ) :",
        ),
        table=(
            ("( in millions )", str(year), str(year - 1)),
            ("net revenue", f"$ {story.revenue[now]}", f"$ {story.revenue[before]}"),
            ("operating costs", str(story.costs[now]), str(story.costs[before])),
            ("operating income", f"$ {income[0]}", f"$ {income[1]}"),
        ),
        post_text=(
            f"at the end of {year} we employed {story.people[now]} people .",
            f"we sold {story.sold[now]} million {story.product} during the year .",
        ),
    )


def _record(page: LibraryPage) -> dict[str, object]:
    return {
        "filename": page.id,
        "ticker": page.ticker,
        "fiscal_year": page.fiscal_year,
        "page": page.number,
        "pre_text": page.pre_text,
        "post_text": page.post_text,
        "table": page.table,
    }


def _company(story: _Story) -> Company:
    return Company(
        story.ticker,
        story.name,
        market_cap=story.revenue[-1] * 3e6,
        sector=story.sector,
        headquarters=story.headquarters,
        founded=story.founded,
        roots=story.founded,
    )
