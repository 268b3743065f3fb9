"""Reading a file of company facts: what counts, what is left out, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.edgar.facts import read_facts
from finexpert.datasets.edgar.vintages import with_basis
from finexpert.errors import DataError

YEAR = ("2021-01-01", "2021-12-31")
New = Callable[[int, str], Any]


def values(filer: Any, folder: Path) -> list[float]:
    return [fact.value for fact in read_facts(filer.write(folder)).facts]


def test_a_file_in_full(new_filer: New, tmp_path: Path) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2022-02-01", 2021, "FY", ("Revenues", *YEAR, 5e6), ("Assets", None, "2021-12-31", 9e6, "EUR"))
    facts = read_facts(filer.write(tmp_path))
    assert (facts.cik, facts.name) == (7, "Cedar Inc.")
    assert [(one.name, one.label, one.definition) for one in facts.concepts] == [
        ("us-gaap:Revenues", "Revenues label", "What Revenues is."),
        ("us-gaap:Assets", "Assets label", "What Assets is."),
    ]
    sales, assets = facts.facts
    assert (sales.figure.unit, sales.figure.days, sales.figure.is_additive) == ("USD", 365, True)
    assert (assets.figure.unit, assets.figure.days, assets.figure.is_additive) == ("EUR", 0, False)


@pytest.mark.parametrize("form", ["DEF 14A", "S-1", "424B4", "10-D", "SD"])
def test_what_is_no_periodic_report_is_left_out(new_filer: New, tmp_path: Path, form: str) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2022-02-01", 2021, "FY", ("Revenues", *YEAR, 5e6))
    filer.file(form, "2022-03-01", 2021, "FY", ("Revenues", *YEAR, 5))
    facts = read_facts(filer.write(tmp_path))
    assert [fact.value for fact in facts.facts] == [5e6]
    assert facts.left_out == {"of no periodic report": 1}


def test_a_text_that_rounds_gives_way_to_the_statement(new_filer: New, tmp_path: Path) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2022-02-01", 2021, "FY", ("Revenues", *YEAR, 1.2e9), ("Revenues", *YEAR, 1_234_567_000))
    assert values(filer, tmp_path) == [1_234_567_000]


def test_what_a_filing_contradicts_itself_is_left_out(new_filer: New, tmp_path: Path) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2022-02-01", 2021, "FY", ("Revenues", *YEAR, 1_234e6), ("Revenues", *YEAR, 1_334e6))
    filer.file("10-K", "2023-02-01", 2022, "FY", ("EarningsPerShareDiluted", *YEAR, 5.1, "USD/shares"),
               ("EarningsPerShareDiluted", *YEAR, 5.11, "USD/shares"))  # fmt: skip
    facts = read_facts(filer.write(tmp_path))
    assert facts.facts == []
    assert facts.left_out == {"contradicted in its own filing": 4}


def test_periods_that_cannot_be_are_left_out(new_filer: New, tmp_path: Path) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2022-02-01", 2021, "FY", ("Revenues", "2021-01-01", "2212-12-31", 1e6),
               ("Revenues", "2021-12-31", "2021-01-01", 1e6), ("Revenues", *YEAR, 2e6),
               ("dei:EntityCommonStockSharesOutstanding", None, "2022-02-02", 5, "shares"))  # fmt: skip
    facts = read_facts(filer.write(tmp_path))
    assert sorted(fact.value for fact in facts.facts) == [5, 2e6]
    assert facts.left_out == {"period ends after the filing": 1, "period ends before it starts": 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"val": "much"}, "facts.us-gaap.Revenues.units.USD.0.val"),
        ({"val": float("nan")}, "facts.us-gaap.Revenues.units.USD.0.val"),
        ({"end": "2021-13-31"}, "facts.us-gaap.Revenues.units.USD.0.end"),
        ({"accn": "none"}, "facts.us-gaap.Revenues.units.USD.0.accn"),
        ({"filed": None}, "facts.us-gaap.Revenues.units.USD.0.filed"),
    ],
)
def test_a_damaged_fact_is_named(new_filer: New, tmp_path: Path, change: dict[str, Any], said: str) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2022-02-01", 2021, "FY", ("Revenues", *YEAR, 5e6))
    filer.content["facts"]["us-gaap"]["Revenues"]["units"]["USD"][0] |= change
    path = filer.write(tmp_path)
    with pytest.raises(DataError, match=rf"CIK0000000007.json, {said}.*finexpert data edgar --refresh"):
        read_facts(path)


@pytest.mark.parametrize("text", ["", "<html>", "[]", json.dumps({"cik": 7, "entityName": "x"})])
def test_a_file_of_another_form_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "CIK0000000007.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"CIK0000000007.json.*finexpert data edgar --refresh"):
        read_facts(path)


def bases(filer: Any, folder: Path) -> list[tuple[float, int, bool]]:
    return [
        (one.fact.value / 1e6, one.basis, one.restates) for one in with_basis(read_facts(filer.write(folder)).facts)
    ]


def test_a_filing_that_changes_earlier_values_starts_a_new_basis(new_filer: New, tmp_path: Path) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2021-02-01", 2020, "FY", ("Revenues", "2020-01-01", "2020-12-31", 100e6))
    filer.file(
        "10-K", "2022-02-01", 2021, "FY", ("Revenues", *YEAR, 120e6), ("Revenues", "2020-01-01", "2020-12-31", 90e6)
    )
    filer.file("10-K", "2023-02-01", 2022, "FY", ("Revenues", *YEAR, 120e6))
    assert sorted(bases(filer, tmp_path)) == [(90, 1, True), (100, 0, False), (120, 1, False), (120, 1, False)]


def test_a_later_text_that_rounds_restates_nothing(new_filer: New, tmp_path: Path) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2022-02-01", 2021, "FY", ("Revenues", *YEAR, 1_234_567_000))
    filer.file("10-Q", "2022-05-01", 2022, "Q1", ("Revenues", *YEAR, 1_230_000_000))
    assert bases(filer, tmp_path) == [(1234.567, 0, False)]


def test_an_amendment_and_a_round_number_restate(new_filer: New, tmp_path: Path) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2022-02-01", 2021, "FY", ("Revenues", *YEAR, 96e6), ("NetIncomeLoss", *YEAR, 1_234e6))
    filer.file("10-K/A", "2022-05-01", 2021, "FY", ("NetIncomeLoss", *YEAR, 1_200e6))
    filer.file("10-K", "2023-02-01", 2022, "FY", ("Revenues", *YEAR, 100e6))
    assert [one for one in bases(filer, tmp_path) if one[2]] == [(100, 1, True), (1200, 1, True)]
