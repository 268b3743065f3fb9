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
Rung = Annotated[
    list[str] | None, typer.Option(help="Only this boundary, and no statements; may be given several times.")
]


@sandbox_app.command()
def attack(
    workers: Workers = 2,
    rung: Rung = None,
    as_json: common.Json = False,
) -> None:
    """Run every attack and every ordinary analysis on each boundary that works here; exit code 1 if one is not held.

    First with the early refusal of scripts off, so that the boundary itself is tried, then with it on. Some minutes.
    """
    suites = _script_suites(workers, rung)
    if not rung:
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
def image(
    engine: Annotated[str | None, typer.Option(help="The engine's program; else podman or docker, as found.")] = None,
    containerfile: Annotated[bool, typer.Option("--containerfile", help="Print what to build instead.")] = False,
) -> None:
    """Make the image of the boundary `container` from this interpreter and its packages, and say what to set.

    Nothing is downloaded. Elsewhere than on Linux: `finexpert sandbox image --containerfile` says what to build.
    """
    import shutil

    from finexpert.errors import SandboxUnavailable
    from finexpert.isolation.containers import container
    from finexpert.isolation.containers import image as making

    if containerfile:
        typer.echo(making.containerfile(), nl=False)
        return
    found = engine or next((path for name in container.ENGINES if (path := shutil.which(name))), None)
    if found is None:
        raise SandboxUnavailable("neither podman nor docker is installed: install one, or name it with --engine")
    if shutil.which(found) is None:
        raise SandboxUnavailable(f"there is no program {found!r}: install it, or name another with --engine")
    typer.echo(f"export {container.VARIABLE}={making.build(found)}")


@sandbox_app.command()
def status(as_json: common.Json = False) -> None:
    """Show which boundary is used, what a locked process was denied just now, and what no boundary here covers."""
    from finexpert.isolation.rungs import not_covered
    from finexpert.sandbox import Sandbox, describe

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


def _script_suites(workers: int, chosen: list[str] | None) -> dict[str, list[Result]]:
    from finexpert.attacks.scripts import run_analyses
    from finexpert.errors import SandboxUnavailable
    from finexpert.isolation.rungs import RUNGS
    from finexpert.sandbox import Sandbox, available_rung

    available_rung()  # raises if there is no boundary at all
    suites: dict[str, list[Result]] = {}
    for rung in chosen or RUNGS:
        try:
            for policy in (False, True):
                words = f"{rung}, policy {'on' if policy else 'off'}"
                suites[f"scripts on {words}"] = _attacks(rung, policy, workers, words)
                with Sandbox(rung=rung, policy=policy) as sandbox:
                    suites[f"analyses on {words}"] = list(run_analyses(sandbox))
        except SandboxUnavailable as error:
            common.console(stderr=True).print(f"not tried: {error}", markup=False, soft_wrap=True)
    return suites


def _attacks(rung: str, policy: bool, workers: int, words: str) -> list[Result]:
    from finexpert.attacks.cases import cases
    from finexpert.attacks.scripts import LIMITS, run_attacks
    from finexpert.sandbox import Sandbox

    results: list[Result] = []
    with Sandbox(LIMITS, workers=workers, rung=rung, policy=policy) as sandbox:
        sandbox.warm()
        with common.progress(f"attacks on {words}", len(cases("scripts"))) as done:
            for result in run_attacks(sandbox, threads=workers):
                results.append(result)
                done(1)
    return results


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
