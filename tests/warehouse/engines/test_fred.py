"""The packaged FRED questions over ClickHouse and Spark: the SELECTs that the recorded model wrote for DuckDB, in the engine's own SQL.

A recording is found by its prompt, which names the engine. So the questions are answered over DuckDB, and each answer is computed again
over the engine from its record, with the SELECTs that sqlglot writes for it: as of the same day, with the same script, to the same answer.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlglot

from finexpert.answers.replaying import replay
from finexpert.core.answers import Answer
from finexpert.datasets.fred import evaluation
from finexpert.datasets.fred.database import build
from finexpert.datasets.fred.questions import load_questions
from finexpert.datasets.fred.sample_economy import make_series
from finexpert.language_models.roles import LanguageModels
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

Address = Callable[[str], str]


@pytest.fixture(scope="module")
def economy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(make_series(), tmp_path_factory.mktemp("economy") / "fred.duckdb")


@pytest.fixture(scope="module")
def answers(economy: Path, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    settings = Settings(lm="recorded", memory=False, home=tmp_path_factory.mktemp("home"), as_of=dt.date(2024, 9, 30))
    with DuckDBWarehouse(economy) as source:
        bench = evaluation.QuestionBench(source, sandbox, LanguageModels.from_settings(settings), settings)
        return {one.id: bench.answer("+retries", one) for one in load_questions()}


@pytest.fixture(scope="module")
def engine(
    running: Address, load_parquet: Callable[[Address, str, Path], None], economy: Path
) -> Iterator[SQLWarehouse]:
    load_parquet(running, "fred", economy)
    with SQLWarehouse(running("fred"), seconds=60) as opened:
        yield opened


def test_every_answer_is_the_same(answers: dict[str, Answer], engine: SQLWarehouse, sandbox: Sandbox) -> None:
    assert len(answers) == 30
    for name, answer in answers.items():
        record = answer.record
        assert record is not None, (name, answer.failure)
        frames = [
            frame.model_copy(update={"select": sqlglot.transpile(frame.select, read="duckdb", write=engine.dialect)[0]})
            for frame in record.frames
        ]
        again = replay(record.model_copy(update={"frames": frames}), engine, sandbox).value
        # Sums come in another order: the last digits of a float may differ.
        assert is_same(again, answer.value), (name, again, answer.value)


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, rtol=1e-9, check_dtype=False)
        return True
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return type(one) is type(other) and bool(one == other)
