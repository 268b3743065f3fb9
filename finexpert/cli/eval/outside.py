"""`finexpert eval sql` and `finexpert eval csv`: questions over data of others, put to the program and to the single call beside it.

finexpert eval sql FOLDER                 over databases of PostgreSQL with gold SELECTs, in Defog's form
finexpert eval csv FOLDER --limit 5       over CSV files with named values as answers, in the form of InfiAgent-DABench
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli.evaluating.questions import chosen, evaluation_of, flips, sandbox_of
from finexpert.cli.evaluating.registering import evaluated
from finexpert.cli.evaluating.report import Asked
from finexpert.cli.options import Baseline, Given

if TYPE_CHECKING:
    from finexpert.core.answers import Answer
    from finexpert.datasets.evaluations.evaluation import Result
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.settings import Settings
    from finexpert.warehouse.warehouse import Warehouse

Limit = Annotated[int | None, typer.Option(min=1, help="The first N questions.")]
Ids = Annotated[str | None, typer.Option(help="Ids of questions, with commas.")]
_OPTIONS = "lm api_base drafts retries mode budget record recordings program threads engine fresh json_out"


@evaluated(_OPTIONS)
def sql(
    given: Given,
    folder: Annotated[Path, typer.Argument(help="Folder with Defog's databases (*.sql, *.json) and questions.")],
    limit: Limit = None,
    ids: Ids = None,
    baseline: Baseline = True,
) -> Iterator[Asked]:
    """Ask questions over databases loaded into a PostgreSQL of their own; score the tables by the rule of sql-eval and by ours."""
    expert, settings = given.expert(given.settings(workers=2))
    from finexpert.datasets.external import defog
    from finexpert.datasets.external.defog_evaluation import judge_of

    asked = chosen(defog.load_questions(folder), ids, "--ids")[:limit]
    names = sorted({question.db for question in asked})
    with defog.loaded(folder, names) as databases:
        sources = {name: database.warehouse for name, database in databases.items()}
        rules = ("sql-eval", "all rows, no other columns")
        judge, digest = judge_of(databases, asked), defog.digest(folder, names)
        yield from _paired("sql", rules, given, expert, settings, baseline, asked, sources, judge, digest)


@evaluated(_OPTIONS)
def csv(
    given: Given,
    folder: Annotated[Path, typer.Argument(help="Folder with DABench's questions and, under files/, its CSV files.")],
    limit: Limit = None,
    ids: Ids = None,
    baseline: Baseline = True,
) -> Iterator[Asked]:
    """Ask questions over CSV files; score the named values by DABench's rule and by ours."""
    expert, settings = given.expert(given.settings(workers=2))
    from finexpert.datasets.external import dabench
    from finexpert.datasets.external.dabench_evaluation import judge
    from finexpert.warehouse.files.files_warehouse import open_files

    asked = chosen(dabench.load_questions(folder), ids, "--ids")[:limit]
    with ExitStack() as stack:
        paths = {question.file_name: dabench.file_of(folder, question) for question in asked}
        files = {name: stack.enter_context(open_files(path, settings=settings)) for name, path in paths.items()}
        rules, digest = ("DABench", "rounded as asked, texts without their case"), dabench.digest(folder, asked)
        yield from _paired("csv", rules, given, expert, settings, baseline, asked, files, judge, digest)


def _paired(
    name: str,
    rules: tuple[str, str],
    given: Given,
    expert: FinancialExpert,
    settings: Settings,
    baseline: bool,
    questions: Sequence[Any],
    sources: Mapping[str, Warehouse],
    judge: Callable[[str, Any, Answer], Result],
    digest: str,
) -> Iterator[Asked]:
    """Every question of its source in both ways; it is told how many are right by both rules."""
    from finexpert.datasets.external import paired
    from finexpert.language_models.roles import LanguageModels

    models, first = LanguageModels.from_settings(settings), sources[questions[0].source_name]
    ways = paired.WAYS if baseline else paired.WAYS[:1]
    with sandbox_of(settings) as sandbox:
        bench = paired.PairedBench(first, sandbox, models, settings, expert, sources=sources, digest=digest)
        ask = partial(paired.evaluate, bench, questions, ways, judge=judge, threads=given.threads)
        yield evaluation_of(
            name, bench, questions, ways, ask=lambda journal, told: ask(journal, on_result=told),
            at_last=lambda results: list(_both_rules(results, ways, *rules)),
        )  # fmt: skip


def _both_rules(results: Sequence[Result], ways: Sequence[str], rule: str, ours: str) -> Iterator[str]:
    """What an outside rule and our own say of each way, and question by question what one has right and the other not."""
    from finexpert.datasets.evaluations.evaluation import mcnemar

    for way in ways:
        rows = [result for result in results if result.rung == way]
        no_answer = sum(result.status != "answered" for result in rows)
        yield (
            f"{way}: {sum(r.correct for r in rows)}/{len(rows)} by the rule of {rule}, "
            f"{sum(r.also.get('ours', False) for r in rows)} by ours ({ours}); {no_answer} without an answer"
        )
    if len(ways) == 2:
        lost, won = flips(results, ways[1], ways[0])
        right = {(result.rung, result.id): result.correct for result in results}
        both = [id for rung, id in right if rung == ways[0] and (ways[1], id) in right]
        _, _, p = mcnemar([right[ways[0], id] for id in both], [right[ways[1], id] for id in both])
        yield f"only {ways[0]}: {', '.join(won) or 'nothing'}"
        yield f"only {ways[1]}: {', '.join(lost) or 'nothing'}; McNemar p = {p:.3f}"
