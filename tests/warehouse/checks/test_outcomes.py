"""Rows of what failed or was cancelled: said where the question asks for what came about, sent back once where an owner says that they do not count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.semantic_model.document import Dataset, FieldModel, SemanticModel, extension

TABLES = """
CREATE TABLE payments (payment_id INTEGER PRIMARY KEY, merchant_id INTEGER, status VARCHAR, amount DOUBLE);
INSERT INTO payments SELECT i, i % 3, ['PAID', 'DECLINED', 'PENDING', 'CANCELLED_BY_USER'][1 + i % 4], i FROM range(1, 41) t(i);
CREATE TABLE merchants (merchant_id INTEGER PRIMARY KEY, state VARCHAR);
INSERT INTO merchants VALUES (0, 'CA'), (1, 'NY'), (2, 'TX');
CREATE TABLE loads (load_id INTEGER, load_status VARCHAR, n INTEGER);
INSERT INTO loads VALUES (1, 'OK', 5), (2, 'TEST', 7), (3, 'duplicate', 5);
"""
ALSO = "SUM(amount) counts rows of every payments.status, also 'CANCELLED_BY_USER', 'DECLINED'"
LOADS = "SUM(n) counts rows of every loads.load_status, also 'TEST', 'duplicate'"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("outcomes") / "outcomes.duckdb"
    with duckdb.connect(str(made)) as connection:
        connection.execute(TABLES)
    return made


@pytest.fixture(scope="module")
def source(path: Path) -> Iterator[DuckDBWarehouse]:
    with DuckDBWarehouse(path, isolated=False) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "select", "notes"),
    [
        ("How much was paid?", "SELECT sum(amount) FROM payments", [ALSO]),
        ("How much did each merchant earn?", "SELECT p.merchant_id, sum(amount) AS s FROM payments p JOIN merchants m USING (merchant_id) GROUP BY 1 ORDER BY 1", [ALSO]),
        ("How much was paid?", "SELECT sum(amount) FROM payments WHERE status = 'PAID'", []),
        ("How much was paid?", "SELECT sum(amount) FILTER (WHERE status = 'PAID') FROM payments", []),
        ("How many payments are there?", "SELECT count(*) FROM payments", []),
        ("How many merchants received something?", "SELECT count(*) FROM merchants WHERE merchant_id IN (SELECT merchant_id FROM payments)", []),
        ("What was sold in each state?", "SELECT count(*) FROM merchants", []),
        ("How many rows were loaded?", "SELECT sum(n) FROM loads", [LOADS]),
        ("How many rows were loaded?", "SELECT sum(n) FROM loads WHERE load_status = 'OK'", []),
    ],
)  # fmt: skip
def test_what_did_not_come_about_is_said(source: DuckDBWarehouse, question: str, select: str, notes: list[str]) -> None:
    assert list(Checks(source, question=question).run(select).notes) == notes


def test_what_an_owner_does_not_count_is_sent_back_once_and_stands_in_the_card(path: Path) -> None:
    field = FieldModel(name="status", custom_extensions=[extension({"not_counted": ["DECLINED"]})])
    model = SemanticModel(name="desk", datasets=[Dataset(name="payments", fields=[field])])
    with DuckDBWarehouse(path, isolated=False, model=model) as told:
        assert "status VARCHAR: rows of 'DECLINED' do not count unless they are asked for" in told.schema_card()
        checks = Checks(told, question="How many payments are there?")
        with pytest.raises(
            QueryError, match="also 'DECLINED', which do not count here: leave them out, unless the question asks"
        ):
            checks.run("SELECT count(*) FROM payments")
        # Whoever means all of them writes it again, and the person is told.
        assert checks.run("SELECT count(*) FROM payments").notes == (
            "COUNT(*) counts rows of every payments.status, also 'DECLINED'",
        )
        assert checks.run("SELECT count(*) FROM payments WHERE status <> 'DECLINED'").notes == ()
