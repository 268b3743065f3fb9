"""`finexpert data fred`: what it writes and says, and that an interrupt leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from finexpert.cli.data.command import data_app
from finexpert.datasets.fred import database as fred
from finexpert.datasets.fred import download as fred_download
from finexpert.errors import DataError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = ("consumer_sentiment", "cpi", "gdp", "income", "money", "rates", "stock", "unemployment")


def run(*arguments: str) -> str:
    result = CliRunner().invoke(data_app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_from_a_folder_into_the_home(csv_folder: Path, own_home: Path) -> None:
    output = run("fred", "--from", str(csv_folder))
    assert all(table in output for table in TABLES)
    assert "2036-10-01" in output
    assert "finexpert ask" in output
    with fred.open_fred() as warehouse:
        assert warehouse.path == own_home / "fred.duckdb"
        assert warehouse.label is None


def test_into_a_file(csv_folder: Path, own_home: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.duckdb"
    assert f"--data {out}" in run("fred", "--from", str(csv_folder), "--out", str(out))
    assert len(DuckDBWarehouse(out).columns()) == 8
    assert not (own_home / "fred.duckdb").exists()


def test_fetched_files_are_kept_in_the_home(csv_folder: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def fetch(folder: Path, *, refresh: bool, progress: object) -> None:
        asked.append(refresh)
        folder.symlink_to(csv_folder)

    monkeypatch.setattr(fred_download, "download", fetch)
    run("fred", "--refresh")
    assert asked == [True]
    assert (own_home / "fred").is_dir()
    assert (own_home / "fred.duckdb").is_file()


def test_refresh_and_from_exclude_each_other(csv_folder: Path) -> None:
    result = CliRunner().invoke(data_app, ["fred", "--from", str(csv_folder), "--refresh"])
    assert result.exit_code == 2
    assert "give one of them" in result.output


def test_errors_reach_the_caller(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="lacks 31 of 31 series"):
        run("fred", "--from", str(tmp_path))


def test_an_interrupt_leaves_nothing_behind(csv_folder: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    result = CliRunner().invoke(data_app, ["fred", "--from", str(csv_folder)])
    assert result.exit_code != 0
    assert list(own_home.rglob("*")) == []
