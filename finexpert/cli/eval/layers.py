"""`finexpert eval lookup` and `finexpert eval keywords`: two layers apart, on their labelled sets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.eval import modes as evaluate_modes

if TYPE_CHECKING:
    from pydantic import BaseModel

    from finexpert.datasets.evaluations.evaluation import Journal
    from finexpert.language_models.roles import LanguageModels
    from finexpert.settings import Settings

Split = Annotated[str, typer.Option(help="train, val or holdout; thresholds were chosen on train and val.")]
Threads = Annotated[int, typer.Option(min=1, max=64, help="Questions under way side by side.")]
Out = Annotated[Path | None, typer.Option("--json", help="Write configuration, summary and results.")]
Examples = Annotated[
    Path | None, typer.Option("--examples", help="A file of the same form; the packaged one if unset.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Do not go on with an interrupted run.")]


def lookup(
    split: Split = "holdout",
    examples: Examples = None,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    budget: common.Budget = None,
    program: common.Program = None,
    threads: Threads = 4,
    fresh: Fresh = False,
    json_out: Out = None,
) -> None:
    """Are the right processes recalled, and no wrong one? 49 processes in one memory."""
    settings = common.settings_from(
        lm=lm, api_base=api_base, record=record, recordings=recordings, **common.budget_settings(budget, "run")
    )
    from tempfile import TemporaryDirectory

    from finexpert.datasets.layers import lookup_evaluation as evaluation
    from finexpert.datasets.layers import lookup_examples
    from finexpert.datasets.layers.evaluation import lookup_function
    from finexpert.embeddings.embedding import embedder
    from finexpert.knowledge.taught import Taught
    from finexpert.language_models.roles import LanguageModels

    asked = lookup_examples.load_examples(split_of(split), examples)
    expert, settings = common.program_of(program, settings)
    models = LanguageModels.from_settings(settings)
    with (
        TemporaryDirectory(prefix="finexpert-lookup-") as folder,
        Taught.open(Path(folder) / "knowledge.sqlite", embedder(settings.embedder)) as taught,
    ):
        lookup_examples.fill(taught.memory, lookup_examples.load_processes(), by="example set")
        function = lookup_function(expert.memory_lookup, taught.memory, models, judge=settings.judge)
        _evaluate(
            "lookup",
            split,
            asked,
            evaluation.LookupResult,
            lambda journal, told: evaluation.evaluate(function, asked, journal, threads=threads, on_result=told),
            evaluation.summarise,
            models,
            settings,
            common.program_words(expert),
            fresh,
            json_out,
        )


def keywords(
    split: Split = "holdout",
    examples: Examples = None,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    budget: common.Budget = None,
    program: common.Program = None,
    threads: Threads = 4,
    fresh: Fresh = False,
    json_out: Out = None,
) -> None:
    """Are the terms of a house found, and is it asked exactly when nobody has explained one?"""
    settings = common.settings_from(
        lm=lm, api_base=api_base, record=record, recordings=recordings, **common.budget_settings(budget, "run")
    )
    from tempfile import TemporaryDirectory

    from finexpert.datasets.layers import keyword_evaluation as evaluation
    from finexpert.datasets.layers import keyword_examples
    from finexpert.datasets.layers.evaluation import glossaries, rephrase_function
    from finexpert.embeddings.embedding import embedder
    from finexpert.language_models.roles import LanguageModels

    asked = keyword_examples.load_examples(split_of(split), examples)
    expert, settings = common.program_of(program, settings)
    models = LanguageModels.from_settings(settings)
    with TemporaryDirectory(prefix="finexpert-keywords-") as folder:
        stores = glossaries(Path(folder), embedder(settings.embedder))
        function = rephrase_function(expert.keyword_rephrasing, stores, models, judge=settings.judge)
        _evaluate(
            "keywords",
            split,
            asked,
            evaluation.KeywordResult,
            lambda journal, told: evaluation.evaluate(function, asked, journal, threads=threads, on_result=told),
            evaluation.summarise,
            models,
            settings,
            common.program_words(expert),
            fresh,
            json_out,
        )
        for store in stores.values():
            store.close()


def split_of(split: str) -> Any:
    """The split of this name; typer's error for another."""
    if split not in ("train", "val", "holdout"):
        raise typer.BadParameter(f"{split!r} is none of train, val, holdout", param_hint="--split")
    return split


def _evaluate(
    name: str,
    split: str,
    asked: Sequence[Any],
    kind: type[Any],
    evaluate: Callable[[Journal[Any], Callable[[Any], None]], list[Any]],
    summarise: Callable[[Sequence[Any]], BaseModel],
    models: LanguageModels,
    settings: Settings,
    program: str,
    fresh: bool,
    json_out: Path | None,
) -> None:
    """Evaluate inside an MLflow run and print the summary; goes on after an interruption, or with more budget."""
    from finexpert import tracking
    from finexpert.datasets.evaluations.evaluation import Journal, write_json
    from finexpert.language_models.budget import Budget, ended_by

    model = common.model_words(models.describe())
    judge = "" if settings.judge else "no judge"
    content = "\n".join(
        [model, program, settings.embedder or "", judge, *(example.model_dump_json() for example in asked)]
    )
    place = settings.home / "eval" / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:16]}.jsonl"
    if fresh:
        place.unlink(missing_ok=True)
    journal: Journal[Any] = Journal(place, kind)
    params = {
        "model": model,
        "program": program,
        "split": split,
        "n": len(asked),
        "embedder": settings.embedder or "packaged",
        "judge": settings.judge,
    }
    budget = Budget.of(settings, "run")
    uri = tracking.start(settings, f"finexpert eval {name}")
    with tracking.run(f"eval {name}", parent=True, params=params):
        with common.progress("questions", len(asked)) as advance, ended_by(budget) as ended:
            advance(len(journal.results))
            evaluate(journal, lambda result: advance(1))
        order = {example.id: number for number, example in enumerate(asked)}
        results = sorted(journal.results, key=lambda result: order[result.id])
        measured = evaluate_modes.measured(len(results), len(asked), budget, ended)
        summary = summarise(results).model_dump(mode="json")
        rows = [result.model_dump(mode="json") for result in results]
        tracking.log(_metrics(summary), {"questions.json": {"results": rows}})
    tracking.finish()
    if json_out:
        write_json(json_out, {"config": params, "measured": measured, "summary": summary, "results": rows})
    if not ended:
        place.unlink(missing_ok=True)
    _print(model, summary, uri)
    evaluate_modes.print_measured(measured)


def _metrics(summary: dict[str, Any]) -> dict[str, float | None]:
    shares = {name: value[2] for name, value in summary.items() if _is_share(value)}
    parts = {
        f"{group}/{name}": s[2]
        for group in summary
        if isinstance(summary[group], dict)
        for name, s in summary[group].items()
    }
    return shares | parts | {name: float(summary[name]) for name in ("calls", "seconds", "failed")}


def _is_share(value: object) -> bool:
    return isinstance(value, list) and len(value) == 5


def _print(model: str, summary: dict[str, Any], uri: str) -> None:
    from rich import box
    from rich.table import Table

    out = common.console()
    out.print(f"{model}; n = {summary['n']}", markup=False)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column in ("measure", "share", "of", "95 %"):
        table.add_column(column, justify="left" if column == "measure" else "right")
    groups = {name: value for name, value in summary.items() if isinstance(value, dict)}
    rows = {name: value for name, value in summary.items() if _is_share(value)}
    rows |= {f"right, {name}": value for group in groups.values() for name, value in group.items()}
    for name, (right, n, part, low, high) in rows.items():
        table.add_row(name.replace("_", " "), f"{part:.1%}", f"{right}/{n}", f"{low:.0%}-{high:.0%}")
    out.print(table)
    out.print(f"{summary['calls']:.2f} model calls and {summary['seconds']:.2f} s a question", style="dim")
    if summary["wrong"]:
        out.print(f"not right: {', '.join(summary['wrong'])}", soft_wrap=True, markup=False)
    out.print(f"MLflow: {uri}", style="dim", soft_wrap=True)
