"""With MLflow's autologging on: a trace holds the call, and calls are counted as without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dspy
import pytest

from finexpert.language_models.scripted import ScriptedModel
from finexpert.language_models.usage import Meter

mlflow = pytest.importorskip("mlflow")


@pytest.fixture
def _autolog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_experiment("test")
    mlflow.dspy.autolog()
    yield
    mlflow.dspy.autolog(disable=True)
    mlflow.set_tracking_uri(None)


@pytest.mark.usefixtures("_autolog")
@pytest.mark.filterwarnings("ignore")
def test_traced_and_counted() -> None:
    lm = ScriptedModel(lambda messages: "[[ ## answer ## ]]\n1\n\n[[ ## completed ## ]]")
    with dspy.context(lm=lm), Meter() as meter:
        dspy.Predict("question -> answer")(question="?")
    mlflow.flush_trace_async_logging()
    (trace,) = mlflow.search_traces(return_type="list")
    assert "ScriptedModel.__call__" in [span.name for span in trace.data.spans]
    assert meter.usage().calls == 1
