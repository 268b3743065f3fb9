"""`finexpert eval layers`: every layer on its own examples, as in the code and as a compiled program has it.

finexpert eval layers --program my-run                                 what compiling was worth, layer by layer
finexpert eval layers --program my-run --lm openai/a --lm openai/b     the same program asked of other models
finexpert eval layers planning --examples planning=mine.jsonl --only-own --data desk.duckdb      on one's own questions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.compile import own_examples
from finexpert.cli.evaluating.questions import among, sandbox_of
from finexpert.cli.evaluating.registering import evaluated
from finexpert.cli.evaluating.report import Asked, Cell, Evaluation, Logged, Report, number
from finexpert.cli.options import SPLITS, Given, SeveralModels

if TYPE_CHECKING:
    from finexpert.datasets.evaluations.journal import Journal
    from finexpert.optimizers.compiling.journal import Line
    from finexpert.optimizers.compiling.layer_scores import Key, LayerEvaluation, LayerScore


@evaluated("api_base data drafts record recordings budget program threads engine fresh json_out")
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
) -> Iterator[Asked]:
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
            LayerEvaluation(bench, each, common.model_words(each.describe()), part, holdout, seed) for each in models
        ]
        yield _evaluation(benches, chosen, given.threads)


def _evaluation(given: Sequence[LayerEvaluation], names: Sequence[str], threads: int) -> Evaluation[Line]:
    """The evaluation of layers by every model; what the journal keeps is one line an example."""
    from finexpert.optimizers.compiling.journal import Line
    from finexpert.optimizers.compiling.layer_scores import jobs, key_of, layer_score
    from finexpert.optimizers.program.fingerprints import digest

    bench, split = given[0].bench, given[0].split
    settings, examples = bench.settings, [bench.examples.fingerprint(name) for name in names]
    params = {
        "program": common.program_words(bench.expert),
        "models": [each.model for each in given],
        "layers": ",".join(names),
        "split": split,
        "most": given[0].most or "all",
        "seed": given[0].seed,
        "drafts": settings.drafts,
        "judge": settings.judge,
    }
    described = [each.models.describe() for each in given]
    asked = jobs(given, names)

    def report(lines: list[Line]) -> Report:
        found = {key_of(line): line for line in lines}
        rows = [layer_score(name, each, asked, found) for each in given for name in names]
        return _report(f"program {params['program']}; {split} examples", [row for row in rows if row is not None])

    return Evaluation(
        name="layers",
        settings=settings,
        kind=Line,
        mark=digest([params, examples, settings.privacy, settings.embedder, described]),
        params=params,
        total=len(asked),
        ask=partial(_scored, asked, threads),
        report=report,
        unit="examples",
    )


def _scored(asked: dict[Key, Any], threads: int, journal: Journal[Line], told: Callable[[Line], None]) -> None:
    """Score all examples."""
    import mlflow

    from finexpert.optimizers.compiling.layer_scores import key_of, scored_by

    # Thousands of small calls: their traces would take longer than they did.
    mlflow.dspy.autolog(disable=True)
    journal.fill(scored_by, asked, key_of, threads=threads, on_result=told)


def _report(head: str, rows: Sequence[LayerScore]) -> Report:
    models = list(dict.fromkeys(row.model for row in rows))
    several = len(models) > 1
    notes = []
    for row in rows:
        if row.decision is not None and row.decision.flips:
            flips = ", ".join(f"{id} {before:.2g}→{after:.2g}" for id, before, after in row.decision.flips)
            notes.append(f"{f'{row.layer}, {row.model}' if several else row.layer}: flipped: {flips}")
    runs = []
    for model in models:
        mine = [row for row in rows if row.model == model]
        runs.append(Logged(model, {"model": model}, _metrics(mine), {"layers.json": {"layers": _json_of(mine)}}))
    return Report(
        head=head,
        columns=[
            *("layer", *(["model"] if several else []), "n", "before", "program"),
            *("difference", "95 %", "p", "calls"),
        ],
        rows=[_row(row, several) for row in rows],
        left=1 + several,
        notes=notes,
        dim=models[:1] if not several else (),
        runs=runs,
        content={"layers": _json_of(rows)},
    )


def _json_of(rows: Sequence[LayerScore]) -> list[dict[str, Any]]:
    return [row.model_dump(mode="json") for row in rows]


def _metrics(rows: Sequence[LayerScore]) -> dict[str, float | None]:
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


def _row(row: LayerScore, several: bool) -> list[Cell]:
    who = [Cell(row.layer, row.layer), *([Cell(row.model, row.model)] if several else [])]
    cells = [*who, Cell(row.n, str(row.n)), number(row.before.mean, ".3f")]
    if row.after is None or row.decision is None:
        none = Cell(None, "")
        return [*cells, Cell(None, "as in the code"), none, none, none, number(row.calls_before, ".2f")]
    low, high = row.decision.interval
    calls = (row.calls_before, row.calls_after)
    return [
        *cells,
        number(row.after.mean, ".3f"),
        number(row.decision.difference, "+.3f"),
        Cell((low, high), f"{low:+.3f} to {high:+.3f}"),
        number(row.decision.p, ".3g"),
        Cell(calls, f"{row.calls_before:.2f}, {row.calls_after:.2f}"),
    ]
