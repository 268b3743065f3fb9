"""Options that several evaluations have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Only = Annotated[str | None, typer.Option("--only", help="Ids of questions, with commas.")]
Threads = Annotated[int, typer.Option(min=1, max=64, help="Questions under way side by side.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Do not go on with an interrupted run.")]
# Looked at before anything is asked: an hour later nobody wants to hear that the place is a folder.
JsonOut = Annotated[
    Path | None,
    typer.Option("--json", dir_okay=False, help="Write configuration, summaries and results to this file."),
]
