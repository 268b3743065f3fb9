"""`finexpert bench serve`: many people at once on a server with a scripted model.

finexpert bench serve --people 50 --questions 10 --pause 8 --latency 2
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from finexpert.cli import common
from finexpert.cli.bench import frame


def serve_command(
    people: Annotated[int, typer.Option(min=1, help="People who ask at once.")] = 50,
    questions: Annotated[int, typer.Option(min=1, help="Questions of each, one after the other.")] = 10,
    pause: Annotated[float, typer.Option(min=0, help="Seconds that a person reads an answer.")] = 8.0,
    latency: Annotated[float, typer.Option(min=0, help="Seconds that the scripted model takes for a call.")] = 2.0,
    as_json: common.Json = False,
) -> None:
    """Time what the program takes beside the model, from door to door; exit code 1 where an answer is wrong or lost."""
    from finexpert.app.load import measured

    with tempfile.TemporaryDirectory(prefix="finexpert-bench-") as folder:
        facts = measured(Path(folder), people, questions, pause, latency)
    frame.tell(facts, as_json, facts=facts)
    if facts["errors"] or facts["wrong"] or facts["answers found afterwards"] != people * questions:
        raise typer.Exit(1)
