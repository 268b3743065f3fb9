"""Evaluations: the runs of the MLflow store with their parameters, metrics and plots.

MLflow is imported when the page is opened, and not before.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, Response

from finexpert import tracking
from finexpert.app.page.page import Page, Route
from finexpert.errors import DataError, FinexpertError, NotFound
from finexpert.warehouse.database_address import public_address

MOST_RUNS = 200
_PLOTS = (".png", ".svg")
_ID = 32


@dataclass(frozen=True)
class Run:
    """One run. `parent` is the id of the run that it is a part of."""

    id: str
    name: str
    status: str
    began: dt.datetime | None
    parent: str
    params: dict[str, str]
    metrics: dict[str, float]


@dataclass(frozen=True)
class Experiment:
    name: str
    metrics: list[str]
    runs: list[Run]


class Evaluations(Page):
    """Runs, and a page a run."""

    @classmethod
    def routes(cls) -> Sequence[Route]:
        return (
            ("GET", "/evaluations", cls.all),
            ("GET", "/evaluations/{id}", cls.show),
            ("GET", "/evaluations/{id}/plot", cls.plot),
        )

    async def all(self, request: Request) -> HTMLResponse:
        self.person_of(request).need("read")
        experiments: list[Experiment] = []
        problem = ""
        try:
            experiments = await asyncio.to_thread(experiments_of, self.desk.settings)
        except FinexpertError as error:
            problem = self.desk.said(error)
        place = tracking.address(self.desk.settings)
        link = public_address(place) if place.startswith(("http://", "https://")) else ""
        return self.whole(
            request, "evaluations.html", "evaluations", experiments=experiments, problem=problem, link=link
        )

    async def show(self, request: Request, id: str) -> HTMLResponse:
        self.person_of(request).need("read")
        run, plots = await asyncio.to_thread(run_of, self.desk.settings, id)
        return self.whole(request, "run.html", "evaluations", run=run, plots=plots)

    async def plot(self, request: Request, id: str, path: str) -> Response:
        self.person_of(request).need("read")
        content = await asyncio.to_thread(plot_of, self.desk.settings, id, path)
        headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "private, max-age=300"}
        return Response(content, media_type="image/svg+xml" if path.endswith(".svg") else "image/png", headers=headers)


def _client(settings: Any) -> Any:
    """A client of the store; DataError where nothing was evaluated yet, so that none is made by looking."""
    place = tracking.address(settings)
    if place.startswith("sqlite:///") and not Path(place.removeprefix("sqlite:///")).is_file():
        raise DataError("nothing was evaluated yet: `finexpert eval fred --lm recorded` writes a first run")
    # A server that does not answer is given up after seconds, and not after minutes.
    tracking.import_quietly()
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=place)


def experiments_of(settings: Any) -> list[Experiment]:
    """The experiments that have runs, the last run first."""
    client = _client(settings)
    from mlflow.exceptions import MlflowException

    try:
        found = client.search_experiments()
        shown = [Experiment(each.name, [], [_run(run) for run in _runs(client, each.experiment_id)]) for each in found]
    except MlflowException as error:
        raise DataError(f"the runs cannot be read: {str(error).splitlines()[0]}") from error
    return [Experiment(each.name, _metrics(each.runs), each.runs) for each in shown if each.runs]


def _runs(client: Any, experiment: str) -> Sequence[Any]:
    return client.search_runs([experiment], max_results=MOST_RUNS, order_by=["attributes.start_time DESC"])  # type: ignore[no-any-return]


def _run(run: Any) -> Run:
    tags, began = run.data.tags, run.info.start_time
    return Run(
        run.info.run_id,
        run.info.run_name or run.info.run_id,
        str(run.info.status).lower(),
        dt.datetime.fromtimestamp(began / 1000, dt.UTC) if began else None,
        tags.get("mlflow.parentRunId", ""),
        dict(sorted(run.data.params.items())),
        dict(sorted(run.data.metrics.items())),
    )


def _metrics(runs: Sequence[Run]) -> list[str]:
    """The metrics that most runs have, at most eight, in the order of the alphabet."""
    counts: dict[str, int] = {}
    for run in runs:
        for name in run.metrics:
            counts[name] = counts.get(name, 0) + 1
    return sorted(sorted(counts, key=lambda name: (-counts[name], name))[:8])


def run_of(settings: Any, id: str) -> tuple[Run, list[str]]:
    """One run and the paths of its plots; NotFound where there is none."""
    client = _client(settings)
    from mlflow.exceptions import MlflowException

    if len(id) != _ID or not id.isalnum():
        raise NotFound(f"there is no run {id[:80]!r}")
    try:
        return _run(client.get_run(id)), sorted(_plots(client, id))
    except MlflowException as error:
        raise NotFound(f"there is no run {id[:80]!r}") from error


def _plots(client: Any, id: str, folder: str | None = None) -> Iterator[str]:
    for each in client.list_artifacts(id, folder):
        if each.is_dir:
            yield from _plots(client, id, each.path)
        elif each.path.endswith(_PLOTS):
            yield each.path


def plot_of(settings: Any, id: str, path: str) -> bytes:
    """A plot of a run; NotFound for any other file."""
    _, plots = run_of(settings, id)
    if path not in plots:
        raise NotFound(f"the run has no plot {path[:80]!r}")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return Path(_client(settings).download_artifacts(id, path, folder)).read_bytes()
