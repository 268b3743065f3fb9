"""Evaluations and compiles on a Ray cluster of two nodes: the results of threads, from the same recordings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ray_nodes import two_nodes
from served import ServedModel

from finexpert.datasets.layers import examples as layer_examples
from finexpert.datasets.layers.records import SqlExtractionExample
from finexpert.errors import UnknownPrompt
from finexpert.filings.library.index.made_up import filings
from finexpert.filings.library.store import LibraryStore
from finexpert.language_models.recordings.recorded import RecordedModel

# What a clock says, and which question came before which.
_OF_A_RUN = re.compile("seconds|_ms$|stages|prefix_share")
SAVED = re.compile("saved|finexpert compiled promote|runs/")
FRED = ("eval", "fred", "--lm", "recorded", "--only", "year_cpi_rose_above_200,latest_recession")
SELECTS = """[[ ## selects ## ]]
[{"df_name": "cpi", "df_columns": ["date", "value"], "select_query": "SELECT date, value FROM cpi WHERE cpi_index = 'CPI'"}]

[[ ## completed ## ]]"""


def nothing_here(*given: Any) -> None:
    raise AssertionError("asked in this process")


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with two_nodes(monkeypatch) as cluster:
        yield cluster


def same(found: Any) -> Any:
    """What has to be the same however the questions were asked, in any order."""
    if isinstance(found, dict):
        return {name: same(each) for name, each in found.items() if not _OF_A_RUN.search(name)}
    if isinstance(found, list):
        return sorted(map(same, found), key=lambda each: json.dumps(each, sort_keys=True))
    return found


@pytest.mark.parametrize(
    "command",
    [
        (*FRED, "--rungs", "sql+script,+retries,+memory"),
        ("eval", "house", "--lm", "recorded", "--half", "keywords", "--every", "16"),
        ("eval", "convfinqa", "--lm", "recorded", "--sample", "3"),
    ],
)
def test_the_results_are_those_of_threads(
    finexpert: Any, tracked: Path, home: Path, nodes: Any, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert finexpert(*command, "--json", "threads.json").code == 0
    monkeypatch.setattr("finexpert.datasets.evaluations.journal.side_by_side", nothing_here)
    assert finexpert(*command, "--json", "ray.json", "--engine", "ray").code == 0
    on_threads, on_ray = (json.loads(Path(f"{name}.json").read_text()) for name in ("threads", "ray"))
    assert on_threads["measured"]["done"] >= 2
    assert same(on_ray) == same(on_threads)


def test_a_budget_ends_the_run_and_the_next_one_goes_on(finexpert: Any, tracked: Path, home: Path, nodes: Any) -> None:
    command = (
        *FRED,
        "--mode",
        "direct",
        "--mode",
        "checked",
        "--engine",
        "ray",
        "--threads",
        "1",
        "--json",
        "out.json",
    )
    ran = finexpert(*command, "--budget", "calls=1")
    assert "budget of this run is used up" in ran.out + ran.err
    assert json.loads(Path("out.json").read_text())["measured"]["done"] == 1
    ran = finexpert(*command)
    assert "going on after 1 answers" in ran.out + ran.err
    assert json.loads(Path("out.json").read_text())["measured"]["done"] == 4


def test_completions_are_kept_by_threads_alone(finexpert: Any, tracked: Path, home: Path) -> None:
    ran = finexpert(*FRED, "--engine", "ray", "--save-completions", "kept.jsonl")
    assert ran.code == 1
    assert "engine ray keeps no completions" in ran.err


recorded = cache(RecordedModel)


def completion(messages: list[dict[str, str]]) -> str:
    """What was recorded; else what a SELECT layer is asked: half of it, and all of it where demonstrations stand before."""
    said = [SimpleNamespace(role=message["role"], parts=message["content"]) for message in messages]
    try:
        response, _ = recorded().answer(SimpleNamespace(model="served", system=None, messages=said))
    except UnknownPrompt:
        shown = any(message["role"] == "assistant" for message in messages)
        return (shown and in_full(messages[-1]["content"])) or SELECTS
    return str(response.text)


def in_full(prompt: str) -> str | None:
    for record in layer_examples.load("sql_extraction"):
        if isinstance(record, SqlExtractionExample) and record.question in prompt:
            selects = [
                {"df_name": frame.name, "df_columns": [*frame.columns], "select_query": frame.select}
                for frame in record.frames
            ]
            return f"[[ ## selects ## ]]\n{json.dumps(selects)}\n\n[[ ## completed ## ]]"
    return None


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("FINEXPERT_API_KEY", "none")
    with ServedModel(completion) as server:
        yield server.url


@pytest.fixture
def questions(home: Path) -> Path:
    """Of the pages of a made-up filing in `library`."""
    info, pages = next(filings(1))
    with closing(LibraryStore(Path("library"), make=True)) as store:
        store.put(info, pages)
    about = {"ticker": info.ticker, "fiscal_year": 2000}
    asked = [{"id": page.id, "filename": page.id, "question": page.pre_text[0]} | about for page in pages[:2]]
    Path("questions.jsonl").write_text("\n".join(map(json.dumps, asked)))
    return Path("questions.jsonl")


def test_layers_and_searches_are_those_of_threads(
    finexpert: Any, tracked: Path, served: str, questions: Path, nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ("--lm", "openai/served", "--api-base", served)
    commands: dict[str, tuple[str, ...]] = {
        "layers": ("layers", "sql_extraction", "memory_lookup", "--holdout", "3", *model),
        "retrieval": ("retrieval", "--questions", str(questions), "--library", "library"),
    }
    for name, command in commands.items():
        assert finexpert("eval", *command, "--json", f"{name}.json").code == 0
    monkeypatch.setattr("finexpert.datasets.evaluations.journal.side_by_side", nothing_here)
    for name, command in commands.items():
        assert finexpert("eval", *command, "--json", f"{name}-ray.json", "--engine", "ray", "--fresh").code == 0
        on_threads, on_ray = (json.loads(Path(f"{file}.json").read_text()) for file in (name, f"{name}-ray"))
        assert on_threads["measured"]["done"] >= 6
        assert same(on_ray) == same(on_threads)


def test_a_compile_scores_as_in_threads(
    finexpert: Any, tracked: Path, home: Path, served: str, nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("compile", "sql_extraction", "--lm", "openai/served", "--api-base", served, "--fresh")
    small = ("--train", "4", "--val", "3", "--holdout", "4", "--candidates", "1", "--threads", "2")
    whole = ("--questions", "2", "--house", "2", "--seed", "1")
    told = []
    for engine in ("threads", "ray"):
        ran = finexpert(*command, *small, *whole, "--engine", engine)
        assert ran.code == 0, ran.err
        told.append([re.sub(r", [\d.]+ min", "", line) for line in ran.out.splitlines() if not SAVED.search(line)])
        monkeypatch.setattr("finexpert.optimizers.compiling.search.side_by_side", nothing_here)
    assert "the program on FRED questions" in "\n".join(told[0])
    assert "the program on house questions" in "\n".join(told[0])
    assert told[1] == told[0]
