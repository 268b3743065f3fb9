"""`finexpert eval lookup` and `finexpert eval keywords`: two layers apart, on their labelled sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.evaluating.questions import among
from finexpert.cli.evaluating.registering import evaluated
from finexpert.cli.evaluating.report import Asked, Cell, Evaluation, Report, interval
from finexpert.cli.options import SPLITS, Given

if TYPE_CHECKING:
    from finexpert.language_models.roles import LanguageModels
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.settings import Settings

Split = Annotated[str, typer.Option(help="train, val or holdout; thresholds were chosen on train and val.")]
Examples = Annotated[
    Path | None, typer.Option("--examples", help="A file of the same form; the packaged one if unset.")
]
_OPTIONS = "lm api_base record recordings budget program threads engine fresh json_out"


@evaluated(_OPTIONS)
def lookup(given: Given, split: Split = "holdout", examples: Examples = None) -> Iterator[Asked]:
    """Are the right processes recalled, and no wrong one? 49 processes in one memory."""
    among([split], SPLITS, "--split")
    from finexpert.datasets.layers import lookup_evaluation as evaluation
    from finexpert.datasets.layers import lookup_examples
    from finexpert.datasets.layers.evaluation import lookup_function
    from finexpert.embeddings.embedding import embedder
    from finexpert.knowledge.taught import Taught

    part: Any = split
    asked = lookup_examples.load_examples(part, examples)
    with (
        _prepared(given) as (expert, models, settings, folder),
        Taught.open(folder / "knowledge.sqlite", embedder(settings.embedder)) as taught,
    ):
        lookup_examples.fill(taught.memory, lookup_examples.load_processes(), by="example set")
        function = lookup_function(expert.memory_lookup, taught.memory, models, judge=settings.judge)
        yield _evaluation("lookup", given, expert, models, settings, split, asked, function, evaluation)


@evaluated(_OPTIONS)
def keywords(given: Given, split: Split = "holdout", examples: Examples = None) -> Iterator[Asked]:
    """Are the terms of a house found, and is it asked exactly when nobody has explained one?"""
    among([split], SPLITS, "--split")
    from finexpert.datasets.layers import keyword_evaluation as evaluation
    from finexpert.datasets.layers import keyword_examples
    from finexpert.datasets.layers.evaluation import glossaries, rephrase_function
    from finexpert.embeddings.embedding import embedder

    part: Any = split
    asked = keyword_examples.load_examples(part, examples)
    with _prepared(given) as (expert, models, settings, folder), ExitStack() as stack:
        stores = glossaries(folder, embedder(settings.embedder))
        for store in stores.values():
            stack.callback(store.close)
        function = rephrase_function(expert.keyword_rephrasing, stores, models, judge=settings.judge)
        yield _evaluation("keywords", given, expert, models, settings, split, asked, function, evaluation)


@contextmanager
def _prepared(given: Given) -> Iterator[tuple[FinancialExpert, LanguageModels, Settings, Path]]:
    """What a layer is asked with, and a folder that goes when all is asked."""
    from finexpert.language_models.roles import LanguageModels

    expert, settings = given.expert(given.settings())
    with TemporaryDirectory(prefix="finexpert-layer-") as folder:
        yield expert, LanguageModels.from_settings(settings), settings, Path(folder)


def _evaluation(
    name: str,
    given: Given,
    expert: FinancialExpert,
    models: LanguageModels,
    settings: Settings,
    split: str,
    asked: Sequence[Any],
    function: Callable[..., Any],
    of: Any,
) -> Evaluation[Any]:
    """The evaluation of one layer; `of` is the module that judges and summarises."""
    from finexpert.optimizers.program.fingerprints import digest

    params = {
        "model": common.model_words(models.describe()),
        "program": common.program_words(expert),
        "split": split,
        "n": len(asked),
        "embedder": settings.embedder or "packaged",
        "judge": settings.judge,
    }
    order = {example.id: number for number, example in enumerate(asked)}
    return Evaluation(
        name=name,
        settings=settings,
        kind=of.RESULT,
        mark=digest([params, *(example.model_dump_json() for example in asked)]),
        params=params,
        total=len(asked),
        ask=lambda journal, told: journal.in_order(
            partial(of.scored, function), asked, threads=given.threads, on_result=told
        ),
        report=lambda results: _report(params["model"], of, sorted(results, key=lambda result: order[result.id])),
    )


def _report(model: object, of: Any, results: Sequence[Any]) -> Report:
    summary: Any = of.summarise(results)
    found = summary.model_dump(mode="python")
    groups = {name: value for name, value in found.items() if isinstance(value, dict)}
    shares: dict[str, Any] = {name: value for name, value in summary if isinstance(value, tuple)}
    parts = {f"{group}/{name}": share for group in groups for name, share in getattr(summary, group).items()}
    rows = [result.model_dump(mode="json") for result in results]
    shown = {name.replace("_", " "): share for name, share in shares.items()}
    shown |= {f"right, {name.partition('/')[2]}".replace("_", " "): share for name, share in parts.items()}
    return Report(
        head=f"{model}; n = {found['n']}",
        columns=("measure", "share", "of", "95 %"),
        rows=[
            [
                Cell(name, name),
                Cell(share.share, f"{share.share:.1%}"),
                Cell(share.n, f"{share.right}/{share.n}"),
                interval(share),
            ]
            for name, share in shown.items()
        ],
        dim=[f"{found['calls']:.2f} model calls and {found['seconds']:.2f} s a question"],
        notes=[f"not right: {', '.join(found['wrong'])}"] if found["wrong"] else [],
        metrics={
            **{name: share.share for name, share in (shares | parts).items()},
            **{name: float(found[name]) for name in ("calls", "seconds", "failed")},
        },
        artifacts={"questions.json": {"results": rows}},
        content={"summary": summary.model_dump(mode="json"), "results": rows},
    )
