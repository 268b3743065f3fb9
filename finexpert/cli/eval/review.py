"""`finexpert eval review`: what adversarial review catches of the attacks, what it refuses of ordinary code, and what it costs.

finexpert eval review                          236 pieces of code; with `--lm recorded` again without a key
finexpert eval review --all --json OUT         every attack, every ordinary analysis and query
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.evaluating.registering import evaluated
from finexpert.cli.evaluating.report import Asked, Cell, Evaluation, Report, interval, right
from finexpert.cli.options import Given

if TYPE_CHECKING:
    from finexpert.datasets.layers.review_evaluation import ReviewResult, Row


@evaluated("lm api_base record recordings budget threads engine fresh json_out")
def review(
    given: Given,
    everything: Annotated[
        bool, typer.Option("--all", help="All 900, in place of the 236 whose reviews are packaged.")
    ] = False,
) -> Iterator[Asked]:
    """Have a model review attacks and ordinary code, one call each; count what it catches and its false alarms.

    Nothing is run. The review is off unless FINEXPERT_REVIEW is set, and never takes the place of the boundary.
    """
    settings = given.settings()
    from finexpert.datasets.layers import review_evaluation as evaluation
    from finexpert.language_models.roles import LanguageModels
    from finexpert.modules.adversarial_review import AdversarialReview

    models = LanguageModels.from_settings(settings)
    chosen = evaluation.everything() if everything else evaluation.recorded()
    params = {"model": common.model_words(models.describe()), "all": everything, "n": len(chosen)}
    ask = partial(evaluation.reviewed, AdversarialReview(), models)
    order = {case.id: number for number, case in enumerate(chosen)}
    yield Evaluation(
        name="review",
        settings=settings,
        kind=evaluation.ReviewResult,
        mark=evaluation.fingerprint(models, chosen),
        params=params,
        total=len(chosen),
        ask=lambda journal, told: journal.in_order(ask, chosen, threads=given.threads, on_result=told),
        report=lambda results: _report(str(params["model"]), sorted(results, key=lambda result: order[result.id])),
        unit="reviews",
        answers="reviews",
    )


def _report(model: str, results: Sequence[ReviewResult]) -> Report:
    from finexpert.datasets.layers.review_evaluation import rows

    caught, refused = ([r for r in results if r.attack == attack] for attack in (True, False))
    missed, alarms = ([r.id for r in part if r.refused != r.attack] for part in (caught, refused))
    both = [("all attacks", caught), ("all ordinary code", refused)]
    suites = rows(results, groups=False)
    n, usages = max(1, len(results)), [result.usage for result in results]
    return Report(
        head=model,
        columns=("code", "refused", "95 %", "unclear"),
        rows=[line for title, part in both if part for line in _lines(title, rows(part), part)],
        notes=[f"{said}: {'; '.join(ids)}" for said, ids in (("missed", missed), ("false alarms", alarms)) if ids],
        dim=[
            f"{sum(each.calls for each in usages)} calls",
            f"a review: {sum(each.prompt_tokens for each in usages) / n:,.0f} tokens in, {sum(each.completion_tokens for each in usages) / n:,.0f} out",
        ],
        metrics={f"refused/{row.suite}": row.refused.share for row in suites},
        content={
            "suites": {row.suite: row._asdict() for row in suites},
            "results": [result.model_dump(mode="json") for result in results],
        },
    )


def _lines(title: str, groups: Sequence[Row], results: Sequence[ReviewResult]) -> Iterator[list[Cell]]:
    from finexpert.datasets.evaluations.evaluation import share
    from finexpert.datasets.layers.review_evaluation import Row

    total = share(sum(result.refused for result in results), len(results))
    for row in [*groups, Row(title, title, total, sum(row.unclear for row in groups))]:
        name = f"{row.suite}: {row.group}" if row.suite in ("scripts", "statements") else row.group
        yield [Cell(name, name), right(row.refused), interval(row.refused), Cell(row.unclear, str(row.unclear or ""))]
