"""`finexpert eval fred`: the FRED questions on every rung of the ladder, or in several modes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli.evaluating.comparing import Modes, Plot, checked
from finexpert.cli.evaluating.questions import chosen, evaluation_of, flips, listed, sandbox_of
from finexpert.cli.evaluating.registering import evaluated
from finexpert.cli.evaluating.report import Asked, Evaluation, Several
from finexpert.cli.evaluating.teaching import learned
from finexpert.cli.options import Given, Only, SeveralModels

if TYPE_CHECKING:
    from finexpert.datasets.evaluations.evaluation import Result


@evaluated("data api_base drafts retries budget record recordings program threads engine fresh json_out")
def fred(
    given: Given,
    rungs: Annotated[
        str, typer.Option(help="Rungs of the ladder, with commas: sql, sql+script, +retries, +memory.")
    ] = "sql+script,+retries,+memory",
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="The single call beside the rungs.")
    ] = True,
    mode: Modes = None,
    plot: Plot = None,
    repeats: Annotated[int, typer.Option(min=1, help="Ask everything N times; needs a temperature above 0.")] = 1,
    questions: Annotated[
        Path | None, typer.Option(help="Question file, JSON lines; the 30 packaged ones if not given.")
    ] = None,
    only: Only = None,
    lm: SeveralModels = None,
    store: Annotated[
        str | None,
        typer.Option(help="Memory and glossary for +memory; if not given, the lesson on recessions is taught first."),
    ] = None,
) -> Iterator[Asked]:
    """Ask the FRED questions on every rung, or in every --mode instead; print one table; log everything to MLflow."""
    if lm and len(lm) > 1 and not mode:
        raise typer.BadParameter("several models are compared in modes: give --mode too", param_hint="--lm")
    settings = given.settings(workers=2, lm=lm[0] if lm else None)
    from finexpert.datasets.desk.house import recession_transcript
    from finexpert.datasets.fred import evaluation
    from finexpert.datasets.fred.database import open_data
    from finexpert.datasets.fred.questions import load_questions
    from finexpert.language_models.roles import LanguageModels

    names = checked(mode) if mode else _rungs(rungs, baseline)
    asked = chosen(load_questions(questions), only)
    source = open_data(given.data, settings=settings)
    expert, settings = given.expert(settings)
    with sandbox_of(settings) as sandbox, ExitStack() as stack:
        bench = evaluation.QuestionBench(source, sandbox, LanguageModels.from_settings(settings), settings, expert)
        if evaluation.MEMORY in names:
            days = {q.as_of for q in asked if q.as_of}
            bench.taught = stack.enter_context(learned(store, [recession_transcript()], bench, given.threads, days))

        def of(bench: evaluation.QuestionBench, model: str = "") -> Evaluation[Result]:
            ask = partial(evaluation.evaluate, bench, asked, names, repeats=repeats, threads=given.threads)
            return evaluation_of(
                "fred", bench, asked, names, ask=lambda journal, told: ask(journal, on_result=told),
                repeats=repeats, plot=plot, model=model, at_last=_flipped,
            )  # fmt: skip

        if not lm or len(lm) < 2:
            yield of(bench)
            return
        benches = [replace(bench, settings=settings.model_copy(update={"lm": name})) for name in lm]
        each = [
            of(replace(one, models=LanguageModels.from_settings(one.settings)), str(one.settings.lm)) for one in benches
        ]
        yield Several("fred", f"FRED, {len(asked)} questions", each, plot)


def _rungs(text: str, baseline: bool) -> list[str]:
    from finexpert.datasets.fred.evaluation import BASELINE, RUNGS

    names = listed(text)
    if unknown := [name for name in names if name not in RUNGS]:
        raise typer.BadParameter(f"{unknown[0]!r} is no rung; there are {', '.join(RUNGS)}", param_hint="--rungs")
    if not names and not baseline:
        raise typer.BadParameter(f"no rung is named; there are {', '.join(RUNGS)}", param_hint="--rungs")
    return names + ([BASELINE] if baseline else [])


def _flipped(results: Sequence[Result]) -> list[str]:
    """What memory changed, question by question."""
    before, after = "+retries", "+memory"
    if not {before, after} <= {result.rung for result in results}:
        return []
    lost, won = flips(results, before, after)
    return [
        f"{after} lost against {before}: {', '.join(lost) or 'nothing'}",
        f"{after} won: {', '.join(won) or 'nothing'}",
    ]
