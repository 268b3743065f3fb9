"""`finexpert eval lookup` and `finexpert eval keywords`: two layers apart, on their labelled sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from finexpert.cli import common
from finexpert.cli.eval.options import Fresh, JsonOut, Threads
from finexpert.cli.eval.resumable import ResumableRun

if TYPE_CHECKING:
    from pydantic import BaseModel

    from finexpert.datasets.evaluations.evaluation import Journal
    from finexpert.language_models.roles import LanguageModels
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.settings import Settings

Told = Callable[[Any], None]
Split = Annotated[str, typer.Option(help="train, val or holdout; thresholds were chosen on train and val.")]
Examples = Annotated[
    Path | None, typer.Option("--examples", help="A file of the same form; the packaged one if unset.")
]


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
    json_out: JsonOut = None,
) -> None:
    """Are the right processes recalled, and no wrong one? 49 processes in one memory."""
    settings = common.settings_from(
        lm=lm, api_base=api_base, record=record, recordings=recordings, **common.budget_settings(budget, "run")
    )
    from finexpert.datasets.layers import lookup_evaluation as evaluation
    from finexpert.datasets.layers import lookup_examples
    from finexpert.datasets.layers.evaluation import lookup_function
    from finexpert.embeddings.embedding import embedder
    from finexpert.knowledge.taught import Taught

    asked = lookup_examples.load_examples(split_of(split), examples)
    layer = _Layer("lookup", split, asked, evaluation.LookupResult, evaluation.summarise, fresh, json_out)

    def evaluated(given: _Given, folder: Path, journal: Journal[Any], told: Told) -> None:
        with Taught.open(folder / "knowledge.sqlite", embedder(given.settings.embedder)) as taught:
            lookup_examples.fill(taught.memory, lookup_examples.load_processes(), by="example set")
            memory_lookup, judge = given.expert.memory_lookup, given.settings.judge
            function = lookup_function(memory_lookup, taught.memory, given.models, judge=judge)
            evaluation.evaluate(function, asked, journal, threads=threads, on_result=told)

    layer.evaluate(settings, program, evaluated)


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
    json_out: JsonOut = None,
) -> None:
    """Are the terms of a house found, and is it asked exactly when nobody has explained one?"""
    settings = common.settings_from(
        lm=lm, api_base=api_base, record=record, recordings=recordings, **common.budget_settings(budget, "run")
    )
    from finexpert.datasets.layers import keyword_evaluation as evaluation
    from finexpert.datasets.layers import keyword_examples
    from finexpert.datasets.layers.evaluation import glossaries, rephrase_function
    from finexpert.embeddings.embedding import embedder

    asked = keyword_examples.load_examples(split_of(split), examples)
    layer = _Layer("keywords", split, asked, evaluation.KeywordResult, evaluation.summarise, fresh, json_out)

    def evaluated(given: _Given, folder: Path, journal: Journal[Any], told: Told) -> None:
        with ExitStack() as stack:
            stores = glossaries(folder, embedder(given.settings.embedder))
            for store in stores.values():
                stack.callback(store.close)
            rephrasing, judge = given.expert.keyword_rephrasing, given.settings.judge
            function = rephrase_function(rephrasing, stores, given.models, judge=judge)
            evaluation.evaluate(function, asked, journal, threads=threads, on_result=told)

    layer.evaluate(settings, program, evaluated)


def split_of(split: str) -> Any:
    """The split of this name; typer's error for another."""
    if split not in ("train", "val", "holdout"):
        raise typer.BadParameter(f"{split!r} is none of train, val, holdout", param_hint="--split")
    return split


class _Given(NamedTuple):
    """What a layer is asked with."""

    expert: FinancialExpert
    models: LanguageModels
    settings: Settings


@dataclass(frozen=True)
class _Layer:
    """The evaluation of one layer on its labelled set."""

    name: str
    split: str
    asked: Sequence[Any]
    kind: type[Any]
    summarise: Callable[[Sequence[Any]], BaseModel]
    fresh: bool
    json_out: Path | None

    def evaluate(
        self, settings: Settings, program: str | None, evaluated: Callable[[_Given, Path, Journal[Any], Told], None]
    ) -> None:
        """Evaluate inside an MLflow run and print the summary; goes on after an interruption, or with more budget."""
        from tempfile import TemporaryDirectory

        from finexpert import tracking
        from finexpert.language_models.roles import LanguageModels

        expert, settings = common.program_of(program, settings)
        given = _Given(expert, LanguageModels.from_settings(settings), settings)
        params = self._params(given)
        going = ResumableRun(self.name, self._mark(params), self.kind, settings, fresh=self.fresh)
        with (
            TemporaryDirectory(prefix=f"finexpert-{self.name}-") as folder,
            going.tracked(
                params, len(self.asked), lambda journal, told: evaluated(given, Path(folder), journal, told)
            ) as found,
        ):
            order = {example.id: number for number, example in enumerate(self.asked)}
            results = sorted(found, key=lambda result: order[result.id])
            summary = self.summarise(results).model_dump(mode="json")
            rows = [result.model_dump(mode="json") for result in results]
            tracking.log(_metrics(summary), {"questions.json": {"results": rows}})
        going.write(self.json_out, {"config": params, "summary": summary, "results": rows})
        _print(params["model"], summary)
        going.tell()

    def _params(self, given: _Given) -> dict[str, Any]:
        return {
            "model": common.model_words(given.models.describe()),
            "program": common.program_words(given.expert),
            "split": self.split,
            "n": len(self.asked),
            "embedder": given.settings.embedder or "packaged",
            "judge": given.settings.judge,
        }

    def _mark(self, params: dict[str, Any]) -> str:
        """What must be the same for an interrupted run to go on."""
        from finexpert.optimizers.program.fingerprints import digest

        return digest([params, *(example.model_dump_json() for example in self.asked)])


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


def _print(model: str, summary: dict[str, Any]) -> None:
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
