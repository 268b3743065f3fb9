"""A batch on a Ray cluster of two nodes on this machine, with a model behind a server: the answers of threads, and each question asked once."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.cli.test_batch import Served

from finexpert.batch.ask_all import ask_all
from finexpert.errors import ConfigurationError, DataError, ModelUnreachable
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
SAME = ["status", "number", "value", "kind", "unit", "calls", "tokens", "flags"]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    # Workers read the key from their own environment.
    monkeypatch.setenv("FINEXPERT_API_KEY", "none")
    with Served(PLAN) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def ask(model: Served, tmp_path: Path, own_home: Path) -> Any:
    sales = build_warehouse(tmp_path / "sales.duckdb", [MONTHS])

    def run(n: int, source: Any = sales, engine: str = "ray", **given: Any) -> pd.DataFrame:
        told = {"memory": False, "cache": False, "as_of": dt.date(2020, 12, 31), "lm": "openai/served", "retries": 0}
        base = f"http://127.0.0.1:{model.server_address[1]}/v1"
        settings = Settings(**{"api_base": base, "home": own_home} | told | given.pop("settings", {}))
        questions = [f"How many months of kind {number}?" for number in range(n)]
        return ask_all(source, questions, settings=settings, threads=4, engine=engine, **given)  # type: ignore[arg-type]

    return run


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """Two nodes with a core each, on this machine alone."""
    for name, value in {"ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "USAGE_STATS_ENABLED": "0"}.items():
        monkeypatch.setenv(f"RAY_{name}", value)
    ray = pytest.importorskip("ray", reason="Ray is not installed: uv pip install ray")
    from ray.cluster_utils import Cluster

    one = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False, "node_ip_address": "127.0.0.1"}
    cluster: Any = Cluster(initialize_head=True, head_node_args=one)
    cluster.second = cluster.add_node(num_cpus=1, object_store_memory=80 << 20, node_ip_address="127.0.0.1")
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_the_answers_of_threads_and_each_question_asked_once(ask: Any, model: Served, nodes: Any) -> None:
    on_threads = ask(20, engine="threads")
    model.asked.clear()
    on_nodes = ask(20, fresh=True)
    assert on_nodes[SAME].equals(on_threads[SAME])
    assert set(on_nodes.number) == {6.0}
    assert sorted(model.asked.values()) == [1] * 20


def test_a_node_that_is_killed_loses_what_it_had_under_way_and_nothing_else(
    ask: Any, model: Served, nodes: Any, own_home: Path
) -> None:
    killed = threading.Event()

    def told(now: Any) -> None:
        if now.done == 10 and not killed.is_set():
            killed.set()
            nodes.remove_node(nodes.second, allow_graceful=False)

    answers = ask(40, on_progress=told)
    assert killed.is_set()
    assert answers.status.tolist() == ["answered"] * 40
    assert set(answers.number) == {6.0}
    # Two of four are under way on each node.
    assert sum(count > 1 for count in model.asked.values()) <= 2
    assert sum(model.asked.values()) <= 42
    assert len(list((own_home / "records").iterdir())) == 40
    assert not list((own_home / "batch").iterdir())


def test_what_ends_a_run_ends_it_here_too_and_the_next_one_goes_on(ask: Any, model: Served, nodes: Any) -> None:
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
    ask: Any, model: Served, nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from finexpert.batch import on_ray

    monkeypatch.setattr(on_ray, "mark", lambda *given: "what this process sees")
    with pytest.raises(DataError, match=r"would answer with something else .*on every node"):
        ask(3)
    assert not model.asked


def test_what_is_open_here_alone_is_refused(ask: Any, model: Served) -> None:
    frame = pd.DataFrame({"n": [1]})
    for source in (frame, {"sales": frame}, [frame]):
        with pytest.raises(ConfigurationError, match="open in this process and in no worker"):
            ask(2, source)
    assert not model.asked
