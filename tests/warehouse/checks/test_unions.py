"""Rows that a UNION takes twice, or that DISTINCT and UNION drop, before they are added up."""

from __future__ import annotations

import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE fees (fee_id INTEGER PRIMARY KEY, account_id INTEGER, kind VARCHAR, year INTEGER, fee DOUBLE, paid_by INTEGER, paid_to INTEGER);
INSERT INTO fees VALUES (1, 1, 'A', 2022, 5, 1, 2), (2, 1, 'A', 2022, 5, 1, 3), (3, 1, 'B', 2023, 7, 2, 1), (4, 2, 'A', 2023, 5, 3, 1), (5, 2, 'B', 2022, 9, 2, 2);
CREATE TABLE accounts (account_id INTEGER PRIMARY KEY, client VARCHAR, credit DOUBLE);
INSERT INTO accounts VALUES (1, 'x', 100), (2, 'y', 100), (3, 'z', 100);
CREATE TABLE cards (card_id INTEGER PRIMARY KEY, client VARCHAR, client_limit DOUBLE);
INSERT INTO cards VALUES (1, 'x', 100), (2, 'x', 100), (3, 'y', 50);
CREATE TABLE payments (ref VARCHAR, paid DOUBLE);
INSERT INTO payments VALUES ('a', 1), ('a', 1), ('b', 2);
"""


@pytest.mark.parametrize("select", [
    "SELECT sum(fee) FROM (SELECT fee FROM fees WHERE kind = 'A' UNION ALL SELECT fee FROM fees WHERE year = 2022)",
    "SELECT count(*) FROM (SELECT fee_id FROM fees f WHERE f.kind = 'A' UNION ALL SELECT fee_id FROM fees g WHERE g.year = 2022)",
    "WITH u AS (SELECT account_id, fee FROM fees WHERE kind = 'B' UNION ALL SELECT account_id, fee FROM fees) SELECT account_id, sum(fee) FROM u GROUP BY 1",
    "SELECT sum(fee) FROM (SELECT 'a' AS k, fee FROM fees WHERE kind = 'A' UNION ALL SELECT 'b', fee FROM fees WHERE year = 2022)",
    "SELECT sum(n) FROM (SELECT count(*) AS n FROM fees WHERE kind = 'A' UNION ALL SELECT count(*) AS n FROM fees WHERE year = 2022)",
    "WITH t AS (SELECT * FROM fees) SELECT avg(fee) FROM (SELECT fee FROM t WHERE fee > 5 UNION ALL SELECT fee FROM t WHERE fee > 6)",
    ("SELECT sum(fee) FROM (SELECT f.fee FROM fees f JOIN accounts a ON a.account_id = f.account_id WHERE f.kind = 'A' UNION ALL"
    " SELECT f.fee FROM fees f JOIN accounts a ON a.account_id = f.account_id WHERE a.client = 'x')"),
    "SELECT sum(fee) FROM (SELECT fee FROM fees WHERE kind = 'B' UNION ALL SELECT fee FROM fees WHERE kind = 'A' UNION ALL SELECT fee FROM fees WHERE year = 2022)",
])  # fmt: skip
def test_rows_that_count_twice_go_back(source: DuckDBWarehouse, select: str) -> None:
    with pytest.raises(QueryError, match="adds up rows twice"):
        Checks(source).run(select)


@pytest.mark.parametrize("select", [
    "SELECT sum(fee) FROM (SELECT fee FROM fees WHERE kind = 'A' UNION ALL SELECT fee FROM fees WHERE kind = 'B')",
    "SELECT paid, sum(fee) FROM (SELECT paid_by AS paid, fee FROM fees UNION ALL SELECT paid_to, -fee FROM fees) GROUP BY paid",
    "SELECT count(*) FROM (SELECT paid_by FROM fees UNION ALL SELECT paid_to FROM fees)",
    "SELECT k, sum(fee) FROM (SELECT 'all' AS k, fee FROM fees UNION ALL SELECT 'a', fee FROM fees WHERE kind = 'A') GROUP BY k",
    "SELECT sum(amount) FROM (SELECT fee AS amount FROM fees UNION ALL SELECT credit FROM accounts)",
    "SELECT count(DISTINCT fee_id) FROM (SELECT fee_id FROM fees WHERE kind = 'A' UNION ALL SELECT fee_id FROM fees WHERE year = 2022)",
    "SELECT max(fee) FROM (SELECT fee FROM fees WHERE kind = 'A' UNION ALL SELECT fee FROM fees WHERE year = 2022)",
])  # fmt: skip
def test_rows_that_count_once_pass(source: DuckDBWarehouse, select: str) -> None:
    assert Checks(source).run(select).notes == ()


@pytest.mark.parametrize("select", [
    "SELECT sum(fee) FROM (SELECT DISTINCT fee FROM fees)",
    "SELECT sum(fee) FROM (SELECT DISTINCT account_id, fee FROM fees)",
    "SELECT account_id, avg(fee) FROM (SELECT account_id, fee FROM fees GROUP BY account_id, fee) GROUP BY account_id",
    "SELECT sum(fee) FROM (SELECT account_id, fee FROM fees WHERE kind = 'A' UNION SELECT account_id, fee FROM fees WHERE kind = 'B')",
    "SELECT sum(credit) FROM (SELECT DISTINCT a.credit FROM accounts a JOIN fees f ON f.account_id = a.account_id)",
    "SELECT sum(n) FROM (SELECT count(*) AS n FROM accounts UNION SELECT count(*) FROM payments)",
    "WITH d AS (SELECT DISTINCT account_id, fee FROM fees) SELECT sum(fee) FROM d",
])  # fmt: skip
def test_equal_rows_that_are_lost_go_back(source: DuckDBWarehouse, select: str) -> None:
    with pytest.raises(QueryError, match="counts equal rows once"):
        Checks(source).run(select)


@pytest.mark.parametrize(("select", "notes"), [
    ("SELECT sum(fee) FROM (SELECT DISTINCT fee_id, fee FROM fees)", []),
    ("SELECT sum(credit) FROM (SELECT DISTINCT a.account_id, a.credit FROM accounts a JOIN fees f ON f.account_id = a.account_id)", []),
    ("SELECT sum(fee) FROM (SELECT fee_id, fee FROM fees WHERE kind = 'A' UNION SELECT fee_id, fee FROM fees WHERE year = 2022)", []),
    ("SELECT count(*) FROM (SELECT DISTINCT account_id FROM fees)", []),
    ("SELECT sum(paid) FROM (SELECT DISTINCT ref, paid FROM payments)", ["rows that are equal in ref, paid count once in SUM(paid)"]),
    ("SELECT sum(client_limit) FROM (SELECT DISTINCT client, client_limit FROM cards)", ["rows that are equal in client, client_limit count once in SUM(client_limit)"]),
    ("SELECT avg(total) FROM (SELECT account_id, sum(fee) AS total FROM fees GROUP BY account_id)", []),
])  # fmt: skip
def test_what_is_one_row_a_key_passes(source: DuckDBWarehouse, select: str, notes: list[str]) -> None:
    assert list(Checks(source).run(select).notes) == notes
