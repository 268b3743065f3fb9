"""`finexpert sandbox review`: what adversarial review catches of the attacks, what it refuses of ordinary code, and what it costs.

finexpert sandbox review                       236 pieces of code; with `--lm recorded` again without a key
finexpert sandbox review --all --json OUT      every attack, every ordinary analysis and query
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.options import Given, takes

if TYPE_CHECKING:
    from finexpert.datasets.layers.review_evaluation import ReviewCase, ReviewResult
    from finexpert.language_models.roles import LanguageModels
    from finexpert.settings import Settings


@takes("lm api_base record recordings threads fresh json_out")
def review(
    given: Given,
    everything: Annotated[
        bool, typer.Option("--all", help="All 900, in place of the 236 whose reviews are packaged.")
    ] = False,
) -> None:
    """Have a model review attacks and ordinary code, one call each; count what it catches and its false alarms.

    Nothing is run. The review is off unless FINEXPERT_REVIEW is set, and never takes the place of the boundary.
    """
    settings = given.settings()
    from finexpert.datasets.evaluations.evaluation import write_json
    from finexpert.datasets.layers import review_evaluation as evaluation
    from finexpert.language_models.roles import LanguageModels

    models = LanguageModels.from_settings(settings)
    chosen = evaluation.everything() if everything else evaluation.recorded()
    results = _results(models, chosen, settings, given.threads, given.fresh)
    if given.json_out:
        suites = {row.suite: row._asdict() for row in evaluation.rows(results, groups=False)}
        content = {
            "config": {"model": common.model_words(models.describe()), "all": everything},
            "suites": suites,
            "results": [result.model_dump(mode="json") for result in results],
        }
        write_json(given.json_out, content)
    _print(models, results)


def _results(
    models: LanguageModels, chosen: Sequence[ReviewCase], settings: Settings, threads: int, fresh: bool
) -> list[ReviewResult]:
    from finexpert.datasets.evaluations.journal import Journal
    from finexpert.datasets.layers import review_evaluation as evaluation
    from finexpert.modules.adversarial_review import AdversarialReview

    place = settings.home / "eval" / f"review-{evaluation.fingerprint(models, chosen)}.jsonl"
    if fresh:
        place.unlink(missing_ok=True)
    journal = Journal(place, evaluation.ReviewResult)
    if journal.results:
        common.console().print(f"going on after {len(journal.results)} reviews (--fresh starts over)")
    with common.progress("reviews", len(chosen)) as advance:
        advance(len(journal.results))
        ask = partial(evaluation.reviewed, AdversarialReview(), models)
        results = journal.in_order(ask, chosen, threads=threads, on_result=lambda result: advance(1))
    place.unlink(missing_ok=True)
    return results


def _print(models: LanguageModels, results: Sequence[ReviewResult]) -> None:
    from rich import box
    from rich.table import Table

    from finexpert.datasets.evaluations.evaluation import share
    from finexpert.datasets.layers.review_evaluation import rows

    out = common.console()
    out.print(common.model_words(models.describe()), soft_wrap=True, markup=False)
    for attack, title in ((True, "caught"), (False, "false alarms")):
        mine = [result for result in results if result.attack == attack]
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        table.add_column("attacks" if attack else "ordinary code")
        table.add_column("")
        for name in (title, "95 %", "unclear"):
            table.add_column(name, justify="right")
        for row in rows(mine):
            shown = (f"{row.refused.right}/{row.refused.n}", f"{row.refused.low:.0%}-{row.refused.high:.0%}")
            table.add_row(row.suite, row.group if row.group != row.suite else "", *shown, str(row.unclear or ""))
        all_ = share(sum(r.refused for r in mine), len(mine))
        unclear = sum(r.unclear is not None for r in mine)
        table.add_row(
            "all", "", f"{all_.right}/{all_.n}", f"{all_.low:.0%}-{all_.high:.0%}", str(unclear or ""), style="bold"
        )
        out.print(table)
        wrong = [result.id for result in mine if result.refused != attack]
        if wrong:
            out.print(f"{'missed' if attack else title}: {'; '.join(wrong)}", markup=False, soft_wrap=True)
    calls = max(1, sum(result.usage.calls for result in results))
    prompt = sum(result.usage.prompt_tokens for result in results)
    completion = sum(result.usage.completion_tokens for result in results)
    out.print(f"{calls} calls; a call: {prompt / calls:,.0f} tokens in, {completion / calls:,.0f} out")
