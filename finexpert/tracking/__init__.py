"""MLflow: one parent run an evaluation, one nested run a rung, traces of every question.

The store is `runs/mlflow.db` of the current folder, unless `tracking_uri` or MLFLOW_TRACKING_URI names another.
Look at it with `finexpert runs`.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finexpert.errors import DataError
from finexpert.language_models.secrets import known_secrets, redacted
from finexpert.storage.private_files import make_file, make_folder

if TYPE_CHECKING:
    from finexpert.settings import Settings


def start(settings: Settings, experiment: str) -> str:
    """Choose store and experiment, switch traces of prompts and answers on, and return the address of the store."""
    uri = address(settings)
    import_quietly()
    import mlflow

    mlflow.set_experiment(experiment_id=choose(uri, experiment))
    mlflow.dspy.autolog(log_traces=True)
    return uri


def import_quietly() -> None:
    """Import MLflow so that it neither talks nor asks the network, nor waits long for a store."""
    # Read when MLflow is imported: without it every start tries to reach the network.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    # Recorded completions answer faster than traces are written; what does not fit into the queue is lost.
    os.environ.setdefault("MLFLOW_ASYNC_TRACE_LOGGING_MAX_QUEUE_SIZE", "20000")
    # By itself it tries a server that does not answer for minutes.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "15")
    import mlflow  # noqa: F401

    quiet()


def choose(uri: str, experiment: str) -> str:
    """Choose a store, and make the experiment where it is not there; the experiment's id."""
    import_quietly()
    import mlflow

    if uri == _local():
        # The store and its artifacts hold questions, SELECTs and answers.
        make_folder(Path("runs") / "artifacts")
        make_file(Path("runs") / "mlflow.db")
    mlflow.set_tracking_uri(uri)
    with reaching(uri):
        found = mlflow.get_experiment_by_name(experiment)
        if found is not None:
            return str(found.experiment_id)
        artifacts = (Path("runs") / "artifacts").resolve().as_uri() if uri.startswith("sqlite:") else None
        return str(mlflow.create_experiment(experiment, artifact_location=artifacts))


@contextmanager
def reaching(uri: str) -> Iterator[None]:
    """What goes wrong with the store within it is a DataError that names the store."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, OSError) as error:
        told = redacted(uri, known_secrets())
        raise DataError(
            f"the MLflow store {told} cannot be used ({type(error).__name__}): start its server, mend or remove its file, "
            "or name another with FINEXPERT_TRACKING_URI"
        ) from error


def quiet() -> None:
    """MLflow says no more than a warning is."""
    # It reports every migration of a new store, and every flush of traces, as if they were warnings.
    for name in ("mlflow.store.db.utils", "mlflow.tracing.export.async_export_queue", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)


def address(settings: Settings) -> str:
    """Address of the store that would be used."""
    return settings.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI") or _local()


def _local() -> str:
    return f"sqlite:///{(Path('runs') / 'mlflow.db').resolve()}"


@contextmanager
def run(name: str, *, parent: bool, params: Mapping[str, Any] | None = None) -> Iterator[str]:
    """An MLflow run, nested unless it is a parent; its id. After an error or Ctrl-C its status says so."""
    import mlflow

    uri = mlflow.get_tracking_uri()
    with reaching(uri):
        begun = mlflow.start_run(run_name=name, nested=not parent)
    with begun as active:
        if params:
            secrets = known_secrets()
            with reaching(uri):
                mlflow.log_params({key: redacted(str(value), secrets)[:500] for key, value in params.items()})
        yield active.info.run_id


def log(metrics: Mapping[str, float | None], artifacts: Mapping[str, Any]) -> None:
    """Log metrics (None is left out) and artifacts: .json and .txt contents by name, figures as .png."""
    import mlflow

    with reaching(mlflow.get_tracking_uri()):
        mlflow.log_metrics({_metric(name): float(value) for name, value in metrics.items() if value is not None})
        for name, content in artifacts.items():
            if name.endswith(".png"):
                mlflow.log_figure(content, name)
            elif name.endswith(".json"):
                mlflow.log_dict(content, name)
            else:
                mlflow.log_text(content, name)


def tag_trace(name: str, value: str) -> None:
    """Tag the trace of the question that is being answered; nothing where none is being traced."""
    mlflow = sys.modules.get("mlflow")
    if mlflow is not None and mlflow.get_current_active_span() is not None:
        mlflow.update_current_trace(tags={name: value})


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
