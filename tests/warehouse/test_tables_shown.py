"""Of a schema with many tables a prompt shows those that the question may need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse
from finexpert.warehouse.tables_shown import SHOWN

# With so many columns there is room for the least number of tables alone.
COLUMNS = 40
TOPICS = ("loans", "deposits", "trades", "branches", "employees", "cards", "claims", "premiums", "taxes", "rents")


@pytest.fixture
def many(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DuckDBWarehouse]:
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    data = pd.DataFrame({"amount": [1.0], **{f"further_column_{number}": [0.0] for number in range(COLUMNS)}})
    tables = [
        Table(f"{topic}_{year}", data, comment=f"{topic} of {year}") for topic in TOPICS for year in range(2018, 2024)
    ]
    with DuckDBWarehouse(build_warehouse(tmp_path / "many.duckdb", tables)) as warehouse:
        yield warehouse


def test_a_question_is_shown_its_tables_and_how_many_more_there_are(many: DuckDBWarehouse) -> None:
    card = many.schema_card(question="How much did we pay in claims in 2021?")
    assert card.count("\ntable ") + 1 == SHOWN
    assert "table claims_2021" in card
    assert f"({len(TOPICS) * 6 - SHOWN} more tables are not shown)" in card


def test_where_there_is_room_all_are_shown(tmp_path: Path, own_home: Path) -> None:
    # Names that say nothing in the question's language.
    names = ["AUFTRAG", "AUFTRAGPOS", "KUNDADR", "ZAHLUNG", *(f"T{number}" for number in range(30))]
    tables = [Table(name, pd.DataFrame({"LFDNR": [1], "MENGE": [2.0]})) for name in names]
    with DuckDBWarehouse(build_warehouse(tmp_path / "erp.duckdb", tables)) as warehouse:
        card = warehouse.schema_card(question="How many customers live in Munich?")
    assert card.count("table ") == len(names)
    assert "not shown" not in card


def test_without_a_question_all_are_shown(many: DuckDBWarehouse) -> None:
    assert many.schema_card().count("table ") >= len(TOPICS) * 6
    assert "not shown" not in many.schema_card()


def test_samples_are_of_the_tables_shown(many: DuckDBWarehouse) -> None:
    card = many.schema_card("samples", "How much did we pay in claims in 2021?")
    assert card.count("<rows") == SHOWN


def test_what_is_not_shown_can_still_be_asked_for(many: DuckDBWarehouse) -> None:
    assert many.query("SELECT amount FROM rents_2018").data["amount"].item() == 1.0
