"""`finexpert data edgar`: what it writes and says."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from finexpert.cli.data.command import data_app
from finexpert.errors import ConfigurationError, DataError
from finexpert.filings.edgar.connection import Connection


def run(*arguments: str) -> str:
    result = CliRunner().invoke(data_app, ["edgar", *arguments], catch_exceptions=False, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.output


def test_from_a_folder_into_the_home(facts_folder: Path, own_home: Path) -> None:
    output = run("--from", str(facts_folder))
    assert "ALDR" in output
    assert "2019 to 2021" in output
    assert "ALDR: 1 facts are left out (1 of no periodic report)" in output
    assert f"finexpert ask --data {own_home / 'edgar.duckdb'}" in output
    assert {path.name for path in own_home.glob("edgar*")} == {"edgar.duckdb", "edgar.model.yaml"}


def test_one_company_into_a_file(facts_folder: Path, own_home: Path, tmp_path: Path) -> None:
    output = run("aldr", "--since", "2021", "--from", str(facts_folder), "--out", str(tmp_path / "mine.duckdb"))
    assert "BRC-B" not in output
    assert {path.name for path in tmp_path.iterdir()} == {"mine.duckdb", "mine.model.yaml"}
    assert not list(own_home.glob("edgar*"))


def test_it_fetches_into_the_home(facts_folder: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def get(self: Connection, address: str, what: str) -> bytes:
        asked.append(address)
        return (facts_folder / address.rpartition("/")[2]).read_bytes()

    monkeypatch.setattr(Connection, "object", get)
    monkeypatch.setenv("FINEXPERT_EDGAR_USER_AGENT", "Ada Example ada@example.com")
    assert "BRC-B" in run("BRC-B")
    assert asked == [
        "https://www.sec.gov/files/company_tickers.json",
        "https://data.sec.gov/api/xbrl/companyfacts/CIK0000002002.json",
    ]
    assert (own_home / "edgar" / "CIK0000002002.json").is_file()


def test_without_a_user_agent_nothing_is_fetched() -> None:
    with pytest.raises(ConfigurationError, match="FINEXPERT_EDGAR_USER_AGENT"):
        run("AAPL")


@pytest.mark.parametrize(
    ("arguments", "said"), [((), "give symbols"), (("--refresh", "--from", "."), "give one of them")]
)
def test_options_that_exclude_each_other(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(data_app, ["edgar", *arguments])
    assert result.exit_code == 2
    assert said in result.output


def test_a_folder_that_lacks_a_company(facts_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no file such as CIK0000320193.json"):
        run("--from", str(tmp_path))
    with pytest.raises(DataError, match=r"lacks CIK0000000042.json"):
        run("42", "--from", str(facts_folder))
