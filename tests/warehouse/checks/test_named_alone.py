"""A pattern that meets the value that a question names and others beside it, and texts inside functions that are looked up."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import UnknownValue
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE bank (booked DATE, payer VARCHAR, amount DOUBLE);
INSERT INTO bank SELECT DATE '2024-01-01' + i::INTEGER, ['HYDRO SUED GMBH', 'HYDRO SUED SERVICE GMBH', 'Shell Energy', NULL, 'retail', 'Online Retail'][1 + i % 6], 10 FROM range(0, 120) t(i);
INSERT INTO bank VALUES ('2024-06-01', 'Claire Dubois', 10), ('2024-06-02', 'DUBOIS, Claire', 10);
"""
NAMED = "How much did Hydro Süd GmbH pay?"
PATTERNS = [
    "payer ILIKE '%hydro%'",
    "lower(payer) LIKE 'hydro sued%'",
    "regexp_matches(lower(nfc_normalize(coalesce(payer, ''))), 'hydro[ -]*s(ü|ue|u)d')",
    "coalesce(payer, '') ILIKE '%sued%'",
]


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    path: Path = tmp_path_factory.mktemp("named") / "bank.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    with DuckDBWarehouse(path) as opened:
        yield opened


def run(bank: DuckDBWarehouse, where: str, question: str) -> list[str]:
    checks = Checks(bank, dt.date(2024, 12, 31), True, question=question)
    return list(checks.run(f"SELECT sum(amount) AS paid FROM bank WHERE {where}", "f", answers=True, unit="EUR").notes)


@pytest.mark.parametrize("where", PATTERNS)
def test_which_is_meant_is_asked(bank: DuckDBWarehouse, where: str) -> None:
    with pytest.raises(UnknownValue) as raised:
        run(bank, where, NAMED)
    assert raised.value.values == ("HYDRO SUED GMBH", "all of them", "HYDRO SUED SERVICE GMBH")
    assert "Is 'HYDRO SUED GMBH' meant alone, or all of them?" in raised.value.question
    assert "SERVICE" not in str(raised.value)


def test_conditions_beside_a_pattern_see_what_a_select_below_made(bank: DuckDBWarehouse) -> None:
    below = "(SELECT lower(payer) AS p, amount FROM bank)"
    with pytest.raises(UnknownValue, match=r"the question names a value of bank\.payer itself"):
        Checks(bank, question=NAMED).run(
            f"SELECT sum(amount) AS paid FROM {below} WHERE p LIKE '%hydro%' AND p LIKE '%sued%'", "f"
        )


@pytest.mark.parametrize(
    ("where", "question"),
    [
        ("payer ILIKE 'shell%'", "What did shell energy take?"),
        ("payer ILIKE '%retail%'", "What did retail pay?"),
        *((where, "How much did all companies like Hydro Süd GmbH pay?") for where in PATTERNS),
        *((where, "How much did Hydro Süd pay?") for where in PATTERNS),
        ("payer = 'HYDRO SUED GMBH'", NAMED),
        ("regexp_matches(lower(payer), 'claire')", "What did Claire Dubois pay?"),
        ("payer ILIKE '%hydro%' AND regexp_matches(lower(payer), 'sued gmbh')", NAMED),
        ("payer = 'HYDRO SUED GMBH' GROUP BY payer ORDER BY CASE WHEN payer ILIKE '%hydro%' THEN 0 ELSE 1 END", NAMED),
        ("payer ILIKE 'hydro sued gmbh'", NAMED),
        ("payer NOT ILIKE '%hydro%'", "How much was paid, without Hydro Süd GmbH?"),
        ("payer ILIKE '%hydro%'", "What did Hydro Süd GmbH and Hydro Süd Service GmbH pay?"),
    ],
)
def test_what_names_none_or_all_is_not(bank: DuckDBWarehouse, where: str, question: str) -> None:
    run(bank, where, question)


@pytest.mark.parametrize(("said", "paid"), [("HYDRO SUED GMBH", 200.0), ("all of them", 400.0)])
@pytest.mark.parametrize(
    "side", ["payer ILIKE", "lower(payer) LIKE", "lower(coalesce(payer, '')) LIKE", "upper(trim(payer)) ILIKE"]
)
def test_what_a_person_said_holds_and_is_not_asked_again(
    bank: DuckDBWarehouse, side: str, said: str, paid: float
) -> None:
    checks = Checks(bank, dt.date(2024, 12, 31), True, chosen={"bank.payer=%hydro%": said}, question=NAMED)
    checked = checks.run(f"SELECT sum(amount) AS paid FROM bank WHERE {side} '%hydro%'", "f", answers=True, unit="EUR")
    assert checked.frame.data["paid"].item() == paid


@pytest.mark.parametrize(
    "where",
    [
        "regexp_matches(lower(coalesce(payer, '')), 'hydra')",
        "strip_accents(lower(payer)) = 'hydra'",
        "replace(payer, ' ', '') IN ('HYDRAGMBH', 'HYDRA')",
    ],
)
def test_a_text_in_a_function_that_is_nowhere_goes_back(bank: DuckDBWarehouse, where: str) -> None:
    with pytest.raises(UnknownValue, match="no value is like"):
        run(bank, where, "How much did Hydra pay?")


@pytest.mark.parametrize(
    "where",
    [
        "strip_accents(lower(payer)) = 'shell energy'",
        "replace(payer, ' ', '') IN ('ShellEnergy', 'Shell')",
        "coalesce(payer, 'none') = 'none'",
        "coalesce(payer, '') NOT ILIKE '%total%'",
        "NOT regexp_matches(lower(coalesce(payer, '')), 'total|sum')",
    ],
)
def test_a_text_in_a_function_that_is_met_or_a_caution_passes(bank: DuckDBWarehouse, where: str) -> None:
    run(bank, where, "How much was paid?")
