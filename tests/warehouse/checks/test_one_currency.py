"""Amounts asked for in one currency, over the rows in it alone: said on the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE claims (who VARCHAR, ccy VARCHAR, amount DOUBLE);
INSERT INTO claims VALUES ('Ann', 'GBP', 10), ('Ann', 'EUR', 20), ('Bo', 'GBP', 5);
CREATE TABLE homely (who VARCHAR, ccy VARCHAR, amount DOUBLE);
INSERT INTO homely VALUES ('Ann', 'GBP', 10), ('Bo', 'GBP', 5);
"""
SELECT = "SELECT who, sum(amount) AS gbp FROM {} WHERE ccy = 'GBP' GROUP BY who"


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    path: Path = tmp_path_factory.mktemp("one") / "claims.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    with DuckDBWarehouse(path) as opened:
        yield opened


@pytest.mark.parametrize(
    "question", ["top claimants in pounds", "what did we claim in Sterling, by person?", "claims by person in £"]
)
def test_rows_in_other_currencies_that_are_left_out_are_said(claims: DuckDBWarehouse, question: str) -> None:
    notes = Checks(claims, question=question).run(SELECT.format("claims"), "f", answers=True, unit="GBP").notes
    assert "ccy = 'GBP' leaves out rows in other currencies" in notes


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("sterling claims only, by person, in pounds", "claims"),
        ("what do the claims in GBP come to, by person?", "claims"),
        ("what was claimed, by person?", "claims"),
        ("how much was claimed in GBP, by person?", "claims"),
        ("top claimants in pounds", "homely"),
    ],
)
def test_what_asks_for_them_or_leaves_out_none_passes(claims: DuckDBWarehouse, question: str, table: str) -> None:
    notes = Checks(claims, question=question).run(SELECT.format(table), "f", answers=True, unit="GBP").notes
    assert not any("leaves out rows in other currencies" in note for note in notes)
