"""Three made-up databases with what makes a SELECT wrong in silence, and a program that is asked of them with scripted completions."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from finexpert.core.answers import Answer
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.session import Session
from finexpert.settings import Settings
from finexpert.testing import fields
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

HERE = Path(__file__).parent
DATABASES = ("brokerage", "bank", "sales")
ROW_CAP = 1_000


@dataclass(frozen=True)
class Asked:
    """An answer, and every prompt that led to it."""

    answer: Answer
    prompts: list[str]


Ask = Callable[[Mapping[str, Any]], Asked]


@pytest.fixture(scope="session")
def trap_files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("traps")
    for name in DATABASES:
        with duckdb.connect(str(folder / f"{name}.duckdb")) as connection:
            connection.execute((HERE / f"{name}.sql").read_text())
    return {name: folder / f"{name}.duckdb" for name in DATABASES}


@pytest.fixture(scope="session")
def sources(trap_files: Mapping[str, Path]) -> Iterator[Mapping[str, DuckDBWarehouse]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(DuckDBWarehouse(path, row_cap=ROW_CAP, isolated=False))
            for name, path in trap_files.items()
        }


@pytest.fixture(scope="session")
def gold(trap_files: Mapping[str, Path]) -> Callable[[Mapping[str, Any]], Any]:
    """What plain DuckDB gives for a case's own SELECT, without any part of the program."""

    def computed(case: Mapping[str, Any]) -> Any:
        with duckdb.connect(str(trap_files[case["database"]]), read_only=True) as connection:
            return connection.execute(case["gold"]).fetchall()

    return computed


def written(layer: str, said: Any, kind: str, unit: str = "") -> str:
    """The completion of a layer: a text is a SELECT, a mapping says more (`missing`, `code`, `selects`)."""
    given: dict[str, Any] = {"select": said} if isinstance(said, str) else dict(said)
    frames = given.get("selects") or ({"result": given["select"]} if "select" in given else {})
    selects = [{"df_name": name, "df_columns": [], "select_query": select} for name, select in frames.items()]
    told = {"absent": given.get("missing", ""), "selects": json.dumps(selects)}
    if layer == "interpretation":
        told = {"interpretation": "as asked", "unclear": "", "missing": told["absent"], "selects": told["selects"]}
        told |= {"code": given.get("code", ""), "answer_kind": kind, "unit": unit}
    return fields(**told)


@pytest.fixture(scope="session")
def asked() -> dict[str, Asked]:
    """What was asked before: several tests look at one answer."""
    return {}


@pytest.fixture
def ask(sources: Mapping[str, DuckDBWarehouse], sandbox: Any, asked: dict[str, Asked]) -> Ask:
    """Asks a case's question of the whole program, nobody being there; completions come in turn, and the last is repeated."""

    def ask(case: Mapping[str, Any]) -> Asked:
        if case["id"] not in asked:
            asked[case["id"]] = answered(case)
        return asked[case["id"]]

    def answered(case: Mapping[str, Any]) -> Asked:
        prompts: list[str] = []
        completions = [case["first"], *case.get("then", [])]

        def reply(messages: list[dict[str, str]]) -> str:
            prompts.append("\n".join(str(message["content"]) for message in messages))
            layer = "interpretation" if "starting with the field `[[ ## interpretation" in prompts[-1] else "selects"
            return written(
                layer, completions[min(len(prompts), len(completions)) - 1], case["kind"], case.get("unit", "")
            )

        given: dict[str, Any] = {"as_of": dt.date.fromisoformat(case["as_of"])} if "as_of" in case else {}
        settings = Settings(memory=False, cache=False, embedder="words", **given)
        models = LanguageModels(ScriptedModel(reply))
        with Session(sources[case["database"]], settings=settings, models=models, sandbox=sandbox) as session:
            return Asked(session.ask(case["question"]), prompts)

    return ask
