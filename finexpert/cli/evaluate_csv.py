"""`finexpert eval csv`: questions over CSV files with named values as answers, in the form of InfiAgent-DABench, tracked in MLflow.

finexpert eval csv FOLDER                                 the program and the single call, on every question of the folder
finexpert eval csv FOLDER --limit 5 --json OUT
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from finexpert.cli import common, evaluate_modes


def csv(
    folder: Annotated[Path, typer.Argument(help="Folder with DABench's questions and, under files/, its CSV files.")],
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
    """Ask questions over CSV files; score the named values by DABench's rule and by ours."""
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
    from finexpert.datasets.external import dabench, paired
    from finexpert.datasets.external.dabench_evaluation import judge
    from finexpert.language_models.roles import LanguageModels
    from finexpert.sandbox import Limits, Sandbox
    from finexpert.warehouse.files.files_warehouse import open_files

    asked = chosen(dabench.load_questions(folder), ids, "--ids")[:limit]
    expert, settings = common.program_of(program, settings)
    models = LanguageModels.from_settings(settings)
    ways = paired.WAYS if baseline else paired.WAYS[:1]
    with (
        Sandbox(Limits(wall_seconds=settings.script_seconds), workers=settings.workers) as sandbox,
        ExitStack() as stack,
    ):
        paths = {question.file_name: dabench.file_of(folder, question) for question in asked}
        files = {name: stack.enter_context(open_files(path, settings=settings)) for name, path in paths.items()}
        bench = paired.PairedBench(
            files[asked[0].file_name],
            sandbox,
            models,
            settings,
            expert,
            sources=files,
            digest=dabench.digest(folder, asked),
        )
        ask = partial(paired.evaluate, bench, asked, ways, judge=judge)
        results = run(
            bench,
            asked,
            ways,
            threads=threads,
            fresh=fresh,
            json_out=json_out,
            name="csv",
            evaluate=lambda journal, told: ask(journal, threads=threads, on_result=told),
        )
    evaluate_modes.tell_both_rules(results, ways, "DABench", "rounded as asked, texts without their case")
