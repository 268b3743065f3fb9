"""`finexpert teach`: a scripted expert teaches definitions and processes from a transcript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.options import Given, takes

if TYPE_CHECKING:
    from finexpert.datasets.desk.teaching import Played

_STYLES = {"as expected": "green", "active": "green", "not as expected": "red", "failed": "red", "draft": "yellow"}


@takes("data as_of lm api_base drafts retries record recordings store threads as_json", threads=1)
def teach(
    given: Given,
    transcripts: Annotated[list[Path], typer.Argument(help="Files of a transcript each, one JSON object a line.")],
) -> None:
    """Play what an expert says, check what must hold after each message, and keep what is to be remembered.

    The exit code is 3 where an expectation did not hold or a process stayed a draft; the transcript ends there.
    """
    settings = given.settings()
    from finexpert.datasets.desk.teaching import BAD, teach_all
    from finexpert.datasets.desk.transcripts import read_transcript

    # Every file is read before the first is played: a typing error in the last costs nothing.
    lessons = {path: read_transcript(path) for path in transcripts}
    source = common.open_data(given.data, settings)

    def report(path: Path, played: Played) -> None:
        if not given.as_json:
            _show(path, played)

    results = teach_all(lessons, source, settings, given.threads, report)
    if given.as_json:
        typer.echo(json.dumps({str(path): [p.model_dump() for p in played] for path, played in results.items()}))
    if any(played.status in BAD for lines in results.values() for played in lines):
        raise typer.Exit(3)


def _show(path: Path, played: Played) -> None:
    from rich.text import Text

    out = common.console()
    out.print(Text(f"{path.stem} {played.number}  ", style="dim").append(Text(played.said, style="bold")))
    out.print(Text(f"  {played.status}: ", style=_STYLES.get(played.status, "")).append(_short(played.text)))
    for note in played.notes:
        out.print(Text(f"  note: {note}", style="yellow"))


def _short(text: str, lines: int = 12) -> str:
    shown = text.splitlines()
    return "\n".join(shown[:lines] + ([f"  ... {len(shown) - lines} more lines"] if len(shown) > lines else []))
