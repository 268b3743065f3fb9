"""Proof of quotes: what stands on a page, in its table or its text, and what does not."""

from __future__ import annotations

import dataclasses
import datetime as dt

import pytest

from finexpert.core.plans import Cell, Quote
from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.plans.pages.evidence import holds, prove
from finexpert.plans.pages.printed import Printed

INFO = FilingInfo(
    "a/2022", "A", "", 2022, None, "10-K", "", "A_2022_10K.pdf", "1", 1, dt.datetime(2023, 1, 1, tzinfo=dt.UTC)
)
TABLE = (
    ("(in millions, except per share data)", "2022", "2021", "2020"),
    ("Net sales", "$ 1,234", "$ 1,181", "$ 1,181"),
    ("Capital expendi- tures", "(40)", "(30)", "4"),
    ("Growth %", "(4)", "5", "4"),
)
PAGE = LibraryPage(
    "a/2022/page_7", "a/2022", "A", "", 2022, None, "10-K", "", 7, ("Sales rose by 4.5 % to $1.2 billion.",), TABLE, ("Pre-tax income fell.",)
)  # fmt: skip
PRINTED = Printed(INFO, 7, (PAGE,))


@pytest.mark.parametrize(
    ("quote", "number", "column"),
    [
        ("Net sales | $ 1,234", "1,234", 1),
        ("Net sales | 1,181", "1,181", 2),
        ("Net sales | $ 1,234 | $ 1,181 | $ 1,181", "1,181", 3),
        ("Growth % | (4)", "(4)", 1),
        ("Growth % | (4) | 5 | 4", "4", 3),
        ("Capital expendi-tures | (40)", "40", 1),
    ],
)
def test_a_number_is_the_cell_of_its_row_at_which_the_quote_ends(quote: str, number: str, column: int) -> None:
    proof = prove(PRINTED, quote, number)
    assert proof is not None
    assert isinstance(proof.step, Cell)
    assert proof.step.column_number == column
    assert proof.negative == (quote == "Growth % | (4)" or "(40)" in quote)


def test_a_number_of_a_sentence_is_read_there() -> None:
    proof = prove(PRINTED, "rose by 4.5% to $1.2 billion", "4.5%")
    assert proof is not None
    assert isinstance(proof.step, Quote)


@pytest.mark.parametrize(
    ("quote", "number"),
    [
        ("Net sales | 1,234", "1,235"),  # another number than the quote's
        ("Net income | 1,234", "1,234"),  # another row
        ("Net sales | 9,999", "9,999"),  # not printed
        ("Net sales | 1,181 | 1,234", "1,234"),  # not in this order
        ("", "1,234"),
        ("Net sales | 1,234", "about"),
    ],
)
def test_what_does_not_stand_there_is_no_proof(quote: str, number: str) -> None:
    assert prove(PRINTED, quote, number) is None


def test_words_are_compared_without_white_space_and_hyphens() -> None:
    assert holds(PRINTED, "pretax income fell") == PAGE
    assert holds(PRINTED, "Sales rose by 4.5% ... $1.2 billion") == PAGE
    assert holds(PRINTED, "Sales fell by 4.5%") is None


def test_except_per_share_data_is_no_amount_per_share() -> None:
    values = {value.citations[0].place: value for _, _, value in PAGE.as_filing().cells()}
    sold = next(value for place, value in values.items() if "Net sales" in place)
    assert (sold.unit, sold.scale) == ("USD", 1e6)


def test_the_row_that_a_quote_stands_in_goes_before_the_row_above_with_the_same_digits() -> None:
    table = (("", "2022", "2021"), ("Net income attributable", "500", "400"), ("Net income", "500", "400"))
    page = dataclasses.replace(PAGE, table=table)
    proof = prove(Printed(INFO, 7, (page,)), "Net income | 500 | 400", "400")
    assert proof is not None
    assert isinstance(proof.step, Cell)
    assert (proof.step.row_number, proof.step.column_number) == (2, 2)
