"""The scale of a table, whatever words stand beside its numbers."""

from __future__ import annotations

import pytest

from finexpert.core.plans import Cell, Quote
from finexpert.filings.page.filing import Filing

IN_MILLIONS = [["(in millions)", "2018", "2017"], ["Net sales", "1,234", "1,181"]]


@pytest.mark.parametrize(
    ("corner", "label", "printed", "scale"),
    [
        ("(in millions)", "Net sales", "12 million", 1e6),
        ("(in thousands)", "Net sales", "12 million", 1e6),
        ("(in thousands)", "Net sales", "$12bn", 1e9),
        ("(in millions)", "Net sales", "910 employees", 1e6),
        ("(in millions)", "billion", "910", 1e6),
        ("(in thousands)", "million shares issued", "910", 1e3),
        ("(in millions)", "Notes of $500 thousand due 2025", "910", 1e6),
        ("(in millions)", "Tax at the statutory rate", "910", 1e6),
        ("($ in millions)", "Deposits from customers", "910", 1e6),
        ("($ in millions)", "Loans to employees", "910", 1e6),
        ("($ in millions)", "Number of customers", "910", 1.0),
        ("(in millions)", "Stores (thousands)", "910", 1e3),
    ],
)
def test_a_word_beside_a_number_neither_takes_nor_doubles_the_scale(
    corner: str, label: str, printed: str, scale: float
) -> None:
    page = Filing("a", [], [[corner, "2018", "2017"], [label, printed, "907"], ["Total", "1", "1"]], [])
    value = page.cell(Cell(id=1, row=label, column="2018", row_number=1, column_number=1))
    assert value.scale == scale
    assert value.value == pytest.approx(12.0 if "12" in printed else 910.0)


def test_headings_of_many_rows_with_the_unit_beside_the_last() -> None:
    table = [
        ["", "Year ended 2018", "Year ended 2018"],
        ["", "", "Latin"],
        ["", "", "America"],
        ["", "United", "and"],
        ["Net sales (Millions)", "States", "Canada"],
        ["Industrial", "4,538", "1,238"],
        ["Health care", "2,830", "556"],
    ]
    value = Filing("a", [], table, []).cell(Cell(id=1, row="Industrial", column="Year ended 2018 United States"))
    assert (value.value, value.scale) == (4538.0, 1e6)


@pytest.mark.parametrize(
    ("quote", "number", "scale"),
    [
        ("Net sales 1,234 1,181", "1,234", 1e6),
        ("(in millions) 2018 2017", "2018", 1.0),
        ("Cash rose to 15", "15", 1e3),
        ("Cash rose to 15 thousand , of 20", "20", 1.0),
        ("of 20 in all , and 30", "30", 1.0),
        ("Cash rose to 15 thousand", "15 thousand", 1e3),
    ],
)
def test_a_number_quoted_from_the_table_has_the_scale_of_the_table(quote: str, number: str, scale: float) -> None:
    page = Filing(
        "a", ["Cash rose to 15 thousand , of 20 in all , and 30 .", "It was 30 million and 30 ."], IN_MILLIONS, []
    )
    assert page.quote(Quote(id=1, quote=quote, value=number)).scale == scale
