"""Carrying a reading out: percentages, units, and formulas that are refused."""

from __future__ import annotations

import pytest

from finexpert.core.plans import Cell, Quote
from finexpert.core.workspace import Value
from finexpert.errors import PlanError, StepError
from finexpert.filings.records import LibraryPage
from finexpert.plans.pages.formula import as_steps
from finexpert.plans.pages.proved import Computation, ProvedSentence, ProvedValue, Reading
from finexpert.plans.pages.reading import carried_out, other_year, unsupported
from finexpert.plans.pages.wording import computed_words, filled, in_unit, other_scale, printed_words


@pytest.mark.parametrize(
    ("formula", "value", "unit", "shown"),
    [
        ("a / b", Value(0.2, unit="ratio"), "%", 20.0),
        ("a / b * 100", Value(20.0), "%", 20.0),
        ("(a - b) / 100", Value(0.02), "percentage points", 2.0),
        ("(a + b) / 2", Value(21.5), "%", 21.5),
        ("average(a, b)", Value(21.5), "%", 21.5),
        ("a - b", Value(-0.022, unit="fraction"), "percentage points", -2.2),
        ("a - b", Value(-0.022, unit="fraction"), "basis points", -220.0),
        ("a \u2212 b", Value(3.0), "USD millions", 3.0),
    ],
)
def test_a_plain_quotient_is_a_percentage_and_what_is_one_already_stays(
    formula: str, value: Value, unit: str, shown: float
) -> None:
    assert in_unit(value, Computation(name="x", what="x", formula=formula, unit=unit)) == pytest.approx(shown)


@pytest.mark.parametrize(
    "formula", ["a +", "__import__('os')", "a.b", "a if b else 3", "[x for x in a]", "c / a", "nothing(a)", "a" * 700]
)
def test_a_formula_is_arithmetic_over_known_values_and_nothing_else(formula: str) -> None:
    with pytest.raises(StepError):
        as_steps(formula, {"a": "step 1", "b": "step 2"}, 3)


def test_a_constant_by_itself_and_a_comparison() -> None:
    assert as_steps("a", {"a": "step 1"}, 2)[0].arguments == ["step 1"]
    assert as_steps("a < b", {"a": "step 1", "b": "step 2"}, 3)[0].arguments == ["step 2", "step 1"]
    with pytest.raises(PlanError, match="no such value"):
        as_steps("z", {}, 1)


def test_what_cannot_be_computed_is_left_out_and_said() -> None:
    def nothing(id: str) -> LibraryPage:
        raise AssertionError(id)

    made = Reading(
        computed=[Computation(name="x", what="a share", formula="1 / 0")], sentences=[ProvedSentence(says="It is {x}.")]
    )
    carried = carried_out(made, nothing)
    assert carried.missing == ["x"]
    assert carried.notes == ["a share is left out: divide divides by zero"]
    assert carried.text == "It is {x}."


def test_units_are_said_once() -> None:
    shown = {"a": "5,363 million USD", "m": "34.6%", "t": "24.26 times"}
    assert filled("{a}, {m} and {t} times", shown) == "5,363 million USD, 34.6% and 24.26 times"
    assert filled("USD {a} million, {m} percent", shown) == "USD 5,363 million, 34.6 percent"


def test_years_and_small_counts_need_no_quote() -> None:
    assert unsupported(Reading(sentences=[ProvedSentence(says="3 of 12 in 2022, at 55.5")]), "Which 3?") == ["55.5"]


@pytest.mark.parametrize(
    ("answer", "shown", "text"),
    [
        ("{a} billion", "5,363 million USD", "5,363 million"),
        ("${a} billion in all", "5,363 million USD", "$5,363 million in all"),
        ("{a} bn", "12 million USD", "12 million"),
        ("{a} millions", "5,363 million USD", "5,363 millions"),
        ("{a} million", "12 million", "12 million"),
        ("{a} million", "5,363 USD", "5,363 million"),
        ("{a} USD", "5,363 million USD", "5,363 million USD"),
        ("{a} dollars", "5,363 million USD", "5,363 million dollars"),
        ("{a} months", "13 months", "13 months"),
        ("{a} points", "9.1 percentage points", "9.1 percentage points"),
    ],
)
def test_a_sentence_does_not_change_the_scale_of_a_page(answer: str, shown: str, text: str) -> None:
    assert filled(answer, {"a": shown}) == text


@pytest.mark.parametrize(
    ("printed", "value", "words", "doubted"),
    [
        ("12 million", Value(12.0, unit="USD", scale=1e6), "12 million USD", False),
        ("12 million", Value(12.0, unit="USD", scale=1e3), "12 thousand USD", True),
        ("12 million", Value(12.0), "12 million", True),
        ("$1.2bn", Value(1.2, unit="USD", scale=1e9), "1.2 billion USD", False),
        ("1,234", Value(1234.0, unit="USD", scale=1e6), "1,234 million USD", False),
        ("13.4%", Value(0.134, unit="fraction"), "13.4%", False),
    ],
)
def test_a_word_beside_a_number_is_neither_more_nor_less_than_its_table(
    printed: str, value: Value, words: str, doubted: bool
) -> None:
    proved = ProvedValue(name="x", page="p", step=Quote(id=1, quote="q", value="1"), printed=printed, quote="q")
    assert printed_words(proved, value) == words
    assert bool(other_scale(proved, value)) is doubted


@pytest.mark.parametrize(
    ("rows", "doubted"),
    [
        ((("(dollars in millions)", "", ""), ("Years Ended December 31,", "2022", "2021"), ("Sales", "9", "7")), True),
        ((("Shares", "", ""), ("Opening shares", "2022", "2021"), ("Closing shares", "2022", "2022")), False),
        ((("", "2022", "2021"), ("Opening shares", "1945", "1974"), ("Sales", "9", "7")), True),
    ],
)
def test_a_labelled_row_of_years_tells_that_a_value_stands_under_another_year(
    rows: tuple[tuple[str, ...], ...], doubted: bool
) -> None:
    page = LibraryPage("a/2022/page_7", "a/2022", "A", "", 2022, None, "10-K", "", 7, (), rows, ())
    step = Cell(id=1, row="", column="", row_number=2, column_number=2)
    read = ProvedValue(name="sales_2022", page=page.id, step=step, printed=rows[2][2], quote="")
    assert bool(other_year(page, read)) is doubted
    right = read.model_copy(update={"step": step.model_copy(update={"column_number": 1})})
    assert not other_year(page, right)


@pytest.mark.parametrize(
    ("formula", "value", "unit", "words"),
    [
        ("a - b", Value(0.091, unit="fraction"), "%", "9.1 percentage points"),
        ("a / b - c / d", Value(0.091, unit="ratio"), "percent", "9.1 percentage points"),
        ("a / b - 1", Value(0.091, unit="ratio"), "%", "9.1%"),
        ("(a - b) / b", Value(0.091, unit="ratio"), "%", "9.1%"),
        ("a - b", Value(9.1, unit="USD", scale=1e6), "USD millions", "9.1 million USD"),
    ],
)
def test_a_difference_of_shares_is_in_points_and_a_scale_stands_before_its_unit(
    formula: str, value: Value, unit: str, words: str
) -> None:
    assert computed_words(value, Computation(name="x", what="x", formula=formula, unit=unit, decimals=1))[0] == words


SALES_AND_COSTS = (("(in millions)", "2022", "2021"), ("Net sales", "$ 500", "$ 400"), ("Costs", "300", "200"))


@pytest.mark.parametrize(
    ("formulas", "shown", "doubted"),
    [
        (["a * b / c"], "666.67 million USD", []),
        (["a * b", "x0 / c"], "666.67 million USD", []),
        (["a * b / (c * c)"], "2.22 million USD", []),
        (["a * (b / c)"], "666.67 million USD", []),
        (["a * b"], "200,000.00 trillion", ["a product of USD and USD", "is in trillion by the pages"]),
        (["a * b - c * c"], "110,000.00 trillion", ["a product of USD and USD", "is in trillion by the pages"]),
        (["a / (b * c)"], "0.00 million USD", ["USD divided by USD * USD"]),
    ],
)
def test_a_product_of_amounts_is_a_step_on_the_way_to_a_quotient(
    formulas: list[str], shown: str, doubted: list[str]
) -> None:
    page = LibraryPage("a/2022/page_7", "a/2022", "A", "", 2022, None, "10-K", "", 7, (), SALES_AND_COSTS, ())
    values = [
        ProvedValue(
            name=name,
            page=page.id,
            step=Cell(id=1, row="", column="", row_number=row, column_number=column),
            printed=SALES_AND_COSTS[row][column],
            quote="",
        )
        for name, row, column in (("a", 1, 1), ("b", 1, 2), ("c", 2, 1))
    ]
    computed = [
        Computation(name=f"x{number}", what=f"x{number}", formula=formula, unit="USD millions")
        for number, formula in enumerate(formulas)
    ]
    last = computed[-1].name
    carried = carried_out(Reading(values=values, computed=computed, kind="number", result=last), lambda id: page)
    assert carried.shown[last] == shown
    assert len(carried.notes) == len(doubted)
    assert all(said in note for said, note in zip(doubted, carried.notes, strict=True))
