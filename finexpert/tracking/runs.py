"""The runs in the MLflow store: listed, found by a name, and shown on MLflow's own page.

runs(Settings())[0]   ->   TrackedRun(id="3f2a...", name="eval fred", experiment="finexpert eval fred", status="finished", ...)
"""

from __future__ import annotations

import datetime as dt
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finexpert import tracking
from finexpert.errors import DataError

if TYPE_CHECKING:
    from finexpert.settings import Settings

_PARENT, _NAME = "mlflow.parentRunId", "mlflow.runName"
_FILE = "sqlite:///"
_MOST = 5_000
# Without them MLflow asks the network when it starts, and waits for ever where there is none.
_OFFLINE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "MLFLOW_DISABLE_TELEMETRY": "true"}


@dataclass(frozen=True)
class TrackedRun:
    """A run; `parent` is the id of the one that it is a part of, `seconds` is None while it runs."""

    id: str
    name: str
    experiment: str
    status: str
    began: dt.datetime
    seconds: float | None
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    parent: str | None = None


def runs(settings: Settings, experiment: str | None = None, limit: int = 20) -> list[TrackedRun]:
    """The runs that are no part of another, the newest first; DataError where there is no store."""
    names = _experiments(settings)
    wanted = {id: name for id, name in names.items() if experiment in (None, name)}
    if not wanted:
        raise DataError(
            f"there is no experiment {experiment!r}; there are {', '.join(sorted(names.values())) or 'none'}"
        )
    found = _search(settings, wanted)
    return [run for run in found if run.parent is None][:limit]


def find(settings: Settings, names: Sequence[str]) -> list[TrackedRun]:
    """The run of each id, beginning of an id, or name, of which the newest counts; DataError for one that there is not."""
    every = _search(settings, _experiments(settings))
    return [_one(every, name) for name in names]


def _one(every: Sequence[TrackedRun], name: str) -> TrackedRun:
    named = [run for run in every if run.name == name]
    begun = [run for run in every if run.id.startswith(name)]
    if len(begun) > 1 and not named:
        raise DataError(
            f"{name!r} begins the ids of {len(begun)} runs: give more of it; `finexpert runs list` shows them"
        )
    if not (named or begun):
        raise DataError(f"there is no run {name!r}: `finexpert runs list` shows those there are")
    return (named or begun)[0]


def page_command(settings: Settings, port: int) -> tuple[list[str], dict[str, str]]:
    """What starts MLflow's page over the store, and its environment."""
    uri = _store(settings)
    options = ["--backend-store-uri", uri, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    # Or Python would look for mlflow, and all that it imports, in the current folder first.
    safe = {"PYTHONSAFEPATH": "1"}
    return [sys.executable, "-m", "mlflow", "server", *options], {**os.environ, **_OFFLINE, **safe}


def is_free(port: int) -> bool:
    """Whether nothing listens at a port of this machine: what does would answer in the place of the page."""
    with socket.socket() as asking:
        asking.settimeout(1.0)
        return asking.connect_ex(("127.0.0.1", port)) != 0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _store(settings: Settings) -> str:
    uri = tracking.address(settings)
    if uri.startswith(_FILE) and not Path(uri.removeprefix(_FILE)).is_file():
        raise DataError(
            f"there is no MLflow store {uri.removeprefix(_FILE)} yet: `finexpert eval fred --lm recorded` makes one, "
            "FINEXPERT_TRACKING_URI names another"
        )
    return uri


def _client(settings: Settings) -> Any:
    uri = _store(settings)
    os.environ.update({name: value for name, value in _OFFLINE.items() if name not in os.environ})
    import mlflow

    tracking.quiet()
    return mlflow.MlflowClient(tracking_uri=uri)


def _experiments(settings: Settings) -> dict[str, str]:
    client = _client(settings)
    with tracking.reaching(tracking.address(settings)):
        return {each.experiment_id: each.name for each in client.search_experiments()}


def _search(settings: Settings, experiments: Mapping[str, str]) -> list[TrackedRun]:
    client = _client(settings)
    with tracking.reaching(tracking.address(settings)):
        found = client.search_runs(list(experiments), max_results=_MOST, order_by=["start_time DESC"])
    return [_tracked(run, experiments) for run in found]


def _tracked(run: Any, experiments: Mapping[str, str]) -> TrackedRun:
    info, data = run.info, run.data
    return TrackedRun(
        id=info.run_id,
        name=data.tags.get(_NAME, ""),
        experiment=experiments[info.experiment_id],
        status=info.status.lower(),
        began=dt.datetime.fromtimestamp(info.start_time / 1000, dt.UTC),
        seconds=None if info.end_time is None else (info.end_time - info.start_time) / 1000,
        params=dict(data.params),
        metrics=dict(data.metrics),
        parent=data.tags.get(_PARENT),
    )
