"""`finexpert eval compare`: two evaluations, before and after, on the questions that both were asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from finexpert.cli.evaluating.showing import show_ways, tell


def compare(
    before: Annotated[Path, typer.Argument(help="What an evaluation wrote with --json.")],
    after: Annotated[Path, typer.Argument(help="The same, of the same questions: another program, model or mode.")],
) -> None:
    """Compare two evaluations that were written with --json: what was won and lost, and McNemar's test; no model is asked."""
    from finexpert.datasets.evaluations import saved_evaluations
    from finexpert.errors import DataError

    names = ["", ""] if before.stem != after.stem else [str(before), str(after)]
    found = [saved_evaluations.ways_in(path, name) for path, name in zip((before, after), names, strict=True)]
    pairs = saved_evaluations.paired(*found)
    if not any(one.right.keys() & other.right.keys() for one, other in pairs):
        raise DataError(f"{before} and {after} have no question in common")
    for one, other in pairs:
        both = one.right.keys() & other.right.keys()
        if not both:
            continue
        if len(both) < max(len(one.right), len(other.right)):
            tell(f"{len(both)} questions are in both: {len(one.right)} in {before}, {len(other.right)} in {after}")
        show_ways([one.only(both), other.only(both)])
