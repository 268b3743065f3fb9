"""`finexpert eval house` and `finexpert eval memory`: what teaching is worth."""

from __future__ import annotations

import datetime as dt
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

_OPTIONS = "data lm api_base drafts retries budget record recordings program threads engine fresh json_out"


@evaluated(_OPTIONS)
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


@evaluated(f"{_OPTIONS} as_of")
def memory(
    given: Given,
    only: Annotated[str | None, typer.Option(help="Forms of the process, with commas; all three if not given.")] = None,
    store: TaughtStore = None,
) -> Iterator[Asked]:
    """Compare who wrote a long process down: the program, the expert, or the expert with a reminder."""
    settings = given.settings(workers=2, as_of=given.as_of or dt.datetime(2024, 9, 30))
    from finexpert.datasets.desk import memory_evaluation as evaluation
    from finexpert.datasets.desk.house import recession_transcript
    from finexpert.datasets.desk.transcripts import read_transcript
    from finexpert.datasets.fred.database import open_data
    from finexpert.datasets.fred.evaluation import QuestionBench, evaluate
    from finexpert.errors import StoreError
    from finexpert.language_models.roles import LanguageModels

    names = listed(only) if only else list(evaluation.FORMS)
    among(names, evaluation.FORMS, "--only")
    expert, settings = given.expert(settings)
    source, models = open_data(given.data, settings=settings), LanguageModels.from_settings(settings)
    today, lesson = settings.as_of or dt.date.today(), recession_transcript()
    with sandbox_of(settings) as sandbox:
        untaught = QuestionBench(source, sandbox, models, settings, expert)
        with learned(store, [lesson], untaught, given.threads, {today}) as taught:
            summarised = taught.memory.get("Recession Calculation")
        if summarised is None:
            raise StoreError("the store has no process 'Recession Calculation': leave out --store to have it taught")
        forms = evaluation.forms(summarised, read_transcript(lesson))
        bench = evaluation.MemoryBench(source, sandbox, models, settings, expert, processes=forms)
        asked = evaluation.questions(source, today)
        ask = partial(evaluate, bench, asked, names, threads=given.threads)
        yield evaluation_of("memory", bench, asked, names, ask=lambda journal, told: ask(journal, on_result=told))
