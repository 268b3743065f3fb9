"""`finexpert batch`: a file of questions, a file of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from finexpert.cli import common, several_sources
from finexpert.cli.options import Assume, Given, takes

if TYPE_CHECKING:
    import pandas as pd

    from finexpert.batch.ask_all import Told
    from finexpert.settings import Settings

_MOST_TOLD = 10


@takes("filing id as_of lm api_base drafts retries mode budget record recordings store program threads fresh")
def batch(
    given: Given,
    questions: Annotated[
        Path,
        typer.Argument(
            help="CSV, JSON lines or Parquet with a column 'question'; as_of, answer_format, knowledge too."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .parquet, .csv, .xlsx or .jsonl.")],
    data: several_sources.Data = None,
    library: several_sources.Libraries = None,
    assume: Assume = False,
    prefix: Annotated[str, typer.Option(help="Put before the names of the columns of the answers.")] = "",
    engine: Annotated[
        Literal["threads", "ray"], typer.Option(help="ray: on the cluster at RAY_ADDRESS, or one of this machine.")
    ] = "threads",
) -> None:
    """Ask every question of a file, side by side, and write a row an answer; the same command goes on after an interruption.

    Each question is a conversation of its own; one that stands in several rows is asked once. The exit code is 0 where all are
    answered, 4 where some are only in part, and 3 where some are not: their rows say why.
    """
    if out.exists() and questions.exists() and out.samefile(questions):
        raise typer.BadParameter(f"{out} holds the questions: name another file", param_hint="--out")
    # Nobody is there to say what is meant: a reading that is not safe is shown with its confidence.
    settings = given.settings(ask_below=0)
    common.reader_soon(data or (), given.filing, *(library or ()))
    from finexpert.batch import answer_files
    from finexpert.batch.ask_all import ask_all

    answer_files.check(out)
    expert, settings = given.expert(settings)
    source: Any
    if engine == "ray":
        source = _places(data, library, given.filing, settings)
    else:
        source = several_sources.open_sources(data, given.filing, given.id, settings, library)
    with bar() as told:
        answers = ask_all(
            source,
            questions,
            expert=expert,
            settings=settings,
            threads=given.threads,
            clarify=not assume,
            out=out,
            prefix=prefix,
            fresh=given.fresh,
            engine=engine,
            on_progress=told,
        )
    _told(answers, prefix, out)
    common.leave(*answers[f"{prefix}status"])


def _places(
    data: Sequence[Path] | None, library: Sequence[Path] | None, filing: Path | None, settings: Settings
) -> list[str | Path]:
    """Where the sources are, for workers that open them themselves."""
    places: list[str | Path] = [*(data or ()), *(library or ())] or [*settings.sources]
    places = places or [place for place in (settings.data, settings.library) if place]
    if filing is not None or not places:
        raise typer.BadParameter(
            "ray asks what --data and --library name, which every node opens", param_hint="--engine"
        )
    return places


@contextmanager
def bar() -> Iterator[Callable[[Told], None]]:
    """A progress bar that begins when the questions are counted; what is kept is said where the run breaks off."""
    from finexpert.errors import FinexpertError

    latest: list[Told] = []
    with ExitStack() as stack:
        advance: list[Callable[[int], None]] = []

        def told(now: Told) -> None:
            if not advance:
                if now.done:
                    common.console(stderr=True).print(f"going on after {now.done:,} answers (--fresh starts over)")
                advance.append(stack.enter_context(common.progress("questions", now.of)))
            advance[0](now.done - (latest[-1].done if latest else 0))
            latest[:] = [now]

        try:
            yield told
        except (FinexpertError, OSError, KeyboardInterrupt):
            stack.close()
            if latest:
                kept = f"{latest[0].done:,} of {latest[0].of:,} answers are kept: the same command goes on from there"
                common.console(stderr=True).print(kept, soft_wrap=True)
            raise


def _told(answers: pd.DataFrame, prefix: str, out: Path) -> None:
    """Print how it ended."""
    statuses = Counter(answers[f"{prefix}status"])
    console = common.console()
    answered, n = statuses.pop("answered", 0), len(answers)
    others = "".join(f", {count:,} {status}" for status, count in statuses.most_common())
    console.print(f"{answered:,} of {n:,} answered{others}", soft_wrap=True)
    _tell_reasons(answers, prefix)
    calls, tokens = int(answers[f"{prefix}calls"].sum()), int(answers[f"{prefix}tokens"].sum())
    costs = answers[f"{prefix}cost_usd"]
    price = "cost unknown" if costs.isna().any() else f"${costs.sum():,.4f}"
    console.print(f"{calls:,} model calls, {tokens:,} tokens, {price}", style="dim", soft_wrap=True)
    common.echo(f"wrote {out}")


def _tell_reasons(answers: pd.DataFrame, prefix: str) -> None:
    """Print why rows have no answer, or only a part of one; a reason that several have, once."""
    rows: dict[str, list[int]] = {}
    statuses, reasons = answers[f"{prefix}status"], answers[f"{prefix}reason"]
    for number, (status, reason) in enumerate(zip(statuses, reasons, strict=True), start=1):
        if status != "answered":
            rows.setdefault(str(reason).partition("\n")[0], []).append(number)
    for reason, numbers in list(rows.items())[:_MOST_TOLD]:
        whose = f"row {numbers[0]}" + (f" and {len(numbers) - 1:,} more" if len(numbers) > 1 else "")
        common.echo(f"  {whose}: {reason}")
    if len(rows) > _MOST_TOLD:
        common.echo(f"  and {len(rows) - _MOST_TOLD:,} more reasons, in the column {prefix}reason")
