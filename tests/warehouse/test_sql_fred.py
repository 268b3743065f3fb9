"""FRED questions over PostgreSQL, from recorded completions: the prompts are those of the DuckDB file, word for word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from finexpert.datasets.answer_matching import matches
from finexpert.datasets.fred import build, open_data
from finexpert.datasets.fred_evaluation import Bench
from finexpert.datasets.fred_questions import gold, load_questions
from finexpert.datasets.sample_economy import make_series
from finexpert.errors import DataError
from finexpert.language_models.roles import LanguageModels
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

QUESTIONS = 6


def test_recorded_questions_come_out_right_over_a_server(
    postgres: str, load_tables: Callable[[str, str, DuckDBWarehouse], None], sandbox: Sandbox, tmp_path: Path
) -> None:
    settings = Settings(lm="recorded", cache=False)
    with DuckDBWarehouse(build(make_series(), tmp_path / "fred.duckdb")) as file:
        load_tables(postgres, "fred", file)
        asked = load_questions()[:QUESTIONS]
        expected = [gold(question, file) for question in asked]
        card = file.schema_card()
    opened = open_data(Path(f"{postgres}&schema=fred"), settings=settings)
    with opened:
        assert isinstance(opened, SQLWarehouse)
        assert opened.schema_card() == card
        bench = Bench(opened, sandbox, LanguageModels.from_settings(settings), settings)
        for question, right in zip(asked, expected, strict=True):
            answer = bench.answer("sql+script", question)
            assert answer.status == "answered", (question.id, answer.failure)
            assert matches(answer.value, right, question.answer_format), question.id
            assert answer.record is not None
            assert answer.record.source.dialect == "postgres"


def test_a_database_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no SQLite file at"):
        open_data(Path(f"sqlite:///{tmp_path}/gone.db"))
