"""Whether one thing has several rows is told of many rows by some of them, and is found once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.checks.reading import probing
from finexpert.warehouse.checks.remarks import grain
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

# Shipments have a row each but for those of a few orders, which lie far from each other; `code` is the order as a text.
TABLES = """CREATE TABLE shipments AS
    SELECT i AS line, CASE WHEN i >= 19900 THEN i - 19900 ELSE i END AS order_id, 'o' || i AS code_id, DATE '2024-01-01' + (i % 300)::INTEGER AS sent_on, 2 AS weight
    FROM range(20000) AS numbers(i)"""
NOTE = "AVG(weight) takes each row of shipments as one, and one order_id has several rows"
QUESTION = "What is the average weight per order?"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the checks ask of the warehouse."""
    told: list[str] = []
    once = probing.Probe._asked

    def kept(self: probing.Probe, sql: str) -> object:
        told.append(sql)
        return once(self, sql)

    monkeypatch.setattr(probing.Probe, "_asked", kept)
    return told


@pytest.fixture
def shipments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DuckDBWarehouse]:
    """A table that is large as things go here."""
    monkeypatch.setattr(grain, "FIRST_ROWS", 1_000)
    monkeypatch.setattr(grain, "_WHOLE", 10_000)
    with duckdb.connect(str(tmp_path / "sent.duckdb")) as connection:
        connection.execute(TABLES)
    with DuckDBWarehouse(tmp_path / "sent.duckdb") as source:
        yield source


def test_what_repeats_far_apart_is_found(shipments: DuckDBWarehouse, asked: list[str]) -> None:
    assert Checks(shipments, question=QUESTION).run("SELECT avg(weight) FROM shipments").notes == (NOTE,)
    assert [sql for sql in asked if "% 17" in sql]


def test_what_repeats_in_the_first_rows_is_looked_for_no_further(shipments: DuckDBWarehouse, asked: list[str]) -> None:
    select = "SELECT avg(weight) FROM shipments WHERE line < 100 OR line > 19899"
    assert Checks(shipments, question=QUESTION).run(select).notes == (NOTE,)
    asked.clear()
    select = "SELECT avg(weight) FROM shipments WHERE line < 99 OR line > 19899"
    assert Checks(shipments, question=QUESTION).run(select).notes == (NOTE,)
    assert not [sql for sql in asked if "% 17" in sql]


def test_what_a_condition_leaves_one_row_of_is_not_told(shipments: DuckDBWarehouse) -> None:
    assert Checks(shipments, question=QUESTION).run("SELECT avg(weight) FROM shipments WHERE line < 19000").notes == ()


def test_what_is_there_once_is_looked_for_once(shipments: DuckDBWarehouse, asked: list[str]) -> None:
    question = "What is the average weight per code?"
    for month in (1, 2, 3):
        asked.clear()
        select = f"SELECT avg(weight) FROM shipments WHERE sent_on >= DATE '2024-0{month}-01'"
        assert Checks(shipments, question=question).run(select).notes == ()
        assert bool([sql for sql in asked if "GROUP BY" in sql]) is (month == 1)
