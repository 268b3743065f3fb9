"""`finexpert eval fred`: the FRED questions on every rung of the ladder, or in several modes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.eval import modes as evaluate_modes
from finexpert.cli.eval.options import Fresh, JsonOut, Only, Threads
from finexpert.cli.eval.running import chosen, run
from finexpert.cli.eval.taught import learned

if TYPE_CHECKING:
    from finexpert.datasets.evaluations.mode_comparison import Way
    from finexpert.datasets.fred.evaluation import Bench
    from finexpert.datasets.fred.questions import Question


def fred(
    rungs: Annotated[
        str, typer.Option(help="Rungs of the ladder, with commas: sql, sql+script, +retries, +memory.")
    ] = "sql+script,+retries,+memory",
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="The single call beside the rungs.")
    ] = True,
    mode: evaluate_modes.Modes = None,
    plot: evaluate_modes.Plot = None,
    repeats: Annotated[int, typer.Option(min=1, help="Ask everything N times; needs a temperature above 0.")] = 1,
    questions: Annotated[
        Path | None, typer.Option(help="Question file, JSON lines; the 30 packaged ones if not given.")
    ] = None,
    only: Only = None,
    data: common.Data = None,
    lm: Annotated[
        list[str] | None, typer.Option("--lm", help="Model; several, with --mode, for a comparison in one table.")
    ] = None,
    api_base: common.ApiBase = None,
    drafts: common.Drafts = None,
    retries: common.Retries = None,
    budget: common.Budget = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    store: Annotated[
        str | None,
        typer.Option(help="Memory and glossary for +memory; if not given, the lesson on recessions is taught first."),
    ] = None,
    program: common.Program = None,
    threads: Threads = 4,
    fresh: Fresh = False,
    json_out: JsonOut = None,
) -> None:
    """Ask the FRED questions on every rung, or in every --mode instead; print one table; log everything to MLflow."""
    several = lm if lm and len(lm) > 1 else []
    if several and not mode:
        raise typer.BadParameter("several models are compared in modes: give --mode too", param_hint="--lm")
    settings = common.settings_from(
        lm=lm[0] if lm else None,
        api_base=api_base,
        drafts=drafts,
        retries=retries,
        record=record,
        recordings=recordings,
        workers=2,
        **common.budget_settings(budget, "run"),
    )
    from finexpert.datasets.desk.house import recession_transcript
    from finexpert.datasets.fred import evaluation
    from finexpert.datasets.fred.database import open_data
    from finexpert.datasets.fred.questions import load_questions
    from finexpert.language_models.roles import LanguageModels
    from finexpert.sandbox import Limits, Sandbox

    names = evaluate_modes.checked(mode) if mode else _rungs(rungs, baseline)
    asked = chosen(load_questions(questions), only)
    source = open_data(data, settings=settings)
    expert, settings = common.program_of(program, settings)
    models = LanguageModels.from_settings(settings)
    with (
        Sandbox(Limits(wall_seconds=settings.script_seconds), workers=settings.workers) as sandbox,
        ExitStack() as stack,
    ):
        bench = evaluation.Bench(source, sandbox, models, settings, expert)
        if evaluation.MEMORY in names:
            days = {q.as_of for q in asked if q.as_of}
            lessons = [recession_transcript()]
            bench.taught = stack.enter_context(learned(store, lessons, source, models, settings, threads, days, expert))
        given: dict[str, Any] = {
            "repeats": repeats,
            "threads": threads,
            "fresh": fresh,
            "json_out": json_out,
            "plot": plot,
        }
        if several:
            _across(several, bench, asked, names, **given)
        else:
            run(bench, asked, names, **given)


def _rungs(text: str, baseline: bool) -> list[str]:
    from finexpert.datasets.fred.evaluation import BASELINE, RUNGS

    names = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := [name for name in names if name not in RUNGS]:
        raise typer.BadParameter(f"{unknown[0]!r} is no rung; there are {', '.join(RUNGS)}", param_hint="--rungs")
    if not names and not baseline:
        raise typer.BadParameter(f"no rung is named; there are {', '.join(RUNGS)}", param_hint="--rungs")
    return names + ([BASELINE] if baseline else [])


def _across(
    models: Sequence[str], bench: Bench, questions: Sequence[Question], modes: Sequence[str], **given: Any
) -> None:
    """Every model in every mode, each model as a run of its own; then all of them side by side in one more."""
    from finexpert import tracking
    from finexpert.datasets.evaluations.evaluation import write_json
    from finexpert.datasets.evaluations.mode_comparison import ways_of
    from finexpert.language_models.budget import Budget
    from finexpert.language_models.roles import LanguageModels

    budget = Budget.of(bench.settings, "run")
    json_out, plot = given.pop("json_out"), given.pop("plot")
    ways: list[Way] = []
    for name in models:
        settings = bench.settings.model_copy(update={"lm": name})
        own = replace(bench, settings=settings, models=LanguageModels.from_settings(settings))
        ways += ways_of(run(own, questions, modes, json_out=None, budget=budget, **given), modes, name)
    tracking.start(bench.settings, "finexpert eval fred")
    with tracking.run("eval fred, several models", parent=True, params={"models": ", ".join(models)}):
        compared = evaluate_modes.tell(ways, f"FRED, {len(questions)} questions", plot) if len(ways) > 1 else None
    tracking.finish()
    if json_out:
        write_json(json_out, {"comparison": compared})
