"""The page of evaluations: runs of an MLflow store, and nothing of it where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from finexpert.app.page import evaluations
from finexpert.errors import DataError, NotFound
from finexpert.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tracking_uri=f"sqlite:///{tmp_path / 'mlflow.db'}")


def test_nothing_is_made_by_looking(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing was evaluated yet"):
        evaluations.experiments_of(settings)
    assert not (tmp_path / "mlflow.db").exists()


@pytest.mark.filterwarnings("ignore")
def test_a_server_that_does_not_answer_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "MLFLOW_HTTP_REQUEST_TIMEOUT"):
        # Set and taken away, so that what is looked at here is as it was before when the test ends.
        monkeypatch.setenv(name, "0")
        monkeypatch.delenv(name)
    evaluations._client(Settings(tracking_uri="http://127.0.0.1:9"))
    assert int(os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"]) <= 2
    assert int(os.environ["MLFLOW_HTTP_REQUEST_TIMEOUT"]) <= 15


@pytest.mark.filterwarnings("ignore")
def test_runs_are_shown_with_their_numbers_and_plots(settings: Settings, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=settings.tracking_uri)
    experiment = client.create_experiment("fred", artifact_location=(tmp_path / "artifacts").as_uri())
    run = client.create_run(experiment, run_name="checked")
    client.log_metric(run.info.run_id, "execution_accuracy", 0.96)
    client.log_param(run.info.run_id, "model", "m")
    (tmp_path / "accuracy.png").write_bytes(b"\x89PNG")
    (tmp_path / "notes.txt").write_text("secret")
    for name in ("accuracy.png", "notes.txt"):
        client.log_artifact(run.info.run_id, str(tmp_path / name), "plots")
    client.set_terminated(run.info.run_id)
    (shown,) = evaluations.experiments_of(settings)
    assert (shown.name, shown.metrics) == ("fred", ["execution_accuracy"])
    assert (shown.runs[0].name, shown.runs[0].status) == ("checked", "finished")
    found, plots = evaluations.run_of(settings, run.info.run_id)
    assert (found.params, found.metrics) == ({"model": "m"}, {"execution_accuracy": 0.96})
    assert plots == ["plots/accuracy.png"]
    assert evaluations.plot_of(settings, run.info.run_id, plots[0]) == b"\x89PNG"
    for path in ("plots/notes.txt", "../mlflow.db", "plots/../notes.txt"):
        with pytest.raises(NotFound):
            evaluations.plot_of(settings, run.info.run_id, path)
    for id in ("nothing", "0" * 32, "../" * 10):
        with pytest.raises(NotFound):
            evaluations.run_of(settings, id)
