"""Whose filings are meant, which of their pages are statements, and which pages a question is about."""

from __future__ import annotations

import datetime as dt

import pytest

from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.plans.pages import measures, whose
from finexpert.plans.pages.printed import Printed, printed_pages
from finexpert.plans.pages.ranking import Pages, Sought, ranked, within
from finexpert.plans.pages.statements import statement_of


def filing(path: str, company: str, ticker: str = "", year: int = 2022) -> FilingInfo:
    return FilingInfo(
        path, company, ticker, year, None, "10-K", "", path, path, 1, dt.datetime(2023, 1, 1, tzinfo=dt.UTC)
    )


FILINGS = [
    filing("3M_2018_10K.pdf", "3M", year=2018),
    filing("BLOCK_2020_10K.pdf", "SQUARE, INC.", "SQ"),
    filing("JPMORGAN_2021Q1_10Q.pdf", "JPMorgan Chase & Co.", "JPM"),
    filing("JOHNSON_JOHNSON_2022.pdf", "", "JNJ"),
    filing("boeing.pdf", "THE BOEING COMPANY"),
    filing("1-800-FLOWERS_2022_10K.pdf", "1-800-FLOWERS.COM, INC."),
]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("What did 3M spend?", "3M_2018_10K.pdf"),
        ("How did Minnesota Mining and Manufacturing do?", "3M_2018_10K.pdf"),
        ("Revenue of Block (formerly known as Square)", "BLOCK_2020_10K.pdf"),
        ("JP Morgan's segments", "JPMORGAN_2021Q1_10Q.pdf"),
        ("J&J's sales", "JOHNSON_JOHNSON_2022.pdf"),
        ("Does Boeing have legal battles?", "boeing.pdf"),
        ("Does Boieng have legal battles?", "boeing.pdf"),
        ("What does 1-800-Flowers sell?", "1-800-FLOWERS_2022_10K.pdf"),
    ],
)
def test_a_company_is_found_by_any_of_its_names(text: str, path: str) -> None:
    assert [found.path for found in whose.named_in(text, FILINGS)] == [path]


@pytest.mark.parametrize(
    "text", ["What blocks a deal?", "How was the year?", "Which square is it?", "a general question"]
)
def test_ordinary_words_name_nobody(text: str) -> None:
    assert whose.named_in(text, FILINGS) == []


def page(number: int, *lines: str, table: tuple[tuple[str, ...], ...] = ()) -> LibraryPage:
    return LibraryPage(f"b/page_{number}", "boeing.pdf", "Boeing", "", 2022, None, "10-K", "", number, lines, table, ())


BALANCE = tuple((name, str(100 + place), str(90 + place)) for place, name in enumerate(
    ["Cash", "Accounts receivable", "Inventories", "Total current assets", "Goodwill", "Total assets", "Accounts payable",
     "Total current liabilities", "Total liabilities", "Total shareholders' equity"]))  # fmt: skip
PAGES: list[Printed] = printed_pages(
    FILINGS[4],
    [
        page(1, "Index to Consolidated Balance Sheets, Statements of Operations and Statements of Cash Flows"),
        page(2, "Consolidated Balance Shee ts", table=BALANCE),
        page(3, "The company is a defendant in lawsuits about its planes."),
        page(3, "A second part of the same page."),
    ],
)


def test_a_statement_is_told_by_heading_and_lines_and_an_index_is_none() -> None:
    assert [statement_of(page) for page in PAGES] == [None, "balance sheet", None]
    assert [len(page.parts) for page in PAGES] == [1, 1, 2]


def test_a_measure_is_searched_by_its_lines() -> None:
    (quick,) = measures.named_in("What is the quick ratio?")
    found = ranked(Pages(PAGES), [Sought(phrase) for phrase in quick.phrases], quick.statements)
    assert found[0].number == 2
    assert len(measures.catalogue()) >= 55
    assert all(measure.lines and measure.formula for measure in measures.catalogue())


def test_pages_are_ranked_by_words_and_fill_a_budget() -> None:
    found = ranked(Pages(PAGES), [Sought("legal battles lawsuits defendant")])
    assert found[0].number == 3
    shown = within([PAGES[1], PAGES[2]], 30, {"goodwill"})
    assert [page.number for page, _ in shown] == [2]


def test_a_long_page_keeps_the_passages_asked_for() -> None:
    rows = tuple((f"line {number}", str(number)) for number in range(400))
    (long,) = printed_pages(FILINGS[4], [page(9, "heading", table=(*rows, ("Goodwill impairment", "77")))])
    text = long.shown(600, {"goodwill", "impairment"})
    assert "Goodwill impairment | 77" in text
    assert len(text) < 700
    assert "[...]" in text
