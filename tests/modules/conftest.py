"""A small warehouse with canaries in its cells, a warm sandbox, and scripted models."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
import pytest

from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.sandbox import Limits, Sandbox
from finexpert.sources.warehouse import DuckDBWarehouse, Table, build_warehouse

CANARY = "zyxwcanary"
NUMBER = 918273645.5


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(wall_seconds=10)) as box:
        yield box


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    data = pd.DataFrame(
        {
            "date": pd.date_range("2020-01-01", periods=6, freq="MS"),
            "region": ["north", "south"] * 3,
            "note": [f"{CANARY}{i}" for i in range(6)],
            "amount": [NUMBER + i for i in range(6)],
        }
    )
    table = Table(
        "sales", data, "sales a month", {"amount": "thousand USD"}, categories=("region",), date_column="date"
    )
    with DuckDBWarehouse(build_warehouse(tmp_path_factory.mktemp("data") / "sales.duckdb", [table])) as source:
        yield source


@pytest.fixture
def scripted() -> Callable[[object], tuple[LanguageModels, list[str]]]:
    """Models that answer from a list or a function, and the prompts that they were given."""

    def make(answers: object) -> tuple[LanguageModels, list[str]]:
        prompts: list[str] = []
        rest = iter(answers) if isinstance(answers, list) else None

        def reply(messages: list[dict[str, str]]) -> str:
            prompts.append("\n".join(str(message["content"]) for message in messages))
            return str(next(rest)) if rest is not None else str(answers(prompts[-1]))  # type: ignore[operator]

        return LanguageModels(ScriptedModel(reply)), prompts

    return make
