"""Rows of a printed table that lines of words reach into: descriptions, ranges, marks of footnotes, the foot of a page."""

from __future__ import annotations

from finexpert.filings.readers.aligned import regions_of
from finexpert.filings.readers.cells import Span
from finexpert.filings.readers.grid import as_table

HEADS = [Span("Product", 0, 20), Span("Used for", 60, 80), Span("2021", 200, 216), Span("2020", 240, 256)]
NUMBERS = [Span("193", 204, 216), Span("221", 244, 256)]


def test_a_description_of_several_lines_stands_in_one_row() -> None:
    rows = [
        HEADS,
        [Span("Nimenrix", 0, 20), Span("Meningitis", 60, 90), *NUMBERS],
        [Span("Ruxience", 0, 20), Span("Lymphoma, leukemia, and", 60, 150)],
        [Span("polyangiitis", 62, 100), *NUMBERS],
        [Span("Sutent", 0, 18), Span("Renal carcinoma, adjuvant", 60, 160)],
        [Span("and advanced", 62, 100)],
        NUMBERS,
    ]
    assert as_table(rows)[1:] == (
        ("Nimenrix", "Meningitis", "193", "221"),
        ("Ruxience", "Lymphoma, leukemia, and polyangiitis", "193", "221"),
        ("Sutent", "Renal carcinoma, adjuvant and advanced", "193", "221"),
    )


def test_long_descriptions_do_not_end_a_table() -> None:
    long = "Treatment of adults with advanced disease after failure of, or intolerance to, another medicine and"
    rows = [
        HEADS,
        [Span("Nimenrix", 0, 20), Span("Meningitis", 60, 90), *NUMBERS],
        [Span("Sutent", 0, 18), Span(long, 60, 190)],
        NUMBERS,
    ]
    assert list(regions_of(rows)) == [(0, 4)]


def test_a_total_without_a_label_is_a_row_of_its_own() -> None:
    rows = [HEADS, [Span("Nimenrix", 0, 20), *NUMBERS], [Span("Other", 0, 20), *NUMBERS], NUMBERS]
    assert as_table(rows)[-1] == ("", "193", "221")


def test_the_foot_of_a_page_is_no_row() -> None:
    rows = [
        HEADS[2:],
        [Span("Sales", 0, 20), *NUMBERS],
        [Span("Costs", 0, 20), *NUMBERS],
        [Span("Pfizer Inc.", 215, 251), Span("2021 Form 10-K", 280, 336), Span("103", 364, 377)],
    ]
    assert list(regions_of(rows)) == [(0, 3)]


def test_a_range_of_lives_is_a_value_and_the_mark_of_a_footnote_is_none() -> None:
    ranges = [
        [Span("Lives (years)", 60, 90), *HEADS[2:]],
        [Span("Buildings", 0, 20), Span("7 to 45", 64, 80), *NUMBERS],
    ]
    assert as_table(ranges)[1] == ("Buildings", "7 to 45", "193", "221")
    marked = [
        [Span("Total shares", 60, 90), Span("Average price", 130, 170), Span("Shares in the plan", 195, 225)],
        [Span("Period", 0, 20), Span("bought (1)", 62, 88), Span("paid", 140, 160), Span("(2)", 204, 216)],
        [Span("January", 0, 20), Span("714", 68, 84), Span("245.98", 140, 160), Span("714", 202, 218)],
    ]
    assert as_table(marked)[0] == (
        "Period",
        "Total shares bought (1)",
        "Average price paid",
        "Shares in the plan (2)",
    )


def test_blocks_of_columns_have_headings_in_lines_of_their_own() -> None:
    years = [Span(year, at, at + 16) for year, at in zip(("2020", "2019") * 3, range(100, 340, 40), strict=True)]
    values = [Span(str(number), at + 8, at + 16) for number, at in enumerate(range(100, 340, 40), 11)]
    middles = [(100 + 156) / 2, (180 + 236) / 2, (260 + 316) / 2]
    rows = [
        [Span("Pension", middles[0] - 20, middles[0] + 20), Span("Other benefit", middles[1] - 35, middles[1] + 35)],
        [Span("plans", middle - 10, middle + 10) for middle in middles[:2]]
        + [Span("Health", middles[2] - 12, middles[2] + 12)],
        years,
        [Span("Rate", 0, 20), *values],
    ]
    assert as_table(rows)[0][1:] == (
        "Pension plans 2020",
        "Pension plans 2019",
        "Other benefit plans 2020",
        "Other benefit plans 2019",
        "Health 2020",
        "Health 2019",
    )
