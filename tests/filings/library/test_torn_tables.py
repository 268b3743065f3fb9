"""Tables that a broken label, a section or a near sign of money would tear: columns and scale hold to their last row."""

from __future__ import annotations

import pytest

from finexpert.core.plans import Cell
from finexpert.filings.readers.aligned import regions_of
from finexpert.filings.readers.blocks import library_pages
from finexpert.filings.readers.cells import Span
from finexpert.filings.readers.text import read_text
from finexpert.filings.records import FilingInfo, LibraryPage

BALANCE_SHEET = """
(In millions, except share data)
                                                                       2018         2017
Assets
Cash and cash equivalents                                             $ 310        $ 298
Total liabilities                                                     7,040        6,498

Commitments and contingencies (Note 23)
Shareholders' equity:
{label}            —            —
Additional paid-in capital                                           11,174       10,963
Total equity                                                         11,174       10,963
"""

LABELS = [
    "Common stock, $0.01 par value",
    "Common stock, $0.01 par value, 2,400,000,000 shares authorized,\n1,197,436,644 and 1,192,093,991 shares issued at December 31, 2018\nand December 31, 2017, respectively   ",
    "Preferred stock: 100 shares authorized at December 31, 2018.\nNone issued and outstanding at December 31, 2017.\n\nClass A common stock: 1,000 shares authorized; 10 issued.\nClass B common stock: 500 shares authorized;\n65 issued and outstanding",
    "Adjustments that a long label tells of, with all it excludes,\n\nand nothing else, net of tax",
    "Purchases of property and equipment, with software and\nwebsite development, net,\nof proceeds from incentives.\nand",
]


def parts(text: str) -> list[LibraryPage]:
    info = FilingInfo("a", "", "", None, None, "", "a", "a.txt", "", 0, None)  # type: ignore[arg-type]
    return list(library_pages(read_text(text), info))


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label[:30])
def test_a_broken_label_does_not_tear_a_table(label: str) -> None:
    *lines, last = label.split("\n")
    (page,) = parts(BALANCE_SHEET.format(label="\n".join([*lines, f"{last:60}"])))
    value = page.as_filing().cell(Cell(id=1, row="Additional paid-in capital", column="2017"))
    assert (value.value, value.unit, value.scale) == (10963.0, "USD", 1e6)


def test_a_label_of_two_lines_is_one_label() -> None:
    (page,) = parts(
        """
(In millions)                           2018      2017
Sales                                      9         8
Selling, general and
administrative expenses                    5         4
Foreign currency contracts, gross          3         2
designated as hedges
Inventories:
  Grain                                    2         1
"""
    )
    assert [row[0] for row in page.table[2:]] == [
        "Selling, general and administrative expenses",
        "Foreign currency contracts, gross designated as hedges",
        "Inventories:",
        "Grain",
    ]


def test_headings_above_a_section_belong_to_their_table() -> None:
    first, second = parts(
        """
The following tables show our segments (in millions):

Year ended December 31, 2018
                            Flour      Feed     Total
Segment revenue
Net revenue from
customers                   2,219     1,676     3,895
Intersegment                    1        43        44

Year ended December 31, 2017
                            Flour      Feed     Total
Segment revenue
Net revenue from
customers                   2,458     2,238     4,696
Intersegment                    2        53        55
"""
    )
    value = second.as_filing().cell(Cell(id=1, row="net revenue from customers", column="feed"))
    assert (value.value, value.scale) == (2238.0, 1e6)
    assert first.as_filing().cell(Cell(id=1, row="net revenue from customers", column="feed")).value == 1676.0


@pytest.mark.parametrize(
    ("between", "scale"),
    [("Costs", 1e6), ("", 1e6), ("Costs by region were as follows.", 1.0), ("Costs (in thousands)", 1e3)],
)
def test_a_scale_goes_on_below_headings_and_not_below_sentences(between: str, scale: float) -> None:
    rows = "                           2018     2017\nFlour                        50       40\nFeed                         30       20\n"
    *_, last = parts(f"Sales (in millions)\n\n{rows}\n{between}\n\n{rows.replace('201', '200')}")
    assert last.as_filing().cell(Cell(id=1, row="Feed", column="2007")).scale == scale


def test_years_below_numbers_head_a_table_of_their_own() -> None:
    def row(*cells: tuple[str, float]) -> list[Span]:
        return [Span(text, at, at + 4) for text, at in cells]

    years = row(("2018", 20), ("2017", 30))
    body = row(("Flour", 0), ("5", 20), ("4", 30))
    assert list(regions_of([years, body, body, [], years, body, body])) == [(0, 3), (4, 7)]


def test_a_sentence_across_the_columns_ends_a_table() -> None:
    rows = "Flour                   50       40\nFeed                    30       20\n"
    sentence = (
        "Demand for feed stayed firm in all of our regions, while the price of grain rose\nas harvests were small."
    )
    assert len(parts(f"{rows}{sentence}\n{rows}")) == 2
