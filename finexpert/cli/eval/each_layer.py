"""`finexpert eval layers`: every layer on its own examples, as in the code and as a compiled program has it.

finexpert eval layers --program my-run                                 what compiling was worth, layer by layer
finexpert eval layers --program my-run --lm openai/a --lm openai/b     the same program asked of other models
finexpert eval layers planning --examples planning=mine.jsonl --only-own --data desk.duckdb      on one's own questions
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.compile import own_examples
from finexpert.cli.evaluating.questions import among, sandbox_of
from finexpert.cli.evaluating.showing import table_of, tell, tell_measured
from finexpert.cli.options import SPLITS, Given, SeveralModels, takes

if TYPE_CHECKING:
    from finexpert.optimizers.compiling.layer_scores import LayerEvaluation, LayerScore
    from finexpert.settings import Settings


@takes("api_base data drafts record recordings budget program threads fresh json_out")
def layers(
    given: Given,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Layers, such as planning; the five capabilities, so without critique, if none is named."),
    ] = None,
    lm: SeveralModels = None,
    split: Annotated[str, typer.Option(help="train, val or holdout; compiling learns from the first two.")] = "holdout",
    holdout: Annotated[
        int | None, typer.Option(min=1, help="At most so many examples of a layer; all if not given.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which examples, where not all are asked.")] = 0,
    examples: own_examples.Examples = None,
    only_own: own_examples.OnlyOwn = False,
    convfinqa: own_examples.ConvFinQA = None,
) -> None:
    """Score each layer on its own examples, before and with a compiled program; several models make a transfer table."""
    settings = given.settings(workers=2)
    from finexpert.datasets.layers import examples as layer_examples
    from finexpert.language_models.roles import LanguageModels
    from finexpert.optimizers.compiling.layer_scores import LayerEvaluation
    from finexpert.optimizers.compiling.tasks import CompileBench

    chosen = list(dict.fromkeys(names or layer_examples.CAPABILITIES))
    for name in chosen:
        layer_examples.kind_of(name)
    among([split], SPLITS, "--split")
    part: Any = split
    expert, settings = given.expert(settings)
    asked = [settings.model_copy(update={"lm": each}) for each in lm] if lm else [settings]
    models = [LanguageModels.from_settings(each) for each in asked]
    sets = own_examples.sets_of(examples, only_own, chosen, convfinqa, given.data, settings)
    with (
        sets.copies,
        TemporaryDirectory(prefix="finexpert-layers-") as folder,
        sandbox_of(settings) as sandbox,
    ):
        own_examples.look_at(sets, (part,), sandbox)
        bench = CompileBench(sandbox, settings, Path(folder), expert, sets)
        benches = [
            LayerEvaluation(bench, each, common.model_words(each.describe()), part, holdout, seed, given.threads)
            for each in models
        ]
        _evaluate(benches, chosen, settings, given.fresh, given.json_out)


def _evaluate(
    given: list[LayerEvaluation], names: list[str], settings: Settings, fresh: bool, json_out: Path | None
) -> None:
    from finexpert import tracking
    from finexpert.cli.evaluating.running import measured_of
    from finexpert.datasets.evaluations.evaluation import write_json
    from finexpert.language_models.budget import Budget, ended_by

    budget = Budget.of(settings, "run")
    params = _params(given, names, settings)
    place = settings.home / "eval" / f"layers-{_mark(given, names, params)}"
    if fresh:
        shutil.rmtree(place, ignore_errors=True)
    if place.is_dir():
        common.console().print("going on with an interrupted run (--fresh starts over)")
    uri = tracking.start(settings, "finexpert eval layers")
    _without_traces()
    rows: list[LayerScore] = []
    with tracking.run("eval layers", parent=True, params=params):
        for number, each in enumerate(given):
            found: list[LayerScore] = []
            with tracking.run(each.model[:200], parent=False, params=params | {"model": each.model}):
                with ended_by(budget) as ended:
                    # What was scored before a budget ended stays.
                    found.extend(_scored(each, names, place / str(number)))
                tracking.log(_metrics(found), {"layers.json": {"layers": [r.model_dump(mode="json") for r in found]}})
            rows += found
            if ended:
                break
        measured = measured_of(len(rows), len(names) * len(given), budget, ended)
    tracking.finish()
    if json_out:
        content = {"config": params, "measured": measured, "layers": [row.model_dump(mode="json") for row in rows]}
        write_json(json_out, content)
    if not ended:
        shutil.rmtree(place, ignore_errors=True)
    if rows:
        _print(rows, params, uri)
    tell_measured(measured)


def _scored(given: LayerEvaluation, names: list[str], place: Path) -> Iterator[LayerScore]:
    """Score the layers one after the other, with a progress bar over all their examples."""
    from finexpert.optimizers.compiling.journal import Journal
    from finexpert.optimizers.compiling.layer_scores import changed, score_layer
    from finexpert.optimizers.compiling.watching import Watch

    held = {name: len(given.bench.examples.load(name, given.split)) for name in names}
    total = sum(min(n, given.most or n) * (1 + changed(name, given.bench.expert)) for name, n in held.items())
    with common.progress("examples", total) as advance:

        class Bar(Watch):
            def example(self, program: str, line: Any) -> None:
                advance(1)

        given.watch = Bar()
        for name in names:
            yield score_layer(name, given, Journal(place / f"{name}.jsonl"))


def _without_traces() -> None:
    # Thousands of small calls: their traces would take longer than they did.
    import mlflow

    mlflow.dspy.autolog(disable=True)


def _params(given: list[LayerEvaluation], names: list[str], settings: Settings) -> dict[str, object]:
    first = given[0]
    return {
        "program": common.program_words(first.bench.expert),
        "models": [each.model for each in given],
        "layers": ",".join(names),
        "split": first.split,
        "most": first.most or "all",
        "seed": first.seed,
        "drafts": settings.drafts,
        "judge": settings.judge,
    }


def _mark(given: list[LayerEvaluation], names: list[str], params: dict[str, object]) -> str:
    """What must be the same for an interrupted run to go on."""
    from finexpert.optimizers.program.fingerprints import digest

    settings = given[0].bench.settings
    examples = [given[0].bench.examples.fingerprint(name) for name in names]
    return digest([params, examples, settings.privacy, settings.embedder, [each.models.describe() for each in given]])


def _metrics(rows: list[LayerScore]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for row in rows:
        found |= {f"{row.layer}/before": row.before.mean, f"{row.layer}/calls_before": row.calls_before}
        if row.after is not None and row.decision is not None:
            found |= {
                f"{row.layer}/after": row.after.mean,
                f"{row.layer}/calls_after": row.calls_after,
                f"{row.layer}/difference": row.decision.difference,
            }
    return found


def _print(rows: list[LayerScore], params: dict[str, object], uri: str) -> None:
    from rich.text import Text

    tell(f"program {params['program']}; {params['split']} examples")
    several = len({row.model for row in rows}) > 1
    columns = ["layer", *(["model"] if several else []), "n", "before", "program", "difference", "95 %", "p", "calls"]
    table = table_of(columns, 1 + several)
    for row in rows:
        cells = [row.layer, *([row.model] if several else []), str(row.n), f"{row.before.mean:.3f}", *_compared(row)]
        table.add_row(*map(Text, cells))
    common.console().print(table)
    for row in rows:
        if row.decision is not None and row.decision.flips:
            flips = ", ".join(f"{id} {before:.2g}→{after:.2g}" for id, before, after in row.decision.flips)
            where = f"{row.layer}, {row.model}" if several else row.layer
            tell(f"{where}: flipped: {flips}")
    if not several:
        tell(rows[0].model, style="dim")
    tell(common.store_words(uri), style="dim")


def _compared(row: LayerScore) -> list[str]:
    if row.after is None or row.decision is None:
        return ["as in the code", "", "", "", f"{row.calls_before:.2f}"]
    low, high = row.decision.interval
    return [
        f"{row.after.mean:.3f}",
        f"{row.decision.difference:+.3f}",
        f"{low:+.3f} to {high:+.3f}",
        f"{row.decision.p:.3g}",
        f"{row.calls_before:.2f}, {row.calls_after:.2f}",
    ]
