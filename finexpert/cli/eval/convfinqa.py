"""`finexpert eval convfinqa`: whole conversations about a filing page, tracked in MLflow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.evaluating.comparing import Modes, Plot, checked
from finexpert.cli.evaluating.conversations import evaluation_of
from finexpert.cli.evaluating.questions import among
from finexpert.cli.evaluating.registering import evaluated
from finexpert.cli.evaluating.report import Asked
from finexpert.cli.options import Given, SeveralModels


@evaluated("api_base record recordings budget program threads engine fresh json_out", threads=8)
def convfinqa(
    given: Given,
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
    mode: Modes = None,
    plot: Plot = None,
    lm: SeveralModels = None,
    predictions: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write predictions in the official leaderboard form.")
    ] = None,
) -> Iterator[Asked]:
    """Hold the conversations of ConvFinQA; print one table; log everything to MLflow."""
    among([history], ("own", "gold"), "--history")
    among([split], ("train", "dev"), "--split")
    among([baseline], ("single-call",), "--baseline")
    first = given.settings()
    from finexpert.datasets.convfinqa import conversations as data
    from finexpert.datasets.convfinqa import evaluation
    from finexpert.language_models.roles import LanguageModels

    expert, first = given.expert(first)
    file = records or _fetched(first.home, split)
    conversations = data.load(file)
    if ids is not None:
        conversations = data.named(conversations, None if ids == "recorded" else Path(ids))
    held = data.sample(conversations, sample, seed) if sample else conversations
    asked = checked(mode) if mode else [evaluation.PLANNER]
    modes = list(dict.fromkeys([*asked, *([baseline] if baseline else [])]))
    benches = []
    names: list[str | None] = [*lm] if lm else [None]
    for each in names:
        settings = first.model_copy(update={"lm": each}) if each else first
        models = LanguageModels.from_settings(settings)
        name = "recorded" if models.replaying else str(models.describe()["model"])
        side: Any = history
        benches.append(evaluation.ConversationBench(models, settings, side, expert=expert, model=name))
    about = {
        "data": str(file.name) if file else "sample pages (made-up companies)",
        "conversations": len(held),
        "turns": sum(len(c.turns) for c in held),
        "seed": seed,
        "history": history,
        "modes": ",".join(modes),
        "mode": first.mode,
        "program": common.program_words(expert),
    }
    yield evaluation_of(benches, held, modes, about, threads=given.threads, plot=plot, predictions=predictions)


def _fetched(home: Path, split: str) -> Path | None:
    path = home / "convfinqa" / f"{split}.json"
    if path.exists():
        return path
    if split != "dev":
        raise typer.BadParameter(f"there is no {path}; get it with `finexpert data convfinqa`", param_hint="--split")
    return None
