"""The made-up library: its pages add up, and its files have the form that users bring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_library import YEARS, SampleLibrary, sample_pages, write_sample

from finexpert.core.plans import Cell
from finexpert.errors import LibraryError
from finexpert.filings.companies.companies import Companies
from finexpert.filings.records import LibraryPage


@pytest.mark.parametrize("page", list(sample_pages()), ids=lambda page: str(page.id))
def test_a_page_adds_up(page: LibraryPage) -> None:
    filing, column = page.as_filing(), str(page.fiscal_year)
    revenue, costs, income = (
        filing.cell(Cell(id=1, row=row, column=column))
        for row in ("net revenue", "operating costs", "operating income")
    )
    assert revenue.value - costs.value == income.value  # type: ignore[operator]
    assert revenue.scale == 1e6


def test_a_year_repeats_the_one_before() -> None:
    pages = {page.id: page for page in sample_pages()}
    assert len(pages) == 18
    for page in pages.values():
        before = pages.get(page.id.replace(str(page.fiscal_year), str((page.fiscal_year or 0) - 1)))
        assert before is None or [row[2] for row in page.table] == [row[1] for row in before.table]
        assert before is not None or page.fiscal_year == YEARS[0]


def test_the_files_have_the_usual_form(tmp_path: Path) -> None:
    pages, companies = write_sample(tmp_path / "sample")
    records = [json.loads(line) for line in pages.read_text(encoding="utf-8").splitlines()]
    assert {page["filename"] for page in records} == {page.id for page in sample_pages()}
    assert set(records[0]) == {"filename", "ticker", "fiscal_year", "page", "pre_text", "post_text", "table"}
    read = {company.ticker: company for company in Companies.read(companies)}
    own = {company.ticker: company for company in SampleLibrary().companies}
    assert {t: (c.name, c.founded, c.sector) for t, c in read.items()} == {
        t: (c.name, c.founded, c.sector) for t, c in own.items()
    }
    assert [m.ticker for m in SampleLibrary().companies.resolve("Harborlight, Quillstone and TESL")] == [
        "HRBX",
        "QLTN",
        "TESL",
    ]


def test_filings_and_pages_of_them() -> None:
    library = SampleLibrary()
    assert [page.id for filing in library.filings() for page in library.pages_of(filing.id)] == [
        page.id for page in sample_pages()
    ]
    with pytest.raises(LibraryError, match="no page 'x'"):
        library.page("x")
