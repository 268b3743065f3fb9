"""MLflow: one parent run an evaluation, one nested run a rung, traces of every question.

The store is `runs/mlflow.db` of the current folder, unless `tracking_uri` or MLFLOW_TRACKING_URI names another.
Look at it with `mlflow ui --backend-store-uri sqlite:///runs/mlflow.db`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from finexpert.settings import Settings


def start(settings: Settings, experiment: str) -> str:
    """Choose store and experiment, switch traces on, and return the address of the store."""
    # Read when MLflow is imported: without it every start tries to reach the network.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    # Recorded completions answer faster than traces are written; what does not fit into the queue is lost.
    os.environ.setdefault("MLFLOW_ASYNC_TRACE_LOGGING_MAX_QUEUE_SIZE", "20000")
    import mlflow

    # It reports every migration of a new store, and every flush of traces, as if they were warnings.
    for name in ("mlflow.store.db.utils", "mlflow.tracing.export.async_export_queue", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    uri = address(settings)
    if uri == _local():
        Path("runs").mkdir(exist_ok=True)
    mlflow.set_tracking_uri(uri)
    if mlflow.get_experiment_by_name(experiment) is None:
        artifacts = (Path("runs") / "artifacts").resolve().as_uri() if uri.startswith("sqlite:") else None
        mlflow.create_experiment(experiment, artifact_location=artifacts)
    mlflow.set_experiment(experiment)
    mlflow.dspy.autolog(log_traces=True)
    return uri


def address(settings: Settings) -> str:
    """Address of the store that would be used."""
    return settings.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI") or _local()


def _local() -> str:
    return f"sqlite:///{(Path('runs') / 'mlflow.db').resolve()}"


@contextmanager
def run(name: str, *, parent: bool, params: Mapping[str, Any] | None = None) -> Iterator[str]:
    """An MLflow run, nested unless it is a parent; its id. After an error or Ctrl-C its status says so."""
    import mlflow

    with mlflow.start_run(run_name=name, nested=not parent) as active:
        if params:
            mlflow.log_params({key: str(value)[:500] for key, value in params.items()})
        yield active.info.run_id


def log(metrics: Mapping[str, float | None], artifacts: Mapping[str, Any]) -> None:
    """Log metrics (None is left out) and artifacts: .json and .txt contents by name, figures as .png."""
    import mlflow

    mlflow.log_metrics({_metric(name): float(value) for name, value in metrics.items() if value is not None})
    for name, content in artifacts.items():
        if name.endswith(".png"):
            mlflow.log_figure(content, name)
        elif name.endswith(".json"):
            mlflow.log_dict(content, name)
        else:
            mlflow.log_text(content, name)


def _metric(name: str) -> str:
    """A name that MLflow accepts.

    >>> _metric("failures/script: runtime +x")
    'failures/script: runtime _x'
    """
    return "".join(c if c.isalnum() or c in "_-. :/" else "_" for c in name)


def finish() -> None:
    """Wait for traces, which are written in the background."""
    import mlflow

    mlflow.flush_trace_async_logging()
