"""Options of evaluations that compare modes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

Modes = Annotated[
    list[str] | None,
    typer.Option(
        "--mode",
        help="direct, checked, cheap-first, reviewed, panel or single-call; several for a paired comparison in one run.",
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", dir_okay=False, help="Write the Pareto plot of a comparison to this PNG file."),
]


def checked(names: Sequence[str]) -> list[str]:
    """The names, each once; ConfigurationError for one that is no mode."""
    from finexpert import modes

    return [modes.mode(name).name for name in dict.fromkeys(names)]
