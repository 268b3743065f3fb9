"""`finexpert eval sql`: questions over databases of PostgreSQL with gold SELECTs, in Defog's form, tracked in MLflow.

finexpert eval sql FOLDER                                 the program and the single call, on every question of the folder
finexpert eval sql FOLDER --limit 5 --json OUT
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from finexpert.cli import common, evaluate_modes


def sql(
    folder: Annotated[Path, typer.Argument(help="Folder with Defog's databases (*.sql, *.json) and questions.")],
    limit: Annotated[int | None, typer.Option(min=1, help="The first N questions.")] = None,
    ids: Annotated[str | None, typer.Option(help="Ids of questions, with commas.")] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="The single call beside the program.")
    ] = True,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    drafts: common.Drafts = None,
    retries: common.Retries = None,
    mode: common.Mode = None,
    budget: common.Budget = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    program: common.Program = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Questions under way side by side.")] = 4,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on with an interrupted run.")] = False,
    json_out: Annotated[Path | None, typer.Option("--json", help="Write configuration, summaries and results.")] = None,
) -> None:
    """Ask questions over databases loaded into a PostgreSQL of their own; score the tables by the rule of sql-eval and by ours."""
    settings = common.settings_from(
        lm=lm,
        api_base=api_base,
        drafts=drafts,
        retries=retries,
        mode=mode,
        record=record,
        recordings=recordings,
        workers=2,
        **common.budget_settings(budget, "run"),
    )
    from functools import partial

    from finexpert.cli.evaluate import chosen, run
    from finexpert.datasets.external import defog, paired
    from finexpert.datasets.external.defog_evaluation import judge_of
    from finexpert.language_models.roles import LanguageModels
    from finexpert.sandbox import Limits, Sandbox

    asked = chosen(defog.load_questions(folder), ids, "--ids")[:limit]
    names = sorted({question.db for question in asked})
    expert, settings = common.program_of(program, settings)
    models = LanguageModels.from_settings(settings)
    ways = paired.WAYS if baseline else paired.WAYS[:1]
    with (
        defog.loaded(folder, names) as databases,
        Sandbox(Limits(wall_seconds=settings.script_seconds), workers=settings.workers) as sandbox,
    ):
        sources = {name: database.warehouse for name, database in databases.items()}
        bench = paired.PairedBench(
            sources[names[0]],
            sandbox,
            models,
            settings,
            expert,
            sources=sources,
            digest=defog.digest(folder, names),
        )
        ask = partial(paired.evaluate, bench, asked, ways, judge=judge_of(databases, asked))
        results = run(
            bench,
            asked,
            ways,
            threads=threads,
            fresh=fresh,
            json_out=json_out,
            name="sql",
            evaluate=lambda journal, told: ask(journal, threads=threads, on_result=told),
        )
    evaluate_modes.tell_both_rules(results, ways, "sql-eval", "all rows, no other columns")
