"""A small warehouse with the traps of the real one: long and wide tables, gaps, a canary in a text column and in a number."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

from finexpert.sources.warehouse import DuckDBWarehouse, Table, build_warehouse
from finexpert.sources.warehouse_file import literal

MONTHS = pd.date_range("2020-01-01", "2024-12-01", freq="MS")


def small_tables() -> list[Table]:
    prices = pd.concat(
        pd.DataFrame({"date": MONTHS, "cpi_index": name, "value": [start + 0.5 * i for i in range(len(MONTHS))]})
        for name, start in (("CPI", 250.0), ("Core CPI", 260.0))
    )
    days = pd.date_range("2023-12-20", "2024-02-10", freq="D")
    rates = pd.DataFrame(
        {"date": days, "dff": [5.0 + i / 100 for i in range(len(days))], "dgs10": [None, 4.0] * 26 + [4.1]}
    )
    jobs = pd.DataFrame({"date": MONTHS, "unrate": 4.0, "unemploy": range(6000, 6000 + len(MONTHS))})
    firms = pd.DataFrame(
        {
            "symbol": ["ZQXCANARY1", "BBB"],
            "employees": [918273645, 20],
            "founded": pd.to_datetime(["1990-05-01", "2030-01-01"]),
        }
    )
    return [
        Table("cpi", prices, "Consumer prices", {"value": "index 1982-1984=100, monthly"}, ["cpi_index"], "date"),
        Table("rates", rates, "", {"dff": "percent, daily"}, (), "date"),
        Table("jobs", jobs, "Labour market", {"unemploy": "thousands of persons"}, (), "date"),
        Table("firms", firms),
    ]


@pytest.fixture(scope="session")
def small_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_warehouse(
        tmp_path_factory.mktemp("warehouse") / "small.duckdb", small_tables(), label="made-up numbers"
    )


@pytest.fixture(scope="session")
def warehouse(small_file: Path) -> Iterator[DuckDBWarehouse]:
    with DuckDBWarehouse(small_file) as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres(postgres_server: Callable[[], AbstractContextManager[Path]]) -> Iterator[str]:
    """The URL of a PostgreSQL that lives as long as the test run, as a user who may do everything; skips where none starts."""
    with postgres_server() as folder:
        yield f"postgresql+psycopg://postgres@/postgres?host={folder}"


SQL_TYPES = {
    "DATE": "date",
    "DOUBLE": "double precision",
    "VARCHAR": "text",
    "BIGINT": "bigint",
    "TIMESTAMP": "timestamp",
}


@pytest.fixture(scope="session")
def load_tables() -> Callable[[str, str, DuckDBWarehouse], None]:
    """Writes the tables of a DuckDB file into a schema of the database at a URL, with comments and declared categories."""

    def load(url: str, schema: str, source: DuckDBWarehouse) -> None:
        on_server = url.startswith("postgresql")
        # NullPool: no connection of the loading stays open beside those that are tested.
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
        with engine.begin() as connection:
            run = partial(connection.exec_driver_sql, execution_options={"no_parameters": True})
            if on_server:
                run(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
                run(f'CREATE SCHEMA "{schema}"')
            for table in source._tables:
                place = f'"{schema}"."{table.name}"'
                columns = []
                for one in table.columns:
                    allowed = ", ".join(literal(value) for value in one.categories or ())
                    check = f' CHECK ("{one.name}" IN ({allowed}))' if allowed else ""
                    columns.append(f'"{one.name}" {SQL_TYPES[one.type]}{check}')
                run(f"CREATE TABLE {place} ({', '.join(columns)})")
                said = [(f"TABLE {place}", table.comment)]
                said += [(f'COLUMN {place}."{one.name}"', one.comment) for one in table.columns]
                for what, comment in said if on_server else ():
                    if comment:
                        run(f"COMMENT ON {what} IS {literal(comment)}")
                _insert(connection, schema, table.name, source.query(f"SELECT * FROM {table.name}").data)
        engine.dispose()

    return load


def _insert(connection: sa.Connection, schema: str, name: str, data: pd.DataFrame) -> None:
    rows = [
        {
            key: None if pd.isna(value) else value.date() if isinstance(value, pd.Timestamp) else value
            for key, value in row.items()
        }
        for row in data.to_dict("records")
    ]
    target = sa.table(name, *(sa.column(str(column)) for column in data.columns), schema=schema)
    typed: list[dict[str, object]] = [
        {
            str(k): v.isoformat() if isinstance(v, dt.date) and connection.dialect.name == "sqlite" else v
            for k, v in row.items()
        }
        for row in rows
    ]
    connection.execute(target.insert(), typed)
