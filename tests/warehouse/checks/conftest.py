"""A small brokerage with what makes a SELECT wrong in silence: codes, cases, several rows a key, gaps, currencies, dates as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from finexpert.warehouse.checks.checked import Checked, Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE accounts (account_id INTEGER PRIMARY KEY, segment VARCHAR, region VARCHAR, balance DOUBLE, opened_on DATE);
INSERT INTO accounts VALUES (1, 'institutional', 'EMEA', 100, '2019-01-01'), (2, 'retail', 'EMEA', 50, '2020-05-01'),
  (3, 'retail', 'AMER', 25, '2021-01-01'), (4, 'private bank', 'APAC', NULL, '2022-01-01');
CREATE TABLE symbols (symbol VARCHAR, asset_class VARCHAR, rating VARCHAR);
INSERT INTO symbols VALUES ('AAA', 'equity', 'A'), ('BBB', 'bond', 'a'), ('BBB', 'bond', 'B'), ('CCC', 'fund', 'b');
CREATE TABLE trades (trade_id INTEGER, account_id INTEGER, symbol VARCHAR, status VARCHAR, side VARCHAR, amount DOUBLE,
  currency VARCHAR, lots DOUBLE, executed_at TIMESTAMP, settle_date DATE, booked_dt VARCHAR, shown_date VARCHAR, units VARCHAR);
INSERT INTO trades VALUES
  (1, 1, 'AAA', 'FILLED', 'BUY', 10, 'USD', 1, '2023-01-10 10:00', '2023-01-12', '20230110', '10/01/2023', '9'),
  (2, 1, 'BBB', 'FILLED', 'SELL', 20, 'EUR', 2, '2023-02-10 10:00', '2023-02-12', '20230210', '10/02/2023', '10'),
  (3, 2, 'AAA', 'CANCELLED', 'BUY', 30, 'USD', 3, '2023-03-10 10:00', '2023-03-12', '20230310', '10/03/2023', '100'),
  (4, 3, 'CCC', 'FILLED', 'BUY', 40, 'USD', 4, '2024-01-10 10:00', '2024-01-25', '20240110', '25/01/2024', '7'),
  (5, 3, NULL, 'Pending ', 'SELL', 50, 'EUR', NULL, '2024-02-10 10:00', '2024-02-12', '20240210', '10/02/2024', '8');
CREATE TABLE fees (account_id INTEGER, fee_date DATE, amount_usd DOUBLE, kind VARCHAR);
INSERT INTO fees VALUES (1, '2023-01-31', 5, 'custody'), (1, '2023-02-28', 5, 'custody'), (2, '2023-01-31', 7, 'advisory');
CREATE TABLE notes (note VARCHAR);
CREATE TABLE terms (account_id INTEGER PRIMARY KEY, discount_pct DOUBLE, tax_rate DOUBLE);
INSERT INTO terms VALUES (1, 0, 0.19), (2, 5, 0.07), (3, 25, 0);
CREATE TABLE bonds (bond_id INTEGER PRIMARY KEY, maturity_date DATE);
INSERT INTO bonds VALUES (1, '2031-01-01');
CREATE TABLE covers (account_id INTEGER, valid_from DATE, valid_to DATE, fee DOUBLE, PRIMARY KEY (account_id, valid_from));
INSERT INTO covers VALUES (1, '2022-01-01', '2023-03-01', 5), (1, '2023-03-01', '9999-12-31', 7), (2, '2022-06-01', NULL, 9);
CREATE TABLE region_months (region VARCHAR, month_end DATE, income DOUBLE, income_ytd DOUBLE, headcount INTEGER, PRIMARY KEY (region, month_end));
INSERT INTO region_months VALUES ('EMEA', '2023-01-31', 5, 5, 3), ('EMEA', '2023-02-28', 4, 9, 4), ('AMER', '2023-01-31', 2, 2, 1), ('AMER', '2023-02-28', 1, 3, 1);
"""

Run = Callable[..., Checked]


@pytest.fixture(scope="session")
def brokerage_tables() -> str:
    """The brokerage as statements that every engine reads, but for the names of types."""
    return TABLES


@pytest.fixture(scope="session")
def brokerage_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("brokerage") / "brokerage.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    return path


@pytest.fixture(scope="module")
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    """The `TABLES` of a file of tests, opened in this process."""
    path = tmp_path_factory.mktemp("tables") / "tables.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(request.module.TABLES)
    with DuckDBWarehouse(path, isolated=False) as opened:
        yield opened


@pytest.fixture(scope="session")
def brokerage(brokerage_file: Path) -> Iterator[DuckDBWarehouse]:
    with DuckDBWarehouse(brokerage_file, row_cap=4) as opened:
        yield opened


@pytest.fixture
def run(brokerage: DuckDBWarehouse) -> Run:
    """Runs a SELECT through the checks of one question."""

    def run(select: str, **given: Any) -> Checked:
        return Checks(brokerage, **given).run(select)

    return run
