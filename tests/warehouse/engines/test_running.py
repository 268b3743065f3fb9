"""ClickHouse and Spark for real: the answers of DuckDB in their own SQL, as-of, refusals, errors without values, nothing written."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
import sqlglot
from as_duckdb import compare

from finexpert.errors import NoRows, QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.engines.connections import engine_of
from finexpert.warehouse.engines.kinds import EngineLimits
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.warehouse import Warehouse

Address = Callable[[str], str]
DAYS = [None, dt.date(2023, 3, 31), dt.date(2019, 1, 1)]


@pytest.fixture(scope="session")
def loaded(running: Address, load_parquet: Callable[[Address, str, Path], None], small_file: Path) -> str:
    load_parquet(running, "fin", small_file)
    return running("fin")


@pytest.fixture(scope="session")
def database(loaded: str) -> Iterator[SQLWarehouse]:
    with SQLWarehouse(loaded, categories=["cpi.cpi_index"], date_columns={"firms": None}, seconds=60) as opened:
        yield opened


def test_tables_columns_types_and_comments_are_read(database: SQLWarehouse, warehouse: DuckDBWarehouse) -> None:
    protocol: Warehouse = database
    assert protocol.columns() == warehouse.columns()
    for own, other in zip(database.tables, warehouse.tables, strict=True):
        types = {"TIMESTAMP WITH TIME ZONE": "TIMESTAMP"}
        assert [types.get(one.type, one.type) for one in own.columns] == [one.type for one in other.columns], own.name
        assert [one.comment for one in own.columns] == [one.comment for one in other.columns]
        assert (own.comment, own.date_column) == (other.comment, other.date_column)


def test_a_condition_is_looked_up_and_a_zero_explained(database: SQLWarehouse) -> None:
    checked = Checks(database, seconds=60).run("SELECT count(*) AS n FROM cpi WHERE cpi_index = 'core cpi'")
    assert checked.frame.data["n"].item() == 60
    assert checked.notes == ("read 'core cpi' as 'Core CPI'",)
    with pytest.raises(NoRows, match="value > 1000000 matches no row"):
        Checks(database, seconds=60).run("SELECT count(*) AS n FROM cpi WHERE value > 1000000")


OUTSIDE = {
    "clickhouse": "SELECT lag(value) OVER (ORDER BY date) AS v FROM cpi WHERE cpi_index = 'CPI' ORDER BY date LIMIT 1",
    "spark": "SELECT sum(value) AS v FROM cpi WHERE date < DATE '1950-01-01'",
}


def test_nothing_is_null_and_not_zero(database: SQLWarehouse) -> None:
    assert database.query(OUTSIDE[database.dialect]).data["v"].isna().all()
    none = "SELECT sum(c.value) AS s, max(r.dff) AS m FROM cpi AS c LEFT JOIN rates AS r ON r.date = c.date AND r.dff > 99 WHERE c.date = DATE '2020-01-01'"
    assert database.query(none).data["m"].isna().all()


@pytest.mark.parametrize(("select", "said"), [
    ("SELECT valeu FROM cpi", 'no column "valeu" in cpi; nearest: value'),
    ("SELECT sum(CAST(symbol AS DOUBLE)) AS s FROM firms", "does not have the form"),
    ("SELECT max(CAST(symbol AS DATE)) AS s FROM firms", "does not have the form"),
])  # fmt: skip
def test_an_error_says_what_to_do_and_no_value(database: SQLWarehouse, select: str, said: str) -> None:
    with pytest.raises(QueryError, match=said) as caught:
        database.query(select)
    assert "ZQX" not in f"{caught.value} {caught.value.__cause__}"


ENDLESS = {
    "clickhouse": "SELECT count(*) AS n FROM cpi AS a, cpi AS b, cpi AS c, cpi AS d, cpi AS e WHERE a.value + b.value < c.value + d.value + e.value",
    "spark": "SELECT sum(id % 7) AS n FROM range(1000000000000)",
}


def test_a_statement_ends_with_its_time(loaded: str) -> None:
    with SQLWarehouse(loaded, seconds=1.5, row_cap=10) as opened:
        started = time.perf_counter()
        with pytest.raises(QueryError, match="longer than"):
            opened.query(ENDLESS[opened.dialect])
        assert time.perf_counter() - started < 30


def test_more_rows_than_the_cap_are_cut_and_said(loaded: str) -> None:
    with SQLWarehouse(loaded, seconds=60, row_cap=10) as opened:
        frame = opened.query("SELECT value FROM cpi ORDER BY value")
        assert (len(frame.data), frame.truncated) == (10, True)
        assert frame.data["value"].iloc[-1] == 254.5


def test_clickhouse_itself_forbids_to_write(clickhouse: Address, loaded: str) -> None:
    if not loaded.startswith("clickhouse"):
        pytest.skip("Spark has no session that only reads")
    engine, _ = engine_of(loaded, EngineLimits(5, 5))
    with engine.connect() as connection:
        for statement in ("DROP TABLE fin.cpi", "INSERT INTO fin.cpi SELECT * FROM fin.cpi", "SET readonly = 0"):
            with pytest.raises(sa.exc.DatabaseError, match=r"READONLY|readonly"):
                connection.exec_driver_sql(statement)
    engine.dispose()


@pytest.mark.parametrize("as_of", DAYS)
def test_a_select_gives_what_it_gives_over_a_duckdb_file(
    database: SQLWarehouse, warehouse: DuckDBWarehouse, as_of: dt.date | None, natively: list[dict[str, str]]
) -> None:
    for one in natively:
        expected = warehouse.query(one["duckdb"], as_of=as_of).data
        own = one.get(database.dialect) or sqlglot.transpile(one["duckdb"], read="duckdb", write=database.dialect)[0]
        compare(database.query(own, as_of=as_of).data, expected, own, kinds=False)
