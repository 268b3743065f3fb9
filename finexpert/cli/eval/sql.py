"""`finexpert eval sql`: questions over databases of PostgreSQL with gold SELECTs, in Defog's form, tracked in MLflow.

finexpert eval sql FOLDER                                 the program and the single call, on every question of the folder
finexpert eval sql FOLDER --limit 5 --json OUT
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from finexpert.cli import common
from finexpert.cli.eval.options import Fresh, JsonOut, Threads
from finexpert.cli.eval.paired import Baseline, Ids, Limit, PairedRun


def sql(
    folder: Annotated[Path, typer.Argument(help="Folder with Defog's databases (*.sql, *.json) and questions.")],
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
    from finexpert.cli.eval.running import chosen
    from finexpert.datasets.external import defog
    from finexpert.datasets.external.defog_evaluation import judge_of

    asked = chosen(defog.load_questions(folder), ids, "--ids")[:limit]
    names = sorted({question.db for question in asked})
    expert, settings = common.program_of(program, settings)
    ours = "all rows, no other columns"
    paired = PairedRun("sql", "sql-eval", ours, expert, settings, baseline, threads, fresh, json_out)
    with defog.loaded(folder, names) as databases:
        sources = {name: database.warehouse for name, database in databases.items()}
        paired.ask(asked, sources, judge=judge_of(databases, asked), digest=defog.digest(folder, names))
