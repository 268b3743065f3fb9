"""The sample economy as series, as a folder of CSV files and as a warehouse, made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from finexpert.datasets.fred import database as fred
from finexpert.datasets.fred.sample_economy import LABEL, make_series
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse


@pytest.fixture(scope="session")
def economy() -> dict[str, pd.Series]:
    return make_series()


@pytest.fixture(scope="session")
def csv_folder(economy: dict[str, pd.Series], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fred")
    for name, series in economy.items():
        (folder / f"{name}.csv").write_text(series.rename("value").to_csv(), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def sample(economy: dict[str, pd.Series], tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    path = fred.build(economy, tmp_path_factory.mktemp("warehouse") / "sample.duckdb", label=LABEL)
    with DuckDBWarehouse(path) as warehouse:
        yield warehouse
