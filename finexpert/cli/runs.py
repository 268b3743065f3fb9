"""`finexpert runs`: what evaluations, compiles and traces left in the MLflow store.

finexpert runs                                       MLflow's page on the store, until Ctrl-C
finexpert runs list --experiment "finexpert eval fred"
finexpert runs compare 3f2a91 77c0de                 scores side by side, and the parameters that differ
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.taught import stores

if TYPE_CHECKING:
    from finexpert.tracking.runs import TrackedRun

runs_app = typer.Typer(help="MLflow's page, and its runs in the terminal.", invoke_without_command=True)
# MLflow takes half a minute on an idle machine, and minutes on a busy one.
_UP_SECONDS = 300.0
_SHOWN_SCORES = 4


@runs_app.callback()
def page(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 for any that is free.")] = 5000,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")] = True,
) -> None:
    """Open MLflow's page on the store of this folder, or the one named by FINEXPERT_TRACKING_URI, until Ctrl-C."""
    if context.invoked_subcommand is not None:
        return
    settings = common.settings_from()
    from finexpert import tracking
    from finexpert.errors import ConfigurationError
    from finexpert.language_models.secrets import known_secrets, redacted
    from finexpert.tracking.runs import free_port, is_free, page_command

    uri = tracking.address(settings)
    if uri.startswith(("http://", "https://")):
        _show(uri, browser)
        return
    if port and not is_free(port):
        raise ConfigurationError(f"port {port} is taken, by whatever it shows: --port 0 takes one that is free")
    port = port or free_port()
    command, environment = page_command(settings, port)
    with (
        tempfile.TemporaryFile() as said,
        # In a session of its own, so that the processes that it starts end with it.
        subprocess.Popen(command, env=environment, stdout=said, stderr=said, start_new_session=True) as server,
    ):
        try:
            _wait(server, port, said)
            _show(f"http://127.0.0.1:{port}", browser)
            common.echo(f"The store is {redacted(uri, known_secrets())}. Ctrl-C ends the page.")
            server.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGTERM)


def _wait(server: subprocess.Popen[bytes], port: int, said: IO[bytes]) -> None:
    """Wait until the page answers; DataError with the last words of a server that does not."""
    import httpx

    from finexpert.cli.waiting import waiting
    from finexpert.errors import DataError

    end = time.monotonic() + _UP_SECONDS
    with waiting("MLflow starts"):
        while time.monotonic() < end:
            if server.poll() is not None:
                said.seek(0)
                words = said.read().decode(errors="replace").strip().splitlines()
                raise DataError(f"MLflow's page did not start: {words[-1] if words else 'it said nothing'}")
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"http://127.0.0.1:{port}/health", timeout=5.0).status_code == 200:
                    return
            time.sleep(0.25)
    raise DataError(f"MLflow's page did not answer at port {port} within {_UP_SECONDS:g} s")


def _show(address: str, browser: bool) -> None:
    common.echo(common.store_words(address))
    if browser:
        typer.launch(address)


@runs_app.command("list")
def list_(
    experiment: Annotated[str | None, typer.Option(help="Only those of this experiment.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to show, the newest first.")] = 20,
    as_json: common.Json = False,
) -> None:
    """List the runs with their first scores, the newest first."""
    from finexpert.tracking.runs import runs

    found = runs(common.settings_from(), experiment, limit)
    if as_json:
        stores.as_json([_as_dict(run) for run in found])
        return
    if not found:
        stores.say("There is no run yet. Next: finexpert eval fred --lm recorded")
        return
    rows = [(run.id[:8], run.experiment, run.name, run.status, stores.day(run.began), _scores(run)) for run in found]
    stores.table(("id", "experiment", "run", "status", "began", "scores"), rows)


@runs_app.command()
def compare(
    run: Annotated[list[str], typer.Argument(help="Runs by id, the beginning of an id, or name; two or more.")],
    every: Annotated[bool, typer.Option("--all", help="Also the parameters that are the same.")] = False,
    as_json: common.Json = False,
) -> None:
    """Put the scores of runs beside each other, and the parameters that differ."""
    if len(run) < 2:
        raise typer.BadParameter("give two runs or more", param_hint="RUN")
    from finexpert.tracking.runs import find

    found = find(common.settings_from(), run)
    if as_json:
        stores.as_json([_as_dict(each) for each in found])
        return
    params = _rows([each.params for each in found], every)
    scores = _rows([{name: f"{value:,.4g}" for name, value in each.metrics.items()} for each in found], True)
    heads = [f"{each.name} {each.id[:8]}" for each in found]
    stores.table(("", *heads), [("began", *(stores.day(each.began) for each in found)), *params, *scores])


def _rows(columns: Sequence[Mapping[str, str]], every: bool) -> list[tuple[str, ...]]:
    """A row a name, with the value in each column; those that are the same in all only with `every`."""
    names = sorted({name for column in columns for name in column})
    rows = [(name, *(column.get(name, "-") for column in columns)) for name in names]
    return [row for row in rows if every or len(set(row[1:])) > 1]


def _scores(run: TrackedRun) -> str:
    shown = [f"{name} {value:,.4g}" for name, value in sorted(run.metrics.items())]
    more = f" and {len(shown) - _SHOWN_SCORES} more" if len(shown) > _SHOWN_SCORES else ""
    return ", ".join(shown[:_SHOWN_SCORES]) + more


def _as_dict(run: TrackedRun) -> dict[str, Any]:
    return {**asdict(run), "began": run.began.isoformat()}
