"""Examples of the user's own for `finexpert compile` and `finexpert eval layers`: the options, and a look before they are used.

finexpert compile sql_extraction --examples sql_extraction=mine.jsonl --data desk.duckdb
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from finexpert.datasets.layers.records import Split
    from finexpert.datasets.layers.sets import ExampleSets
    from finexpert.sandbox import Sandbox
    from finexpert.settings import Settings

Examples = Annotated[
    list[str] | None,
    typer.Option(
        "--examples",
        metavar="LAYER=FILE",
        help="Examples of your own for a layer, beside the packaged ones; may be given several times. Records of the "
        "scenario own, and those that name FRED questions, ask the database of --data.",
    ),
]
FromFeedback = Annotated[
    bool,
    typer.Option("--from-feedback", help="Those for sql_extraction too that `finexpert feedback keep --example` made."),
]
OnlyOwn = Annotated[
    bool, typer.Option("--only-own", help="Of layers with --examples, leave the packaged examples out.")
]
ConvFinQA = Annotated[
    Path | None,
    typer.Option("--convfinqa", help="Your ConvFinQA, a file or a folder, for examples that name its turns."),
]


def sets_of(
    given: Sequence[str] | None,
    only: bool,
    layers: Sequence[str],
    convfinqa: Path | None,
    data: Path | None,
    settings: Settings,
) -> ExampleSets:
    """The example sets that the options name; close their `copies`. ConfigurationError for a layer that is not asked."""
    from finexpert.datasets.layers.copies import Copies
    from finexpert.datasets.layers.sets import ExampleSets
    from finexpert.errors import ConfigurationError

    sets = ExampleSets.of(given or (), only=only, copies=Copies(convfinqa, data, settings))
    for layer, files in sets.files.items():
        if layer not in layers:
            raise ConfigurationError(
                f"--examples {layer}={files[0]}: {layer} is not among the layers here ({', '.join(layers)}): "
                f"name it before the options, or leave the file out"
            )
    return sets


def with_feedback(given: Sequence[str] | None, settings: Settings) -> list[str]:
    """The options, and the examples that were made of feedback; ConfigurationError where none was made."""
    from finexpert.datasets.layers import kept
    from finexpert.errors import ConfigurationError

    file = kept.examples_file(settings.home)
    if not file.is_file():
        raise ConfigurationError(
            f"--from-feedback: nothing was made an example yet ({file} is not there): `finexpert feedback list` shows what "
            "people called wrong, `finexpert feedback keep ID --select ... --example` makes one"
        )
    return [*(given or ()), f"{kept.LAYER}={file}"]


def look_at(sets: ExampleSets, splits: Sequence[Split], sandbox: Sandbox) -> None:
    """Read own examples and run their references, before any model is asked. QuestionFileError names the first problem."""
    from finexpert.cli import common
    from finexpert.cli.examples import problems_of_references
    from finexpert.errors import QuestionFileError

    for layer, files in sets.files.items():
        sets.need(layer, splits)
        own = sets.own(layer)
        problems = problems_of_references(layer, own, sandbox)
        if problems:
            more = f" ({len(problems)} problems in all)" if len(problems) > 1 else ""
            data = f" --data {sets.copies.data}" if sets.copies.data else ""
            raise QuestionFileError(
                f"{problems[0].place}: {problems[0].message}{more}; "
                f"see `finexpert examples check {layer} --file {files[0]}{data}`"
            )
        words = "in place of" if sets.only else "beside"
        common.console().print(
            f"{layer}: {len(own)} examples of your own, {words} the packaged ones", markup=False, soft_wrap=True
        )
