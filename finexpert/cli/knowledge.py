"""`finexpert knowledge check`: whether all that was taught still holds on today's data.

finexpert knowledge check --data trades.duckdb
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.options import Given, takes
from finexpert.cli.taught import stores
from finexpert.cli.verified.command import show_tried, tried
from finexpert.cli.waiting import waiting

if TYPE_CHECKING:
    from finexpert.knowledge.process import Process
    from finexpert.knowledge.taught import Taught
    from finexpert.settings import Settings
    from finexpert.warehouse.warehouse import Warehouse

knowledge_app = typer.Typer(help="All that was taught, looked at together.", no_args_is_help=True)


@knowledge_app.command()
@takes("data lm api_base recordings record as_of store")
def check(
    given: Given,
    cases: Annotated[
        bool, typer.Option("--cases", help="Have a model follow each process whose SELECTs do not prove its case.")
    ] = False,
    as_json: common.Json = False,
) -> None:
    """Run the SELECTs of verified queries and of processes on the data as they are now; exit code 1 if one no longer holds.

    A process whose last SELECT gives the result that was accepted when it was taught is proved without a model. Nothing is changed.
    """
    settings = given.settings()
    with closing(common.open_data(given.data, settings)) as warehouse, stores.opened(given.store) as (taught, _):
        queries = tried(taught, given.data, settings)
        processes = [
            {"id": each.id[:8], "heading": each.heading, **_tried(each, warehouse, taught, settings, cases)}
            for each in taught.memory.processes(("active",))
            if _is_of(each, warehouse)
        ]
    if as_json:
        stores.as_json({"verified": queries, "processes": processes})
    else:
        show_tried(queries)
        for process in processes:
            said = f"broke: {process['problem']}" if process["problem"] else f"holds: {process['shown']}"
            stores.say(f"{process['id']}  {process['heading']}\n  {said}")
        broke = sum(bool(each["problem"]) for each in (*queries, *processes))
        stores.say(f"{len(queries)} verified queries and {len(processes)} processes tried, {broke} broke")
    if any(each["problem"] for each in (*queries, *processes)):
        raise typer.Exit(1)


def _is_of(process: Process, warehouse: Warehouse) -> bool:
    """Whether a process is one of these data: what holds everywhere may read the tables of others."""
    from finexpert.knowledge.scopes import of_source
    from finexpert.warehouse.checks.reading.select import read

    if process.scope not in ("", of_source(warehouse.name)):
        return False
    selects = [step.sql for step in process.steps if step.sql]
    return not selects or any(read(each, warehouse.dialect, warehouse.tables).used for each in selects)


def _tried(process: Process, warehouse: Warehouse, taught: Taught, settings: Settings, cases: bool) -> dict[str, str]:
    """What speaks against a process on the data as they are now, else by what it is shown to hold."""
    import datetime as dt

    from finexpert.plans import process_checks

    others = taught.memory.seen_by([process.scope]).named_elsewhere(process.id)
    problems = process_checks.problems(process, warehouse, settings.as_of or dt.date.today(), others)
    shown = "its SELECTs run" if any(step.sql for step in process.steps) else "it has no SELECT that could be run"
    if not problems and process.case is not None:
        if process_checks.gives_its_case(process, warehouse, process.case.as_of, others):
            shown = "its last SELECT gives the result that was accepted"
        elif cases:
            problems = _followed(process, warehouse, settings)
            shown = "followed by a model, it gives the result that was accepted"
    return {"shown": "" if problems else shown, "problem": "; ".join(problems)}


def _followed(process: Process, warehouse: Warehouse, settings: Settings) -> list[str]:
    """What a model that follows the process makes wrong of its case."""
    from finexpert.session import Session

    with waiting(), Session(warehouse, settings=settings) as session:
        return session.tried(process).problems
