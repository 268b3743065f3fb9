"""The data that the house set is measured on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from finexpert.datasets.fred import database as fred
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse


@pytest.fixture(scope="session")
def data(sample: DuckDBWarehouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    """FRED itself where it is at hand, else the sample economy."""
    folder = os.environ.get("FINEXPERT_TEST_FRED_DIR")
    if not folder:
        yield sample
        return
    path = fred.build(fred.load_folder(Path(folder)), tmp_path_factory.mktemp("house") / "fred.duckdb")
    with DuckDBWarehouse(path) as warehouse:
        yield warehouse
