"""A batch on a Ray cluster of two nodes on this machine, with a model behind a server: the answers of threads, and each question asked once."""

from __future__ import annotations

import datetime as dt
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ray_nodes import two_nodes
from tests.cli.test_batch import Counting

from finexpert.batch.ask_all import ask_all
from finexpert.embeddings import on_ray
from finexpert.embeddings.minilm import MiniLM
from finexpert.errors import ConfigurationError, DataError, ModelUnreachable
from finexpert.filings.library.adding import add_file
from finexpert.filings.library.library import Library
from finexpert.filings.readers.cover import Given
from finexpert.filings.records import SearchRequest
from finexpert.settings import Settings
from finexpert.testing import fields
from finexpert.warehouse.local.duckdb_warehouse import Table, build_warehouse

PLAN = fields(
    interpretation="Months are rows.",
    unclear="",
    selects=[{"df_name": "n", "df_columns": ["n"], "select_query": "SELECT count(*) AS n FROM sales"}],
    code="",
    answer_kind="integer",
    unit="months",
)
MONTHS = Table("sales", pd.DataFrame({"date": pd.date_range("2020-01-01", periods=6, freq="MS")}), date_column="date")
# Read here: a test finds no variable of ours in its environment.
MANY = int(os.environ.get("FINEXPERT_TEST_RAY_QUESTIONS", "40"))
SAME = ["status", "number", "value", "kind", "unit", "calls", "tokens", "flags"]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    # Workers read the key from their own environment.
    monkeypatch.setenv("FINEXPERT_API_KEY", "none")
    with Counting(PLAN) as server:
        yield server


@pytest.fixture
def ask(model: Counting, tmp_path: Path, own_home: Path) -> Any:
    sales = build_warehouse(tmp_path / "sales.duckdb", [MONTHS])

    def run(n: int, source: Any = sales, engine: str = "ray", **given: Any) -> pd.DataFrame:
        told = {"memory": False, "cache": False, "as_of": dt.date(2020, 12, 31), "lm": "openai/served", "retries": 0}
        settings = Settings(**{"api_base": model.url, "home": own_home} | told | given.pop("settings", {}))
        questions = [f"How many months of kind {number}?" for number in range(n)]
        return ask_all(source, questions, settings=settings, threads=4, engine=engine, **given)  # type: ignore[arg-type]

    return run


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with two_nodes(monkeypatch) as cluster:
        yield cluster


def test_the_answers_of_threads_and_each_question_asked_once(ask: Any, model: Counting, nodes: Any) -> None:
    on_threads = ask(20, engine="threads")
    model.asked.clear()
    on_nodes = ask(20, fresh=True)
    assert on_nodes[SAME].equals(on_threads[SAME])
    assert set(on_nodes.number) == {6.0}
    assert sorted(model.asked.values()) == [1] * 20


def test_a_node_that_is_killed_loses_what_it_had_under_way_and_nothing_else(
    ask: Any, model: Counting, nodes: Any, own_home: Path
) -> None:
    killed = threading.Event()

    def told(now: Any) -> None:
        if now.done == MANY // 4 and not killed.is_set():
            killed.set()
            nodes.remove_node(nodes.second, allow_graceful=False)

    answers = ask(MANY, on_progress=told)
    assert killed.is_set()
    assert answers.status.tolist() == ["answered"] * MANY
    assert set(answers.number) == {6.0}
    # Two of four are under way on each node.
    assert sum(count > 1 for count in model.asked.values()) <= 2
    assert sum(model.asked.values()) <= MANY + 2
    assert len(list((own_home / "records").iterdir())) == MANY
    assert not list((own_home / "batch").iterdir())


def test_what_ends_a_run_ends_it_here_too_and_the_next_one_goes_on(ask: Any, model: Counting, nodes: Any) -> None:
    part = ask(20, settings={"budget_run_calls": 5})
    done = int((part.status == "answered").sum())
    assert 5 <= done <= 9
    assert (part.status == "not_asked").sum() == 20 - done
    assert "budget" in part.reason.iloc[-1]
    whole = ask(20)
    assert whole.status.tolist() == ["answered"] * 20
    # What was answered is not asked again; what was under way at the end of the budget is.
    assert sum(model.asked.values()) <= 20 + 4
    with pytest.raises(ModelUnreachable):
        ask(3, settings={"api_base": "http://127.0.0.1:9/v1"})


def test_a_worker_that_sees_other_data_is_refused(
    ask: Any, model: Counting, nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from finexpert.batch import on_ray as asking

    monkeypatch.setattr(asking, "mark", lambda *given: "what this process sees")
    with pytest.raises(DataError, match=r"would answer with something else .*on every node"):
        ask(3)
    assert not model.asked


def test_what_is_open_here_alone_is_refused(ask: Any, model: Counting) -> None:
    frame = pd.DataFrame({"n": [1]})
    for source in (frame, {"sales": frame}, [frame]):
        with pytest.raises(ConfigurationError, match="open in this process and in no worker"):
            ask(2, source)
    assert not model.asked


def test_the_vectors_of_the_nodes_are_those_of_this_process(nodes: Any) -> None:
    texts = [f"Revenue of segment {number} rose by {number} percent." for number in range(120)]
    with on_ray.on_ray("minilm") as there:
        assert (there.name, there.at_once, there.embed([]).shape) == (MiniLM.name, 200, (0, MiniLM.dimensions))
        before = there.embed(texts)
        nodes.remove_node(nodes.second, allow_graceful=False)
        after = there.embed(texts)
    here = MiniLM().embed(texts)
    assert (before == here).all()
    assert (after == here).all()


def test_a_library_is_embedded_on_the_nodes(nodes: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Net sales rose because of higher prices in the services segment.\n" * 60)
    with on_ray.on_ray("minilm") as there, Library.open(tmp_path / "there", make=True, embedder=there) as library:
        assert [each.outcome for each in add_file(library, tmp_path / "notes.txt", Given("Acme"))] == ["added"]
        library.refresh()
        assert library.chunks_to_index() == 0
    # Without a cluster the same library is searched by the same vectors.
    with Library.open(tmp_path / "there", embedder=MiniLM()) as library:
        assert library.chunks_to_index() == 0
        assert library.search(SearchRequest(("why did revenue increase",)))
