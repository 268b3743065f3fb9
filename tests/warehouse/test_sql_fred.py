"""FRED questions over databases by address: the same tables, the engine's SQL in the plan, and answers that can be run again."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.answers import replaying
from finexpert.answers.export import script as exported
from finexpert.core.answers import AnswerFormat
from finexpert.datasets.fred.database import build, open_data
from finexpert.datasets.fred.sample_economy import make_series
from finexpert.errors import DataError
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.sandbox import Sandbox
from finexpert.session import Session
from finexpert.settings import Settings
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

Load = Callable[[str, str, DuckDBWarehouse], None]
AS_OF = dt.date(2022, 6, 30)
SELECTS = {
    "duckdb": "SELECT avg(unrate) AS mean FROM unemployment WHERE date >= DATE '2022-06-30' - INTERVAL 1 YEAR",
    "postgres": "SELECT avg(u.unrate) AS mean FROM fred.unemployment AS u WHERE u.date >= '2022-06-30'::date - interval '1 year'",
    "sqlite": "SELECT avg(unrate) AS mean FROM unemployment WHERE date >= date('2022-06-30', '-1 year')",
    "mysql": "SELECT avg(unrate) AS mean FROM unemployment WHERE date >= '2022-06-30' - INTERVAL 1 YEAR",
}
NAMES = {"postgres": "PostgreSQL", "sqlite": "SQLite", "mysql": "MySQL"}


def reply(select: str, prompts: list[str]) -> Callable[[list[dict[str, str]]], str]:
    """A model that plans one SELECT, whatever it is asked."""

    def said(messages: list[dict[str, str]]) -> str:
        prompts.append("\n".join(str(message["content"]) for message in messages))
        selects = json.dumps([{"df_name": "found", "df_columns": [], "select_query": select}])
        return (
            f"[[ ## interpretation ## ]]\nas asked\n[[ ## selects ## ]]\n{selects}\n[[ ## code ## ]]\n\n"
            "[[ ## answer_kind ## ]]\nnumber\n[[ ## completed ## ]]"
        )

    return said


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql"])
def test_a_question_is_answered_replayed_and_exported_in_the_engines_own_sql(
    request: pytest.FixtureRequest,
    load_tables: Load,
    sandbox: Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dialect: str,
) -> None:
    url, server = f"sqlite:///{tmp_path}/fred.db", f"sqlite:///{tmp_path}/fred.db"
    if dialect == "postgres":
        url = server = request.getfixturevalue("postgres")
    elif dialect == "mysql":
        url, server = request.getfixturevalue("mariadb")("fred"), request.getfixturevalue("mariadb")("")
    with DuckDBWarehouse(build(make_series(), tmp_path / "fred.duckdb")) as file:
        load_tables(server, "main" if dialect == "sqlite" else "fred", file)
        expected = file.query(SELECTS["duckdb"], as_of=AS_OF).data["mean"].item()
    data = Path(f"{url}&schema=fred") if dialect == "postgres" else Path(url)
    prompts: list[str] = []
    settings = Settings(memory=False, cache=False, home=tmp_path / "home", as_of=AS_OF)
    model = LanguageModels(ScriptedModel(reply(SELECTS[dialect], prompts)))
    with open_data(data, settings=settings) as opened:
        assert isinstance(opened, SQLWarehouse)
        with Session(opened, settings=settings, models=model, sandbox=sandbox) as session:
            answer = session.ask(
                "What was the mean unemployment rate of the last year?", answer_format=AnswerFormat(kind="number")
            )
        assert (answer.status, len(prompts)) == ("answered", 1), answer.failure
        assert answer.value == pytest.approx(expected)
        assert NAMES[dialect] in prompts[0]
        record = answer.record
        assert record is not None
        assert record.source.dialect == dialect
        assert replaying.replay(record, opened, sandbox).same
        code = exported.export(record, opened)
    monkeypatch.setenv("DATABASE_URL", url)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - it is what a reader of the export runs
    assert names["answer"] == pytest.approx(expected)


def test_a_database_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no SQLite file at"):
        open_data(Path(f"sqlite:///{tmp_path}/gone.db"))


def test_a_semantic_model_beside_a_file_of_sqlite_is_found(load_tables: Load, tmp_path: Path) -> None:
    with DuckDBWarehouse(build(make_series(), tmp_path / "fred.duckdb")) as file:
        load_tables(f"sqlite:///{tmp_path}/fred.db", "main", file)
    model = {
        "version": "1.0",
        "semantic_model": [
            {
                "name": "fred",
                "datasets": [{"name": "unemployment", "source": "unemployment", "description": "Share without work"}],
                "metrics": [
                    {
                        "name": "mean_rate",
                        "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": "avg(unemployment.unrate)"}]},
                    }
                ],
            }
        ],
    }
    (tmp_path / "fred.model.yaml").write_text(json.dumps(model))
    with open_data(Path(f"sqlite:///{tmp_path}/fred.db"), settings=Settings(home=tmp_path / "home")) as opened:
        card = opened.schema_card()
        assert "table unemployment: Share without work" in card
        assert "mean_rate" in card
        plain = opened.query("SELECT avg(unrate) AS m FROM unemployment").data["m"].item()
        assert opened.query("SELECT MEASURE(mean_rate) AS m FROM unemployment AS u").data["m"].item() == plain
