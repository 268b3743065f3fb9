"""`finexpert model publish` shows no ids to a model unless somebody says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest


@pytest.fixture
def desk(tmp_path: Path, finexpert: Any) -> str:
    path = tmp_path / "desk.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE clients AS SELECT i AS client_id, 'CANARY ' || (i // 2 * 2 + i % 2) AS full_name, ['retail', 'sme'][1 + i % 2] AS segment "
            "FROM range(40) t(i); CREATE TABLE regions AS SELECT unnest(['North', 'South', 'West']) AS region"
        )
    assert finexpert("model", "init", "--data", str(path)).code == 0
    return str(path)


@pytest.mark.parametrize("column", ["clients.client_id", "clients.full_name"])
def test_ids_are_published_where_somebody_says_so(finexpert: Any, desk: str, column: str) -> None:
    model = Path(desk).with_suffix(".model.yaml")
    before = model.read_text()
    refused = finexpert("model", "publish", "clients.segment", column, "--data", desk)
    assert refused.code == 1
    assert f"{column} holds another value in nearly every row" in refused.err
    assert "--yes" in refused.err
    assert (model.read_text(), "CANARY" in refused.err + refused.out) == (before, False)
    assert finexpert("model", "publish", column, "--yes", "--data", desk).code == 0
    assert model.read_text() != before


def test_kinds_and_short_lists_are_published(finexpert: Any, desk: str) -> None:
    ran = finexpert("model", "publish", "clients.segment", "regions.region", "--data", desk)
    assert ran.code == 0
    assert "2 values" in ran.out
    assert "3 values" in ran.out


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_model_that_is_not_beside_its_data_says_how_questions_find_it(
    finexpert: Any, desk: str, elsewhere: bool, tmp_path: Path
) -> None:
    beside = Path(desk).with_suffix(".model.yaml")
    beside.unlink()
    place = tmp_path / "other.model.yaml" if elsewhere else beside
    ran = finexpert("model", "init", "--data", desk, "--file", str(place))
    assert (ran.code, f"FINEXPERT_SEMANTIC_MODEL={place}" in "".join(ran.out.split("\n"))) == (0, elsewhere)


def test_a_table_of_settings_is_named_where_the_model_is_begun(finexpert: Any, tmp_path: Path) -> None:
    path = tmp_path / "house.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE settings AS SELECT 'fiscal.start' AS skey, 'CANARY' AS note; CREATE TABLE sales AS SELECT 1 AS n"
        )
    begun = finexpert("model", "init", "--data", str(path))
    assert "settings seems to hold rules or words of the house" in begun.out
    assert "`finexpert model publish settings`" in " ".join(begun.out.split())
    assert "CANARY" not in begun.out
    assert "sales seems" not in begun.out


def test_a_table_of_codes_is_named_where_the_model_is_begun(
    finexpert: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = tmp_path / "house.duckdb", tmp_path / "own.model.yaml"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE code_list AS SELECT * FROM (VALUES ('INV', 'P', 'CANARY'), ('INV', 'O', 'open')) AS t(dom, cd, meaning); "
            "CREATE TABLE sales AS SELECT 1 AS n"
        )
    # It names the file that is about to be written.
    monkeypatch.setenv("FINEXPERT_SEMANTIC_MODEL", str(model))
    begun = finexpert("model", "init", "--data", str(path))
    assert (begun.code, model.is_file()) == (0, True)
    said = " ".join(begun.out.split())
    assert "code_list seems to say what codes mean" in said
    assert "`finexpert model publish code_list` lets models read it" in said
    assert "CANARY" not in said
    assert "Questions use it where" not in said
