"""Tables read on pages: units of columns, years of rows, and cells that are no proved number."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.core.plans import Plan
from finexpert.core.workspace import Value
from finexpert.plans.pages.proved import Computation, Reading
from finexpert.plans.pages.reading import CarriedOut
from finexpert.plans.pages.tabled import TableColumn, Tabled, tabled

MILLION = Value(5363.0, unit="USD", scale=1e6)


def table(value: Value, unit: str, rows: Any = (("{n}",),), kind: str = "number", **reading: Any) -> Tabled:
    carried = CarriedOut(Plan(steps=[]), values={"n": value}, shown={"n": "5,363 million USD"})

    def no_page(id: str) -> Any:
        raise AssertionError(id)

    columns = [TableColumn.model_validate({"name": "sales", "kind": kind, "unit": unit})]
    return tabled(Reading(**reading), carried, no_page, columns, rows)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (MILLION, "million USD", 5363.0),
        (MILLION, "billion USD", 5.363),
        (MILLION, "USD", 5.363e9),
        (Value(0.229, unit="fraction"), "%", 22.9),
        (Value(0.229, unit="fraction"), "", 0.229),
        (Value(8.89, unit="USD"), "USD per share", 8.89),
        (Value(8.89, unit="USD", scale=1e6), "USD per share", 8.89),
    ],
)
def test_a_number_is_brought_to_the_unit_of_its_column(value: Value, unit: str, expected: float) -> None:
    made = table(value, unit)
    assert made.problems == []
    assert made.notes == []
    assert made.data["sales"].tolist() == [pytest.approx(expected)]


def test_a_computed_share_is_a_percentage() -> None:
    share = Computation(name="n", what="margin", formula="a / b", unit="%")
    made = table(Value(0.318, unit="ratio"), "percent", computed=[share])
    assert made.data["sales"].tolist() == [pytest.approx(31.8)]


def test_a_scale_that_no_page_says_is_said() -> None:
    made = table(Value(5363.0, unit="USD"), "million USD")
    assert made.data["sales"].tolist() == [5363.0]
    assert made.notes == ["'million' of n is the plan's own word: its page names no scale"]


@pytest.mark.parametrize("cell", ["5,363", "{other}", "about 5"])
def test_a_number_of_the_model_is_a_problem(cell: str) -> None:
    assert "must be {name} of a number" in table(MILLION, "", [[cell]]).problems[0]


def test_rows_have_a_cell_a_column_and_there_is_one() -> None:
    assert table(MILLION, "", [["{n}", "2"]]).problems == ["row 1 has 2 cells, and the table 1 columns"]
    assert table(MILLION, "", []).problems == ["the table has no row"]


@pytest.mark.parametrize(
    ("kind", "cell", "problem"),
    [
        ("year", "FY 2022", ""),
        ("year", "last", "must be a year"),
        ("date", "2022-03-31", ""),
        ("date", "spring", "a date"),
    ],
)
def test_labels(kind: str, cell: str, problem: str) -> None:
    assert problem in " ".join(table(MILLION, "", [[cell]], kind=kind).problems)


def test_an_empty_cell_is_said() -> None:
    made = table(MILLION, "", [["{n}"], [""]])
    assert made.lacks == ["a row has no sales: it is left empty"]
    assert made.data["sales"].isna().tolist() == [False, True]
