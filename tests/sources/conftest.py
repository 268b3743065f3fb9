"""A small warehouse with the traps of the real one: long and wide tables, gaps, a canary in a text column and in a number."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from finexpert.sources.warehouse import DuckDBWarehouse, Table, build_warehouse

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
