"""`finexpert eval convfinqa`: whole conversations about a filing page, tracked in MLflow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from finexpert.cli import common
from finexpert.cli.eval import modes as evaluate_modes
from finexpert.cli.eval.options import Fresh, JsonOut

if TYPE_CHECKING:
    from finexpert.datasets.convfinqa.conversations import Conversation
    from finexpert.datasets.convfinqa.evaluation import Bench, ConversationResult
    from finexpert.datasets.evaluations.evaluation import Journal


def convfinqa(
    records: Annotated[
        Path | None, typer.Option(help="File of conversations; else what `finexpert data convfinqa` fetched.")
    ] = None,
    split: Annotated[str, typer.Option(help="train or dev, of the fetched files.")] = "dev",
    sample: Annotated[int | None, typer.Option(min=1, help="Draw N conversations, stratified.")] = None,
    ids: Annotated[
        str | None,
        typer.Option(
            help="File of conversation ids, one a line; or 'recorded': the 100 whose completions are packaged."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    history: Annotated[str, typer.Option(help="own or gold: whose answers later turns build on.")] = "own",
    baseline: Annotated[
        str | None, typer.Option(help="single-call: let the model read and compute, beside the planner.")
    ] = None,
    mode: evaluate_modes.Modes = None,
    plot: evaluate_modes.Plot = None,
    demonstrations: Annotated[
        int, typer.Option(min=0, max=16, help="Show the planner the N nearest turns of the training set, with plans.")
    ] = 0,
    demonstrations_from: Annotated[
        Path | None, typer.Option(help="Training set for --demonstrations; the fetched train.json if not given.")
    ] = None,
    lm: Annotated[list[str] | None, typer.Option("--lm", help="Model; several for a comparison in one run.")] = None,
    api_base: common.ApiBase = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    budget: common.Budget = None,
    program: common.Program = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Conversations under way side by side.")] = 8,
    fresh: Fresh = False,
    predictions: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write predictions in the official leaderboard form.")
    ] = None,
    json_out: JsonOut = None,
) -> None:
    """Hold the conversations of ConvFinQA; print one table; log everything to MLflow."""
    if history not in ("own", "gold"):
        raise typer.BadParameter(f"{history!r} is neither own nor gold", param_hint="--history")
    if split not in ("train", "dev"):
        raise typer.BadParameter(f"{split!r} is neither train nor dev", param_hint="--split")
    if baseline not in (None, "single-call"):
        raise typer.BadParameter(f"{baseline!r} is no baseline; there is single-call", param_hint="--baseline")
    first = common.settings_from(
        api_base=api_base, record=record, recordings=recordings, **common.budget_settings(budget, "run")
    )
    from finexpert.datasets.convfinqa import conversations as data
    from finexpert.datasets.convfinqa import evaluation
    from finexpert.datasets.convfinqa.demonstrations import Demonstrations
    from finexpert.language_models.roles import LanguageModels

    expert, first = common.program_of(program, first)
    file = records or _fetched(first.home, split)
    conversations = data.load(file)
    if ids is not None:
        conversations = data.named(conversations, None if ids == "recorded" else Path(ids))
    chosen = data.sample(conversations, sample, seed) if sample else conversations
    chooser = None
    if demonstrations:
        chooser = Demonstrations(data.load(demonstrations_from or _fetched(first.home, "train")), demonstrations)
    asked = evaluate_modes.checked(mode) if mode else [evaluation.PLANNER]
    modes = list(dict.fromkeys([*asked, *([baseline] if baseline else [])]))
    benches = []
    names: list[str | None] = [*lm] if lm else [None]
    for each in names:
        settings = first.model_copy(update={"lm": each}) if each else first
        models = LanguageModels.from_settings(settings)
        side: Literal["own", "gold"] = "gold" if history == "gold" else "own"
        name = "recorded" if models.replaying else str(models.describe()["model"])
        benches.append(evaluation.Bench(models, settings, side, expert=expert, model=name, demonstrations=chooser))
    about = {
        "data": str(file.name) if file else "sample pages (made-up companies)",
        "conversations": len(chosen),
        "turns": sum(len(c.turns) for c in chosen),
        "seed": seed,
        "history": history,
        "demonstrations": demonstrations,
        "modes": ",".join(modes),
        "mode": first.mode,
        "program": common.program_words(expert),
    }
    run(
        benches,
        chosen,
        modes,
        about,
        threads=threads,
        fresh=fresh,
        json_out=json_out,
        predictions=predictions,
        plot=plot,
    )


def _fetched(home: Path, split: str) -> Path | None:
    path = home / "convfinqa" / f"{split}.json"
    if path.exists():
        return path
    if split != "dev":
        raise typer.BadParameter(f"there is no {path}; get it with `finexpert data convfinqa`", param_hint="--split")
    return None


def run(
    benches: Sequence[Bench],
    conversations: Sequence[Conversation],
    modes: Sequence[str],
    about: dict[str, Any],
    *,
    threads: int,
    fresh: bool,
    json_out: Path | None,
    predictions: Path | None,
    plot: Path | None = None,
) -> None:
    """Evaluate with a progress bar, inside one MLflow run a comparison and one nested run a model and mode."""
    from finexpert.cli.eval import convfinqa_report
    from finexpert.cli.eval.resumable import ResumableRun
    from finexpert.datasets.convfinqa import evaluation
    from finexpert.datasets.evaluations.evaluation import write_json

    mark, settings = _fingerprint(benches, conversations, about), benches[0].settings
    kind = evaluation.ConversationResult
    going = ResumableRun("convfinqa", mark, kind, settings, fresh=fresh, unit="conversations")

    def evaluate(journal: Journal[ConversationResult], told: Callable[[ConversationResult], None]) -> None:
        for bench in benches:
            evaluation.evaluate(bench, conversations, modes, journal, threads=threads, on_result=told)

    total = about["turns"] * len(modes) * len(benches)
    params = about | {"models": [bench.model for bench in benches]}
    compared = None
    with going.tracked(params, total, evaluate, size=lambda result: len(result.turns), unit="turns") as results:
        reports = [convfinqa_report.of(bench, mode, results, conversations) for bench in benches for mode in modes]
        for report in reports:
            convfinqa_report.log(report)
        ways = [report.way for report in reports if report.results]
        if len(ways) > 1:
            title = f"ConvFinQA, {about['conversations']} conversations, {about['turns']} turns"
            compared = evaluate_modes.tell(ways, title, plot)
    if predictions:
        write_json(predictions, evaluation.predictions(reports[0].results))
    content = {"config": about, "reports": [report.as_json() for report in reports]}
    going.write(json_out, content | ({"comparison": compared} if compared else {}))
    convfinqa_report.show(reports, about)
    going.tell()


def _fingerprint(benches: Sequence[Bench], conversations: Sequence[Conversation], about: dict[str, Any]) -> str:
    """What must be the same for an interrupted evaluation to go on."""
    from finexpert.datasets.fred.evaluation import limits_of

    content = [
        [[c.id, c.filing.fingerprint, c.turns] for c in conversations],
        [[b.models.describe(), b.settings.retries, b.knowledge, *limits_of(b.settings)] for b in benches],
        about,
    ]
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()[:16]
