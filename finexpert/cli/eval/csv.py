"""`finexpert eval csv`: questions over CSV files with named values as answers, in the form of InfiAgent-DABench, tracked in MLflow.

finexpert eval csv FOLDER                                 the program and the single call, on every question of the folder
finexpert eval csv FOLDER --limit 5 --json OUT
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from finexpert.cli import common
from finexpert.cli.eval.options import Fresh, JsonOut, Threads
from finexpert.cli.eval.paired import Baseline, Ids, Limit, PairedRun


def csv(
    folder: Annotated[Path, typer.Argument(help="Folder with DABench's questions and, under files/, its CSV files.")],
    limit: Limit = None,
    ids: Ids = None,
    baseline: Baseline = True,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    drafts: common.Drafts = None,
    retries: common.Retries = None,
    mode: common.Mode = None,
    budget: common.Budget = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    program: common.Program = None,
    threads: Threads = 4,
    fresh: Fresh = False,
    json_out: JsonOut = None,
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
    from finexpert.cli.eval.running import chosen
    from finexpert.datasets.external import dabench
    from finexpert.datasets.external.dabench_evaluation import judge
    from finexpert.warehouse.files.files_warehouse import open_files

    asked = chosen(dabench.load_questions(folder), ids, "--ids")[:limit]
    expert, settings = common.program_of(program, settings)
    ours = "rounded as asked, texts without their case"
    paired = PairedRun("csv", "DABench", ours, expert, settings, baseline, threads, fresh, json_out)
    with ExitStack() as stack:
        paths = {question.file_name: dabench.file_of(folder, question) for question in asked}
        files = {name: stack.enter_context(open_files(path, settings=settings)) for name, path in paths.items()}
        paired.ask(asked, files, judge=judge, digest=dabench.digest(folder, asked))
