"""`finexpert compiled`: the programs that compiling left under runs/compiled, and which of them is in use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.optimizers.program.decision import Decision
    from finexpert.optimizers.program.manifest import LayerEntry, Manifest

compiled_app = typer.Typer(help="Look at compiled programs, compare them, put one into use.", no_args_is_help=True)

Place = Annotated[
    str, typer.Argument(help="A name under runs/compiled, a folder, models:/NAME/VERSION or runs:/ID/PATH.")
]
CODE = "code"


@compiled_app.command("list")
def list_(as_json: common.Json = False) -> None:
    """List the compiled programs of the current folder, the newest first."""
    from finexpert.errors import FinexpertError
    from finexpert.optimizers.program.artifact import COMPILED
    from finexpert.optimizers.program.loading import PROMOTED, promoted, saved
    from finexpert.optimizers.program.manifest import read

    used = promoted().name if (COMPILED / PROMOTED).is_file() else None
    rows: list[dict[str, Any]] = []
    for folder in saved():
        row: dict[str, Any] = {"name": folder.name, "in_use": folder.name == used}
        try:
            rows.append(row | _summary(read(folder)))
        except FinexpertError as error:
            rows.append(row | {"created": "", "error": str(error)})
    rows.sort(key=lambda row: row["created"], reverse=True)
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
    else:
        _print_list(rows)


def _summary(manifest: Manifest) -> dict[str, Any]:
    compiled = {name: entry for name, entry in manifest.layers.items() if entry.optimizer}
    return {
        "created": manifest.created.isoformat(timespec="seconds"),
        "layers": {name: entry.optimizer for name, entry in compiled.items()},
        "models": sorted({entry.model for entry in compiled.values() if entry.model}),
        "options": manifest.options.chosen(),
        "against_the_gate": manifest.refused,
        "error": None,
    }


def _print_list(rows: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = common.console()
    if not rows:
        out.print("nothing is compiled here; `finexpert compile` does it")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("name", "created", "compiled layers", "model", "options", ""):
        table.add_column(name)
    for row in rows:
        if row["error"]:
            table.add_row(Text(row["name"]), "", Text(row["error"], style="red"), "", "", "unusable")
            continue
        layers = ", ".join(f"{name} ({optimizer})" for name, optimizer in row["layers"].items())
        options = ", ".join(f"{name}={value}" for name, value in row["options"].items())
        notes = ["in use"] * row["in_use"] + ["against the gate"] * bool(row["against_the_gate"])
        cells = (
            row["name"],
            row["created"][:16],
            layers or "none",
            ", ".join(row["models"]),
            options,
            ", ".join(notes),
        )
        table.add_row(*map(Text, cells))
    out.print(table)


@compiled_app.command()
def show(
    program: Place,
    prompts: Annotated[bool, typer.Option("--prompts", help="Print every predictor's prompt too.")] = False,
    as_json: common.Json = False,
) -> None:
    """Show what a program was compiled with: scores before and after, decisions of the gate, flipped cases."""
    settings = common.settings_from()
    from finexpert.optimizers.program import differences
    from finexpert.optimizers.program.loading import load, located
    from finexpert.optimizers.program.manifest import read

    if as_json:
        with located(program, settings) as folder:
            typer.echo(read(folder).model_dump_json(indent=1, by_alias=True))
        return
    expert = load(program, settings=settings)
    _print_manifest(expert.manifest)
    if prompts:
        for name, text in differences.prompts(expert).items():
            common.console().rule(name)
            common.echo(text)


def _print_manifest(manifest: Manifest) -> None:
    out = common.console()

    def say(text: str, style: str = "") -> None:
        out.print(text, style=style, markup=False, soft_wrap=True)

    say(f"{manifest.name}, {manifest.created:%Y-%m-%d %H:%M} UTC", "bold")
    say(f"finexpert {manifest.finexpert}, dspy {manifest.dspy}, Python {manifest.python}", "dim")
    for name, value in manifest.options.chosen().items():
        say(f"option {name} = {value}" + _why(manifest.evidence.get(name)))
    for name, decision in manifest.evidence.items():
        if name not in manifest.options.chosen():
            say(f"{name}: {decision.reason}")
    for name, entry in manifest.layers.items():
        say(f"{name}: " + _how(entry), "bold" if entry.optimizer else "dim")
        for split, scores in entry.scores.items():
            before, after = scores.before, scores.after
            say(
                f"  {split}: {before.mean:.3f} ({before.low:.3f} to {before.high:.3f}) before, "
                f"{after.mean:.3f} ({after.low:.3f} to {after.high:.3f}) after, n={after.n}"
            )
        _print_decision(entry.decision, say)
        if entry.left_out is not None:
            say(f"  left out: {entry.left_out.reason}", "yellow")
    for part in manifest.combined:
        say(f"the program on {part.sample}: {part.scores.before.mean:.3f} before, {part.scores.after.mean:.3f} after")
        _print_decision(part.decision, say)


def _how(entry: LayerEntry) -> str:
    if not entry.optimizer:
        return "as in the code"
    words = [entry.optimizer, *(f"{name}={value}" for name, value in entry.arguments.items())]
    words += [f"model {entry.model}"] if entry.model else []
    words += [f"teacher {entry.teacher}"] if entry.teacher else []
    words += [f"examples {entry.examples}"] if entry.examples else []
    return ", ".join(words)


def _why(decision: Decision | None) -> str:
    return f": {decision.reason}" if decision else ""


def _print_decision(decision: Decision | None, say: Any) -> None:
    if decision is None:
        return
    low, high = decision.interval
    words = "kept" if decision.keep else "not kept"
    say(f"  {words}: {decision.reason}", "" if decision.passed else "yellow")
    say(f"  difference on the holdout {decision.difference:+.3f} ({low:+.3f} to {high:+.3f}), p={decision.p:.3g}")
    if decision.flips:
        flips = ", ".join(f"{id} {before:g}→{after:g}" for id, before, after in decision.flips)
        say(f"  flipped: {flips}")
    if decision.note:
        say(f"  note: {decision.note}", "dim")


@compiled_app.command()
def diff(
    old: Annotated[str, typer.Argument(help="A compiled program, or 'code' for the one that is not compiled.")],
    new: Annotated[str, typer.Argument(help="Another one.")],
) -> None:
    """Show in which prompts, demonstrations and options two programs differ."""
    settings = common.settings_from()
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.optimizers.program import differences
    from finexpert.optimizers.program.loading import load

    def program(place: str) -> tuple[FinancialExpert, dict[str, Any]]:
        if place == CODE:
            return FinancialExpert(), {}
        expert = load(place, settings=settings)
        return expert, dict(expert.options)

    (first, first_options), (second, second_options) = program(old), program(new)
    found = differences.between(first, second, (old, new))
    for name, text in found.items():
        typer.echo(f"{name}\n{text}")
    for option in sorted({*first_options, *second_options}):
        was, is_ = (options.get(option, "as set") for options in (first_options, second_options))
        if was != is_:
            typer.echo(f"option {option}: {was} -> {is_}")
    if not found and first_options == second_options:
        typer.echo(f"{old} and {new} ask the same")


@compiled_app.command()
def promote(
    name: Annotated[str, typer.Argument(help="A name under runs/compiled.")],
    keep_anyway: Annotated[
        bool, typer.Option("--keep-anyway", help="Also if the gate refused a part of it; this is recorded.")
    ] = False,
) -> None:
    """Put a compiled program into use: it is what the name 'promoted' stands for."""
    from finexpert.optimizers.program import loading

    common.settings_from()
    made = loading.promote(name, keep_anyway=keep_anyway)
    before = f", in place of {made.previous}" if made.previous and made.previous != name else ""
    typer.echo(f"{name} is in use{before}")
    for what in made.anyway:
        typer.echo(f"against the gate: {what}")
