"""Loading CSV files, the eight tables, and which warehouse is opened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from finexpert.datasets.fred import database as fred
from finexpert.datasets.fred.series import SERIES, TABLES
from finexpert.errors import DataError
from finexpert.settings import Settings
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

COLUMNS = {
    "cpi": ("date", "cpi_index", "value"),
    "consumer_sentiment": ("date", "umcsent"),
    "gdp": ("date", "gdp_index", "value"),
    "income": ("date", "dspi", "dspic96", "pce", "pcedg", "psavert", "rrsfs"),
    "money": ("date", "money_index", "value"),
    "rates": ("date", "dff", "dgs5", "dgs10", "dgs30", "dtb3", "t5yie", "t10yie", "t5yifr"),
    "stock": ("date", "stock_index", "value"),
    "unemployment": ("date", "civpart", "emratio", "unemploy", "unrate"),
}


def test_the_eight_tables(sample: DuckDBWarehouse) -> None:
    found = {table: set(columns) for table, columns in sample.columns().items()}
    assert found == {table: set(columns) for table, columns in COLUMNS.items()}
    assert len(SERIES) == 31
    assert set(TABLES) == set(COLUMNS)


def test_long_tables_have_one_row_per_date_and_index(sample: DuckDBWarehouse) -> None:
    for table, labels in (("cpi", 2), ("gdp", 4), ("money", 3), ("stock", 3)):
        index = f"{table}_index"
        row = sample.query(
            f"SELECT count(*) AS n, count(DISTINCT (date, {index})) AS d, count(value) AS v, count(DISTINCT {index}) AS k"
            f" FROM {table}"
        ).data.iloc[0]
        assert row["n"] == row["d"] == row["v"] > 0
        assert row["k"] == labels


def test_wide_tables_have_one_row_per_date_and_gaps(sample: DuckDBWarehouse, economy: dict[str, pd.Series]) -> None:
    row = sample.query(
        "SELECT count(*) AS n, count(DISTINCT date) AS d, count(dff) AS dff, count(dgs30) AS dgs30 FROM rates"
    ).data.iloc[0]
    assert row["n"] == row["d"] > row["dff"] == len(economy["DFF"])
    assert row["dgs30"] == len(economy["DGS30"])


def test_values_arrive_unchanged(sample: DuckDBWarehouse, economy: dict[str, pd.Series]) -> None:
    rate = sample.query("SELECT date, unrate FROM unemployment WHERE unrate IS NOT NULL ORDER BY date").data
    assert rate["unrate"].tolist() == economy["UNRATE"].tolist()
    gdp = sample.query("SELECT value FROM gdp WHERE gdp_index = 'Real GDP' ORDER BY date").data
    assert gdp["value"].tolist() == economy["GDPC1"].tolist()


def test_dates_are_dates(sample: DuckDBWarehouse) -> None:
    card = sample.schema_card()
    assert card.count("date DATE") == 8


def test_every_series_is_described_with_unit_frequency_and_adjustment(sample: DuckDBWarehouse) -> None:
    card = sample.schema_card()
    for info in SERIES.values():
        assert info.description in card
        assert info.measure in card, "a comment that is too long is cut off"
    assert "'CPI', 'Core CPI'" in card


def test_a_folder_gives_the_same_series(csv_folder: Path, economy: dict[str, pd.Series]) -> None:
    loaded = fred.load_folder(csv_folder)
    for name, series in economy.items():
        pd.testing.assert_series_equal(loaded[name], series, check_freq=False, check_index_type=False)


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("date,value\n2024-01-01,1\n2024-02-01,\n2024-03-01,3\n", [1.0, 3.0]),
        ("observation_date,GDP\n2024-01-01,.\n2024-02-01,2.5\n", [2.5]),
        ("DATE,VALUE\r\n2024-02-01,2\r\n2024-01-01,1\r\n", [1.0, 2.0]),
        ("date,value\n2024-01-01, 1.5 \n\n", [1.5]),
    ],
)
def test_forms_of_a_csv_file(tmp_path: Path, content: str, values: list[float]) -> None:
    (tmp_path / "GDP.csv").write_bytes(content.encode())
    series = fred.read_series(tmp_path / "GDP.csv")
    assert series.tolist() == values
    assert series.index.is_monotonic_increasing


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("date,value\n2024-01-01,1\n2024-02-01,n/a\n", r"GDP\.csv, line 3: 'n/a' is not a number"),
        ("date,value\n2024-01-01,1_000\n", r"line 2: '1_000' is not a number"),
        ("date,value\n2024-01-01,inf\n", r"line 2: 'inf' is not a number"),
        ("date,value\n2024-01-01,nan\n", r"line 2: 'nan' is not a number"),
        ("date,value\n01/02/2024,1\n", r"line 2: '01/02/2024' is not a date"),
        ("date,value\n2024-02-30,1\n", r"line 2: '2024-02-30' is not a date"),
        ("date,value\n2024-01-01,1\n2024-01-01,2\n", r"line 3: '2024-01-01' stands twice"),
        ("<!DOCTYPE html>\n<html>\n", r"line 1: '<!DOCTYPE html>' is not the header"),
        ("date,value,more\n2024-01-01,1,2\n", r"line 1: 'date,value,more' is not the header"),
        ("date,value\n2024-01-01,1,2,3\n", r"line 2: '2024-01-01,1,2,3' is not a date and a value"),
        ("date,value\n\n2024-01-01,1\n", r"line 2: '' is not a date and a value"),
        ("date,value\n2024-01-01,\n", r"holds no value.*finexpert data fred"),
        ("", r"line 1: '' is not the header"),
        ("date,value\n2024-01-01,\xff\n", r"cannot be read as CSV"),
    ],
)
def test_a_wrong_file_is_refused_by_file_line_and_value(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "GDP.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError, match=message):
        fred.read_series(tmp_path / "GDP.csv")


def test_missing_files_are_all_named(csv_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(csv_folder, tmp_path / "fred")
    (folder / "GDP.csv").unlink()
    (folder / "DFF.csv").unlink()
    with pytest.raises(DataError, match=r"lacks 2 of 31 series: GDP\.csv, DFF\.csv\. .*finexpert data fred"):
        fred.load_folder(folder)


def test_without_data_the_sample_is_opened_and_says_so(own_home: Path) -> None:
    with fred.open_fred() as first:
        path, written = first.path, first.path.stat().st_mtime_ns
        assert first.label == "sample economy: made-up numbers"
    with fred.open_fred() as second:
        assert second.path == path
        assert path.stat().st_mtime_ns == written
    assert own_home in path.parents


def test_the_warehouse_of_the_home_comes_before_the_sample(own_home: Path, economy: dict[str, pd.Series]) -> None:
    fred.build(economy, own_home / "fred.duckdb", label="mine")
    with fred.open_fred() as warehouse:
        assert (warehouse.path, warehouse.label) == (own_home / "fred.duckdb", "mine")


def test_a_folder_is_built_once_for_its_content(csv_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(csv_folder, tmp_path / "fred")
    with fred.open_fred(folder) as first, fred.open_fred(folder) as again:
        assert first.path == again.path
        assert first.label is None
    (folder / "GDP.csv").write_text("date,value\n2024-01-01,1\n")
    with fred.open_fred(folder) as changed:
        assert changed.path != first.path
        assert len(changed.query("SELECT value FROM gdp WHERE gdp_index = 'GDP'").data) == 1


def test_a_file_is_opened_as_it_is(sample: DuckDBWarehouse) -> None:
    with fred.open_fred(sample.path) as warehouse:
        assert warehouse.snapshot() == sample.snapshot()


def test_the_limits_of_the_settings_hold(sample: DuckDBWarehouse) -> None:
    with fred.open_fred(sample.path, settings=Settings(row_cap=5, sql_seconds=3)) as warehouse:
        assert (warehouse.row_cap, warehouse.seconds) == (5, 3)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere does not exist.*finexpert data fred"):
        fred.open_fred(tmp_path / "nowhere")


def test_a_home_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, economy: dict[str, pd.Series]
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"x\.duckdb cannot be written.*FINEXPERT_HOME"):
        fred.build(economy, tmp_path / "file" / "x.duckdb")


def test_an_interrupted_build_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, economy: dict[str, pd.Series]
) -> None:
    path = tmp_path / "fred.duckdb"
    path.write_bytes(b"old")

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fred.build(economy, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_cache_does_not_outlive_the_list_of_series(monkeypatch: pytest.MonkeyPatch) -> None:
    before, read = fred.code_key.__wrapped__(), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"" if path.name == "series.csv" else read(path))
    assert fred.code_key.__wrapped__() != before
