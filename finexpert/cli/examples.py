"""`finexpert examples`: the example sets on which layers are tuned and judged.

finexpert examples list                             what there is, by layer and split
finexpert examples check                            read every record and run every reference
finexpert examples check planning --file MINE       the same for a file of one's own
finexpert examples check planning --file MINE --data DESK.duckdb      whose records ask one's own database
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from rich.table import Table

    from finexpert.datasets.layers.examples import LayerExample, Problem
    from finexpert.sandbox import Sandbox

examples_app = typer.Typer(help="The example sets on which layers are tuned and judged.", no_args_is_help=True)

Layer = Annotated[str | None, typer.Argument(help="One layer, such as planning; all of them if not given.")]
THREADS = 2


@examples_app.command("list")
def list_sets() -> None:
    """List the packaged example sets: examples by split, and the fingerprint by which a compiled layer names it."""
    common.settings_from()
    from rich.table import Table

    from finexpert.datasets.layers.examples import LAYERS, fingerprint, load

    table = Table("layer", "train", "val", "holdout", "fingerprint")
    for layer in LAYERS:
        counts = Counter(example.split for example in load(layer))
        numbers = [str(counts[split]) for split in ("train", "val", "holdout")]
        table.add_row(layer, *numbers, fingerprint(layer)[:12])
    common.console().print(table)


@examples_app.command()
def check(
    layer: Layer = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file in the form of the layer's set, instead of the packaged one.")
    ] = None,
    convfinqa: Annotated[
        Path | None, typer.Option(help="Your ConvFinQA, a file or a folder, for records that name its turns.")
    ] = None,
    data: common.Data = None,
) -> None:
    """Check example sets: form, splits, and each reference SELECT, script and plan, run on two variants of the numbers.

    A right reference gives an answer that is not empty and that differs between the variants. Records of the scenario
    own ask the database of --data, read-only, which has no second variant. Exit code 1 if a record is wrong.
    """
    if file is not None and layer is None:
        raise typer.BadParameter("--file needs the layer: finexpert examples check LAYER --file PATH")
    settings = common.settings_from()
    from finexpert.datasets.layers.examples import LAYERS, Copies, kind_of, read
    from finexpert.sandbox import Sandbox

    for name in [layer] if layer else []:
        kind_of(name)
    screen, wrong = common.console(), 0
    with Sandbox(workers=THREADS) as sandbox, Copies(convfinqa, data, settings) as copies:
        for name in [layer] if layer else LAYERS:
            examples, problems = read(name, file, copies=copies)
            problems += problems_of_references(name, examples, sandbox)
            screen.print(_table(name, examples))
            for problem in problems:
                screen.print(f"{problem.place}: {problem.message}", markup=False, soft_wrap=True)
            screen.print(f"{len(problems)} problems" if problems else "no problem")
            wrong += len(problems)
    if wrong:
        raise typer.Exit(1)


def problems_of_references(layer: str, examples: Sequence[LayerExample], sandbox: Sandbox) -> list[Problem]:
    """What is wrong with the references of these examples, with a progress bar."""
    from concurrent.futures import ThreadPoolExecutor
    from contextvars import copy_context

    from finexpert.datasets.layers.examples import Problem
    from finexpert.datasets.layers.references import problems_of

    found: list[Problem] = []
    with common.progress(layer, len(examples)) as advance, ThreadPoolExecutor(THREADS) as pool:
        jobs = [pool.submit(copy_context().run, problems_of, example, sandbox) for example in examples]
        for example, job in zip(examples, jobs, strict=True):
            found += [Problem(example.place, f"{example.id}: {message}") for message in job.result()]
            advance(1)
    return found


def _table(layer: str, examples: Sequence[LayerExample]) -> Table:
    from rich.table import Table

    table = Table("split", "n", "scenarios", title=layer, title_justify="left")
    table.columns[1].justify = "right"
    for split in ("train", "val", "holdout"):
        scenarios = Counter(example.scenario for example in examples if example.split == split)
        words = ", ".join(f"{name} {n}" for name, n in scenarios.most_common())
        table.add_row(split, str(scenarios.total()), words)
    return table
