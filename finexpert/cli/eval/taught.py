"""`finexpert eval house` and `finexpert eval memory`: what teaching is worth."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.eval.options import Fresh, JsonOut, Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from finexpert.knowledge.taught import Taught
    from finexpert.language_models.roles import LanguageModels
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.settings import Settings
    from finexpert.warehouse.warehouse import Warehouse

TaughtStore = Annotated[
    str | None,
    typer.Option("--store", help="A store that is taught already; if not given, the lessons are played first."),
]


@contextmanager
def learned(
    store: str | None,
    transcripts: Sequence[Path],
    source: Warehouse,
    models: LanguageModels,
    settings: Settings,
    threads: int,
    days: Collection[dt.date],
    expert: FinancialExpert | None = None,
) -> Iterator[Taught]:
    """The store given, or a new one in which the lessons were played by the model and program that are evaluated.

    Lessons that did not hold are named, and the evaluation goes on with the others: what a model cannot learn is a
    part of the result.
    """
    from tempfile import TemporaryDirectory

    from finexpert.datasets.desk.teaching import BAD, teach_all
    from finexpert.datasets.desk.transcripts import read_transcript
    from finexpert.embeddings.embedding import embedder
    from finexpert.errors import StoreError
    from finexpert.knowledge.taught import Taught

    out = common.console()
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
        played = teach_all(lessons, source, settings, threads, models=models, taught=taught, expert=expert)
        lost = {path.stem: lines[-1] for path, lines in played.items() if lines and lines[-1].status in BAD}
        out.print(f"lessons learned: {len(lessons) - len(lost)} of {len(lessons)}", style="dim")
        for name, line in lost.items():
            out.print(f"  {name}, line {line.number}: {line.status}: {line.text[:200]}", style="yellow", markup=False)
        yield taught


def house(
    modes: Annotated[
        str, typer.Option(help="untaught, taught, missing (the one needed was never taught), with commas.")
    ] = "untaught,taught,missing",
    half: Annotated[str | None, typer.Option(help="Only 'keywords' or only 'processes'.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Ask only every Nth question.")] = 1,
    data: common.Data = None,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    drafts: common.Drafts = None,
    retries: common.Retries = None,
    budget: common.Budget = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    store: TaughtStore = None,
    program: common.Program = None,
    threads: Threads = 4,
    fresh: Fresh = False,
    json_out: JsonOut = None,
) -> None:
    """Teach a made-up desk's 24 definitions and processes, then ask 96 questions with and without them."""
    settings = common.settings_from(
        lm=lm,
        api_base=api_base,
        drafts=drafts,
        retries=retries,
        record=record,
        recordings=recordings,
        workers=2,
        **common.budget_settings(budget, "run"),
    )
    from finexpert.cli.eval.running import run
    from finexpert.datasets.desk import evaluation
    from finexpert.datasets.desk.house import HALVES, house_questions, house_transcripts
    from finexpert.datasets.fred.database import open_data
    from finexpert.datasets.fred.evaluation import Bench
    from finexpert.language_models.roles import LanguageModels
    from finexpert.sandbox import Limits, Sandbox

    names = [name.strip() for name in modes.split(",") if name.strip()]
    if unknown := [name for name in names if name not in evaluation.MODES]:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(evaluation.MODES)}", param_hint="--modes")
    if half is not None and half not in HALVES:
        raise typer.BadParameter(f"{half!r} is none of {', '.join(HALVES)}", param_hint="--half")
    asked = house_questions(half=half)[::every]
    expert, settings = common.program_of(program, settings)
    source = open_data(data, settings=settings)
    models = LanguageModels.from_settings(settings)
    with Sandbox(Limits(wall_seconds=settings.script_seconds), workers=settings.workers) as sandbox:
        days = {question.as_of for question in asked if question.as_of}
        with learned(store, house_transcripts(), source, models, settings, threads, days, expert) as taught:
            bench = Bench(source, sandbox, models, settings, expert, taught)
            results = run(
                bench,
                asked,
                names,
                name="house",
                threads=threads,
                fresh=fresh,
                json_out=json_out,
                total=len(evaluation.jobs(asked, names)),
                evaluate=lambda journal, told: evaluation.evaluate(
                    bench, asked, names, journal, threads=threads, on_result=told
                ),
            )
    if evaluation.TAUGHT in names:
        part = evaluation.untouched(results, asked)
        common.console().print(f"near misses untouched: {part.right}/{part.n} ({part.low:.0%}-{part.high:.0%})")


def memory(
    only: Annotated[str | None, typer.Option(help="Forms of the process, with commas; all three if not given.")] = None,
    data: common.Data = None,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    drafts: common.Drafts = None,
    retries: common.Retries = None,
    budget: common.Budget = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    store: TaughtStore = None,
    program: common.Program = None,
    as_of: common.AsOf = None,
    threads: Threads = 4,
    fresh: Fresh = False,
    json_out: JsonOut = None,
) -> None:
    """Compare who wrote a long process down: the program, the expert, or the expert with a reminder."""
    settings = common.settings_from(
        as_of=as_of or dt.datetime(2024, 9, 30),
        lm=lm,
        api_base=api_base,
        drafts=drafts,
        retries=retries,
        record=record,
        recordings=recordings,
        workers=2,
        **common.budget_settings(budget, "run"),
    )
    from finexpert.cli.eval.running import run
    from finexpert.datasets.desk import memory_evaluation as evaluation
    from finexpert.datasets.desk.house import recession_transcript
    from finexpert.datasets.desk.transcripts import read_transcript
    from finexpert.datasets.fred.database import open_data
    from finexpert.errors import StoreError
    from finexpert.language_models.roles import LanguageModels
    from finexpert.sandbox import Limits, Sandbox

    names = [name.strip() for name in only.split(",")] if only else list(evaluation.FORMS)
    if unknown := [name for name in names if name not in evaluation.FORMS]:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(evaluation.FORMS)}", param_hint="--only")
    expert, settings = common.program_of(program, settings)
    source, models = open_data(data, settings=settings), LanguageModels.from_settings(settings)
    today, lesson = settings.as_of or dt.date.today(), recession_transcript()
    with Sandbox(Limits(wall_seconds=settings.script_seconds), workers=settings.workers) as sandbox:
        with learned(store, [lesson], source, models, settings, threads, {today}, expert) as taught:
            summarised = taught.memory.get("Recession Calculation")
        if summarised is None:
            raise StoreError("the store has no process 'Recession Calculation': leave out --store to have it taught")
        forms = evaluation.forms(summarised, read_transcript(lesson))
        bench = evaluation.MemoryBench(source, sandbox, models, settings, expert, processes=forms)
        asked = evaluation.questions(source, today)
        run(bench, asked, names, name="memory", threads=threads, fresh=fresh, json_out=json_out)
