"""Keys and forms of dates that no catalogue says: proposed by names, decided by a few values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

Open = Callable[[str], DuckDBWarehouse]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    def make(statements: str) -> DuckDBWarehouse:
        path = tmp_path / "tables.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(statements)
        return DuckDBWarehouse(path, isolated=False)

    return make


def keys(warehouse: DuckDBWarehouse, table: str) -> list[str]:
    found = next(one for one in warehouse.tables if one.name == table)
    return [f"{key.columns[0]} -> {key.table}.{key.referred[0]}" for key in found.foreign_keys]


@pytest.mark.parametrize(
    ("columns", "values", "found"),
    [
        ("account_id INT", "(1), (2), (1)", ["account_id -> accounts.account_id"]),
        ("account_id INT", "(1), (9)", []),  # a value that is not there
        ("account_id INT", "(NULL)", []),  # nothing to go by
        ("account_no INT", "(1)", []),  # no such column there
        ("status_id INT", "(1)", []),
    ],
)
def test_a_foreign_key_is_inferred_by_name_and_inclusion(
    opened: Open, columns: str, values: str, found: list[str]
) -> None:
    statements = f"""CREATE TABLE accounts (account_id INT, n INT); INSERT INTO accounts VALUES (1, 5), (2, 5);
        CREATE TABLE trades (trade_id INT, {columns}); INSERT INTO trades SELECT 7, * FROM (VALUES {values})"""
    with opened(statements) as warehouse:
        assert keys(warehouse, "trades") == found
        shown = "-> accounts.account_id (inferred)" in warehouse.schema_card()
        assert shown == bool(found)


def test_what_is_not_unique_is_no_key(opened: Open) -> None:
    statements = """CREATE TABLE accounts (account_id INT, n INT); INSERT INTO accounts VALUES (1, 5), (1, 6);
        CREATE TABLE trades (trade_id INT, account_id INT); INSERT INTO trades VALUES (1, 1), (2, 1)"""
    with opened(statements) as warehouse:
        assert keys(warehouse, "trades") == []
        assert "key" not in warehouse.schema_card().split("table trades")[0]
        assert "table trades: key trade_id (inferred)" in warehouse.schema_card()


def test_declared_keys_are_taken_as_they_are(opened: Open) -> None:
    statements = """CREATE TABLE accounts (id INT PRIMARY KEY, code VARCHAR UNIQUE);
        CREATE TABLE trades (a INT REFERENCES accounts (id), b INT, c INT, PRIMARY KEY (b, c))"""
    with opened(statements) as warehouse:
        assert keys(warehouse, "trades") == ["a -> accounts.id"]
        trades = next(one for one in warehouse.tables if one.name == "trades")
        accounts = next(one for one in warehouse.tables if one.name == "accounts")
        assert (trades.primary_key, accounts.keys) == (("b", "c"), (("id",), ("code",)))
        assert "inferred" not in warehouse.schema_card()


def test_id_and_ticker_point_to_their_tables(opened: Open) -> None:
    statements = """CREATE TABLE companies (ticker VARCHAR, name VARCHAR); INSERT INTO companies VALUES ('A', 'x'), ('B', 'y');
        CREATE TABLE desks (id INT, name VARCHAR); INSERT INTO desks VALUES (1, 'x'), (2, 'y');
        CREATE TABLE prices (day DATE, ticker VARCHAR, desk_id INT); INSERT INTO prices VALUES ('2024-01-01', 'A', 1), ('2024-01-02', 'A', 2)"""
    with opened(statements) as warehouse:
        assert keys(warehouse, "prices") == ["ticker -> companies.ticker", "desk_id -> desks.id"]


@pytest.mark.parametrize(
    ("type_", "values", "kind"),
    [
        ("VARCHAR", ["2023-01-31", "2023-02-28T10:00"], "iso"),
        ("VARCHAR", ["20230131", "20230228"], "compact"),
        ("VARCHAR", ["31/01/2023", "28/02/2023"], "dmy"),
        ("VARCHAR", ["01/31/2023", "02/28/2023"], "mdy"),
        ("VARCHAR", ["01/02/2023", "02/03/2023"], ""),  # days or months first: it cannot be told
        ("VARCHAR", ["31-Jan-2023", "28-Feb-2023"], "day Mon year"),
        ("VARCHAR", ["2023-01", "2023-02"], "month"),
        ("VARCHAR", ["2023Q1", "2023Q2"], "quarter"),
        ("VARCHAR", ["soon", "2023-01-31"], ""),
        ("INTEGER", [20230131, 20230228], "yyyymmdd"),
        ("INTEGER", [2022, 2023], "year"),
        ("BIGINT", [1_700_000_000, 1_700_086_400], "unix"),
        ("BIGINT", [1_700_000_000_000], "unix ms"),
        ("DOUBLE", [2_460_000.5], "julian"),
    ],
)
def test_dates_in_texts_and_numbers_are_recognised_and_end_at_the_day(
    opened: Open, type_: str, values: list[object], kind: str
) -> None:
    rows = ", ".join(f"({value!r})" for value in values)
    with opened(f"CREATE TABLE t (booked_on {type_}); INSERT INTO t VALUES {rows}") as warehouse:
        (table,) = warehouse.tables
        assert table.columns[0].dates == kind
        assert (table.date.kind if table.date else "") == kind
        if kind:
            count = "SELECT count(*) AS n FROM t"
            assert warehouse.query(count, as_of=dt.date(2026, 1, 1)).data["n"].item() == len(values)
            assert warehouse.query(count, as_of=dt.date(2000, 1, 1)).data["n"].item() == 0
            assert warehouse.query(count, as_of=dt.date(2000, 1, 1), declared_only=True).data["n"].item() == len(values)
