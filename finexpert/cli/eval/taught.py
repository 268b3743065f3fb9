"""`finexpert eval house`: what teaching is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli.evaluating.questions import among, evaluation_of, listed, sandbox_of
from finexpert.cli.evaluating.registering import evaluated
from finexpert.cli.evaluating.report import Asked
from finexpert.cli.evaluating.teaching import TaughtStore, learned
from finexpert.cli.options import Given

if TYPE_CHECKING:
    from finexpert.datasets.evaluations.evaluation import Result


@evaluated("data lm api_base drafts retries budget record recordings program threads engine fresh json_out")
def house(
    given: Given,
    modes: Annotated[
        str, typer.Option(help="untaught, taught, missing (the one needed was never taught), with commas.")
    ] = "untaught,taught,missing",
    half: Annotated[str | None, typer.Option(help="Only 'keywords' or only 'processes'.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Ask only every Nth question.")] = 1,
    store: TaughtStore = None,
) -> Iterator[Asked]:
    """Teach a made-up desk's 24 definitions and processes, then ask 96 questions with and without them."""
    settings = given.settings(workers=2)
    from finexpert.datasets.desk import evaluation
    from finexpert.datasets.desk.house import HALVES, house_questions, house_transcripts
    from finexpert.datasets.fred.database import open_data
    from finexpert.datasets.fred.evaluation import QuestionBench
    from finexpert.language_models.roles import LanguageModels

    names = listed(modes)
    among(names, evaluation.MODES, "--modes")
    among([half], HALVES, "--half")
    part: Any = half
    asked = house_questions(half=part)[::every]
    expert, settings = given.expert(settings)
    source = open_data(given.data, settings=settings)

    def at_last(results: Sequence[Result]) -> list[str]:
        if evaluation.TAUGHT not in names:
            return []
        part = evaluation.untouched(results, asked)
        return [f"near misses untouched: {part.right}/{part.n} ({part.low:.0%}-{part.high:.0%})"]

    with sandbox_of(settings) as sandbox:
        bench = QuestionBench(source, sandbox, LanguageModels.from_settings(settings), settings, expert)
        days = {question.as_of for question in asked if question.as_of}
        with learned(store, house_transcripts(), bench, given.threads, days) as bench.taught:
            ask = partial(evaluation.evaluate, bench, asked, names, threads=given.threads)
            yield evaluation_of(
                "house", bench, asked, names, ask=lambda journal, told: ask(journal, on_result=told),
                total=len(evaluation.jobs(asked, names)), at_last=at_last,
            )  # fmt: skip
