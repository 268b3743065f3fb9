"""The store that an evaluation of what was taught is run with."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.datasets.fred.evaluation import QuestionBench
    from finexpert.knowledge.taught import Taught

TaughtStore = Annotated[
    str | None,
    typer.Option("--store", help="A store that is taught already; if not given, the lessons are played first."),
]


@contextmanager
def learned(
    store: str | None, transcripts: Sequence[Path], bench: QuestionBench, threads: int, days: Collection[dt.date]
) -> Iterator[Taught]:
    """The store given, or a new one in which the lessons were played by the model and program that are evaluated.

    Lessons that did not hold are named, and the evaluation goes on with the others: what a model cannot learn is a
    part of the result.
    """
    from finexpert.datasets.desk.teaching import BAD, teach_all
    from finexpert.datasets.desk.transcripts import read_transcript
    from finexpert.embeddings.embedding import embedder
    from finexpert.errors import StoreError
    from finexpert.knowledge.taught import Taught

    out, settings = common.console(), bench.settings
    chosen = embedder(settings.embedder)
    if store is not None:
        with Taught.open(store, chosen) as taught:
            if taught.empty:
                raise StoreError(
                    f"the store {store} holds nothing that is in use: teach into it with `finexpert teach`, or leave out "
                    "--store to have the lessons played first"
                )
            yield taught
        return
    settings = settings.model_copy(update={"as_of": settings.as_of or max(days, default=dt.date.today())})
    with (
        TemporaryDirectory(prefix="finexpert-taught-") as folder,
        Taught.open(Path(folder) / "knowledge.sqlite", chosen) as taught,
    ):
        lessons = {path: read_transcript(path) for path in transcripts}
        played = teach_all(
            lessons, bench.source, settings, threads, models=bench.models, taught=taught, expert=bench.expert
        )
        lost = {path.stem: lines[-1] for path, lines in played.items() if lines and lines[-1].status in BAD}
        out.print(f"lessons learned: {len(lessons) - len(lost)} of {len(lessons)}", style="dim")
        for name, line in lost.items():
            out.print(f"  {name}, line {line.number}: {line.status}: {line.text[:200]}", style="yellow", markup=False)
        yield taught
