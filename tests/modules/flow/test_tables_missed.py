"""What stands in none of the tables shown is looked for once more, by what the planner says is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

QUESTION = "How much did we pay in claims, premiums, taxes and cards in each year?"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DuckDBWarehouse]:
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    wide = pd.DataFrame({"amount": [1.0], **{f"further_column_{number}": [0.0] for number in range(60)}})
    topics = ("loans", "deposits", "trades", "branches", "cards", "claims", "premiums", "taxes")
    tables = [
        Table(f"{topic}_{year}", wide, comment=f"{topic} of {year}") for topic in topics for year in range(2018, 2024)
    ]
    tables.append(Table("ANSCHR", wide.rename(columns={"amount": "ORT"}), comment="addresses of customers"))
    with DuckDBWarehouse(build_warehouse(tmp_path / "own.duckdb", tables)) as opened:
        yield opened


def missing(desk: Any, what: str) -> str:
    return str(desk.fields(interpretation="as asked", follows=[], unclear="", missing=what, selects=[], code=""))


def test_the_table_is_shown_the_second_time(desk: Any, source: DuckDBWarehouse) -> None:
    plan = desk.plan("", "integer", select='SELECT count(*) AS n FROM "ANSCHR"', columns=("n",))
    desk.says("planning", missing(desk, "the tables shown hold no addresses of customers"), plan)
    answer = desk.session(source).ask(QUESTION)
    assert (answer.status, answer.value) == ("answered", 1)
    first, second = desk.of("planning")
    assert "ANSCHR" not in first
    assert "table ANSCHR: addresses of customers" in second


def test_no_other_table_is_no_other_call(desk: Any, source: DuckDBWarehouse) -> None:
    desk.says("planning", missing(desk, "claims"))
    assert desk.session(source).ask(QUESTION).status == "not_found"
    assert desk.layers == ["planning"]


def test_what_is_missing_for_good_is_asked_for_twice_at_most(desk: Any, source: DuckDBWarehouse) -> None:
    desk.says("planning", missing(desk, "addresses of customers"), missing(desk, "weather"))
    answer = desk.session(source).ask(QUESTION)
    assert (answer.status, desk.layers) == ("not_found", ["planning", "planning"])
    assert "weather" in answer.explanation
