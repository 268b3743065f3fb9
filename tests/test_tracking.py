"""MLflow: what an evaluation leaves in the store, and what it must not leave there.

One evaluation runs through the command line against a server that speaks OpenAI's protocol; the tests look at its store.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from served import ServedModel

from finexpert import tracking
from finexpert.core.workspace import NamedFrame, Workspace
from finexpert.settings import Settings
from finexpert.testing import fields
from finexpert.warehouse.local.duckdb_warehouse import Table, build_warehouse

# In the rows and in no answer; in the environment and in no store.
CANARY, NUMBER = "zyxwcanary", 918273645.5
KEY = "planted-key-7f3a9c"

COUNT, RISE = "How many months have sales?", "By how much did sales rise from the first month to the last?"
SELECT = "SELECT date, note, amount FROM sales ORDER BY date"


def reply(prompt: str) -> str:
    """The count rightly; the rise by drafts of which the SELECT, and then the script with a row in its error, fail."""
    rise = RISE in prompt
    leak = "raise ValueError(df['note'].iloc[0] + str(df.amount.iloc[0]) + df.to_string())"
    if "field `[[ ## select_query ## ]]`" in prompt:
        return fields(select_query="SELECT remark FROM sales" if rise else "SELECT count(*) AS n FROM sales")
    select = SELECT.replace("note", "remark") if rise and "field `[[ ## interpretation ## ]]`" in prompt else SELECT
    selects = json.dumps([{"df_name": "df", "df_columns": ["date", "note", "amount"], "select_query": select}])
    if "field `[[ ## interpretation ## ]]`" in prompt:
        code = leak if rise else "answer = len(df)"
        return fields(interpretation="as asked", selects=selects, code=code, answer_kind="number", unit="")
    if "field `[[ ## code ## ]]`" in prompt:
        return fields(code="answer = df.amount.iloc[-1] - df.amount.iloc[0]")
    return fields(selects=selects)


class Evaluated(NamedTuple):
    """A finished evaluation: the folder that it ran in, what it printed, and a client of its store."""

    folder: Path
    ran: subprocess.CompletedProcess[str]
    client: Any


@pytest.fixture(scope="module")
def server() -> Iterator[ServedModel]:
    with ServedModel(lambda messages: reply(messages[-1]["content"])) as served:
        yield served


@pytest.fixture(scope="module")
def evaluated(server: ServedModel, tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    folder = tmp_path_factory.mktemp("evaluated")
    dates = pd.date_range("2020-01-01", periods=6, freq="MS")
    rows = {"date": dates, "note": [f"{CANARY}{n}" for n in range(6)], "amount": [NUMBER + n for n in range(6)]}
    build_warehouse(folder / "sales.duckdb", [Table("sales", pd.DataFrame(rows), date_column="date")])
    questions = [
        {"id": "count", "question": COUNT, "as_of": "2020-12-31", "answer_format": {"kind": "integer"}, "gold": 6},
        {"id": "rise", "question": RISE, "as_of": "2020-12-31", "answer_format": {"kind": "number"}, "gold": 5},
    ]
    (folder / "mine.jsonl").write_text("\n".join(map(json.dumps, questions)))
    options = ("--questions", "mine.jsonl", "--data", "sales.duckdb", "--rungs", "sql+script,+retries")
    model = ("--lm", "openai/served", "--api-base", server.url)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FINEXPERT", "MLFLOW", "OPENAI"))}
    ran = subprocess.run(
        [sys.executable, "-m", "finexpert.cli.main", "eval", "fred", *options, *model],
        cwd=folder,
        env=kept
        | {"FINEXPERT_HOME": str(folder / "home"), "DSPY_CACHEDIR": str(folder / "cache"), "COLUMNS": "150"}
        | {"FINEXPERT_API_KEY": KEY, "OPENAI_API_KEY": f"{KEY}-of-openai"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    with warnings.catch_warnings():
        # What MLflow and SQLAlchemy say of themselves while they are imported.
        warnings.simplefilter("ignore")
        import mlflow.dspy

        client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{folder}/runs/mlflow.db")
        client.search_experiments()
    return Evaluated(folder, ran, client)


def runs(evaluated: Evaluated) -> dict[str, Any]:
    experiment = evaluated.client.get_experiment_by_name("finexpert eval fred")
    return {run.info.run_name: run for run in evaluated.client.search_runs([experiment.experiment_id])}


def artifacts(evaluated: Evaluated, run: Any) -> set[str]:
    return {entry.path for entry in evaluated.client.list_artifacts(run.info.run_id)}


def test_one_run_with_a_nested_run_for_each_rung(evaluated: Evaluated) -> None:
    assert evaluated.ran.returncode == 0, evaluated.ran.stderr
    # Nothing but its progress, a line every ten seconds: no talk of the libraries.
    assert all(line.startswith("questions: ") for line in evaluated.ran.stderr.strip().splitlines())
    found = runs(evaluated)
    assert set(found) == {"eval fred", "sql+script", "+retries", "single-call"}
    parent = found.pop("eval fred")
    assert {run.data.tags["mlflow.parentRunId"] for run in found.values()} == {parent.info.run_id}
    assert {run.info.status for run in [parent, *found.values()]} == {"FINISHED"}
    assert artifacts(evaluated, parent) == {"ladder.png", "spread.png"}
    assert parent.data.params["questions"] == "2"
    assert parent.data.params["model"].startswith("openai/served at http://127.0.0.1")
    for rung, run in found.items():
        assert artifacts(evaluated, run) == {"questions.json"}
        assert run.data.params["rung"] == rung


def test_metrics_are_those_of_the_answers(evaluated: Evaluated) -> None:
    metrics = {name: run.data.metrics for name, run in runs(evaluated).items()}
    (whole,) = [m for m in metrics.values() if "measured" in m]
    assert whole == {"measured": 6, "measured_of": 6, "budget_ended": 0}
    assert {name: m["accuracy"] for name, m in metrics.items() if m is not whole} == {
        "sql+script": 0.5,
        "+retries": 1.0,
        "single-call": 0.5,
    }
    assert metrics["+retries"]["calls_per_question"] == (1 + 3) / 2
    assert metrics["+retries"]["prompt_tokens_per_question"] == 200
    assert metrics["sql+script"]["failures/sql_extraction: sql"] == 1
    assert metrics["single-call"]["failures/single_call: sql"] == 1
    assert metrics["single-call"]["accuracy/without_needs"] == 0.5
    assert "cost_usd_per_question" not in metrics["single-call"]  # the price of a server of one's own is not known


def test_every_question_stands_in_the_artifact(evaluated: Evaluated, tmp_path: Path) -> None:
    run = runs(evaluated)["+retries"]
    path = evaluated.client.download_artifacts(run.info.run_id, "questions.json", str(tmp_path))
    by_id = {row["id"]: row for row in json.loads(Path(path).read_text())}
    assert {id: (row["verdict"], row["answer"]) for id, row in by_id.items()} == {
        "count": ("right", 6),
        "rise": ("right", 5.0),
    }
    assert by_id["rise"]["script"] == "answer = df.amount.iloc[-1] - df.amount.iloc[0]"
    assert by_id["rise"]["usage"]["by_layer"] == {"planning": 1, "sql_extraction": 1, "script_generation": 1}


def test_every_question_has_a_trace(evaluated: Evaluated) -> None:
    experiment = evaluated.client.get_experiment_by_name("finexpert eval fred")
    traces = evaluated.client.search_traces(locations=[experiment.experiment_id])
    roots = [trace.data.spans[0].name for trace in traces]
    assert sorted(roots) == ["FinancialExpert.forward"] * 4 + ["SingleCall.forward"] * 2
    spans = {span.name for trace in traces for span in trace.data.spans}
    assert {"Planning.forward", "SqlExtraction.forward", "ScriptGeneration.forward"} <= spans
    assert {trace.info.status.value for trace in traces} == {"OK"}


def test_no_row_and_no_key_is_kept(evaluated: Evaluated, server: ServedModel) -> None:
    """Neither in the store nor in the artifacts, the home or the cache of completions."""
    kept = {path: path.read_bytes() for path in evaluated.folder.rglob("*") if path.is_file()}
    secrets = (CANARY.encode(), b"918273645", b"918,273,645", KEY.encode())
    del kept[evaluated.folder / "sales.duckdb"]
    found = {(str(path), secret) for path, content in kept.items() for secret in secrets if secret in content}
    assert found == set()
    assert not [secret for secret in secrets if secret.decode() in evaluated.ran.stdout + evaluated.ran.stderr]
    # The search sees what is there: the prompts in the store, the key at the server.
    database = kept[evaluated.folder / "runs" / "mlflow.db"]
    assert all(text.encode() in database for text in (RISE, SELECT, "iloc[-1]"))
    assert set(server.keys) == {f"Bearer {KEY}"}


def test_the_frames_of_a_conversation_are_traced_without_their_rows(evaluated: Evaluated) -> None:
    from mlflow.tracing.utils import TraceJSONEncoder

    frame = NamedFrame("sales", pd.DataFrame({"note": [CANARY], "amount": [NUMBER]}), SELECT)
    traced = json.dumps({"workspace": Workspace(frames={"sales": frame}), "frames": [frame]}, cls=TraceJSONEncoder)
    assert traced.count(SELECT) == 2
    assert CANARY not in traced
    assert "918273645" not in traced


# The pieces, in this process, in the store of that evaluation.


@pytest.fixture
def store(evaluated: Evaluated, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    import mlflow.dspy

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(evaluated.folder)
    yield evaluated.client
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.dspy.autolog(disable=True)
    # None takes back what was chosen, also from the environment.
    mlflow.set_tracking_uri(None)


def test_the_store_that_is_used(store: Any, evaluated: Evaluated, monkeypatch: pytest.MonkeyPatch) -> None:
    local = f"sqlite:///{evaluated.folder}/runs/mlflow.db"
    assert tracking.address(Settings()) == local
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow.example")
    assert tracking.address(Settings()) == "http://mlflow.example"
    assert tracking.address(Settings(tracking_uri="http://other.example")) == "http://other.example"


def stopped(stop: type[BaseException], ids: list[str]) -> None:
    with tracking.run("outer", parent=True) as outer, tracking.run("inner", parent=False) as inner:
        ids += [outer, inner]
        raise stop


def test_an_error_or_ctrl_c_is_told_by_the_status(store: Any) -> None:
    import mlflow

    uri = tracking.start(Settings(), "stops")
    assert mlflow.get_tracking_uri() == uri
    ids: list[str] = []
    for stop in (ValueError, KeyboardInterrupt):
        with pytest.raises(stop):
            stopped(stop, ids)
    assert mlflow.active_run() is None
    assert {store.get_run(id).info.status for id in ids} <= {"FAILED", "KILLED"}


def test_names_values_and_kinds_of_content(store: Any) -> None:
    from matplotlib.figure import Figure

    tracking.start(Settings(), "kinds")
    with tracking.run("all kinds", parent=True, params={"long": "x" * 9000, "none": None}) as id:
        contents: dict[str, Any] = {"a.json": [{"b": 1}], "c.txt": "words", "d.png": Figure()}
        tracking.log({"share": 0.5, "nothing": None, "failures/é+x": 2}, contents)
    run = store.get_run(id)
    assert run.data.metrics == {"share": 0.5, "failures/é_x": 2.0}
    assert (run.data.params["long"], run.data.params["none"]) == ("x" * 500, "None")
    assert {entry.path for entry in store.list_artifacts(id)} == set(contents)
    tracking.finish()
