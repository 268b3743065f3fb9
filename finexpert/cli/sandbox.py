"""`finexpert sandbox`: what stands around generated scripts on this machine, and attacks on it.

finexpert sandbox attack --json
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.attacks.scripts import Result

sandbox_app = typer.Typer(
    no_args_is_help=True, help="What stands around generated scripts and statements, and attacks on it."
)
Workers = Annotated[int, typer.Option(min=1, max=16, help="How many attacks run side by side.")]


@sandbox_app.command()
def attack(workers: Workers = 2, as_json: common.Json = False) -> None:
    """Run every attack and every ordinary analysis on each boundary that works here; exit code 1 if one is not held.

    The early refusal of scripts is off, so that the boundary itself is tried. About three minutes.
    """
    suites = _script_suites(workers)
    suites["statements on DuckDB"] = _statements()
    failed = [result for results in suites.values() for result in results if not result.held]
    if as_json:
        typer.echo(json.dumps({name: [_facts(one) for one in results] for name, results in suites.items()}, indent=1))
    else:
        for name, results in suites.items():
            _print_table(name, results)
        for result in failed:
            words = f"NOT HELD: {result.case.group}: {result.case.name}: {result.wrong}: {result.said[:300]}"
            common.console().print(words, markup=False, soft_wrap=True)
    if failed:
        raise typer.Exit(1)


@sandbox_app.command()
def status(as_json: common.Json = False) -> None:
    """Show which boundary is used, what a locked process was denied just now, and what no boundary here covers."""
    from finexpert.sandbox import Sandbox, describe
    from finexpert.sandbox.rungs import not_covered

    facts = describe()
    with Sandbox() as sandbox:
        facts |= {"denied": dict(sandbox.self_test), "not covered": not_covered(sandbox.rung)}
    if as_json:
        typer.echo(json.dumps(facts, indent=1))
        return
    for name, value in facts.items():
        shown = "; ".join(f"{key}: {each}" for key, each in value.items()) if isinstance(value, dict) else value
        shown = "; ".join(value) if isinstance(value, list) else shown
        common.console().print(f"{name}: {shown if shown is not None else 'none'}", markup=False, soft_wrap=True)


def _script_suites(workers: int) -> dict[str, list[Result]]:
    from finexpert.attacks.cases import cases
    from finexpert.attacks.scripts import LIMITS, run_analyses, run_attacks
    from finexpert.errors import SandboxUnavailable
    from finexpert.sandbox import Sandbox, available_rung
    from finexpert.sandbox.rungs import RUNGS

    available_rung()  # raises if there is no boundary at all
    suites: dict[str, list[Result]] = {}
    for rung in RUNGS:
        try:
            with Sandbox(LIMITS, workers=workers, rung=rung, policy=False) as sandbox:
                sandbox.warm()
                with common.progress(f"attacks on {rung}", len(cases("scripts"))) as done:
                    results = suites.setdefault(f"scripts on {rung}", [])
                    for result in run_attacks(sandbox, threads=workers):
                        results.append(result)
                        done(1)
            for policy in (True, False):
                with Sandbox(rung=rung, policy=policy) as sandbox:
                    name = f"analyses on {rung}, policy {'on' if policy else 'off'}"
                    suites[name] = list(run_analyses(sandbox))
        except SandboxUnavailable as error:
            common.console().print(f"not tried: {error}", markup=False, soft_wrap=True)
    return suites


def _statements() -> list[Result]:
    from finexpert.attacks.cases import cases
    from finexpert.attacks.statements import run_statements

    results: list[Result] = []
    with common.progress("statements", len(cases("statements"))) as done:
        for result in run_statements():
            results.append(result)
            done(1)
    return results


def _facts(result: Result) -> dict[str, Any]:
    case = result.case
    return {
        "group": case.group,
        "name": case.name,
        "held": result.held,
        "said": result.said,
        "wrong": result.wrong,
        "seconds": round(result.seconds, 3),
    }


def _print_table(name: str, results: list[Result]) -> None:
    from rich.table import Table

    shown = Table(name, "held", "tried", box=None, header_style="bold")
    for group in dict.fromkeys(result.case.group for result in results):
        mine = [result for result in results if result.case.group == group]
        shown.add_row(group, str(sum(result.held for result in mine)), str(len(mine)))
    shown.add_row("all", str(sum(result.held for result in results)), str(len(results)), style="bold")
    common.console().print(shown)
