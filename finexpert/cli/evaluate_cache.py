"""`finexpert eval cache`: does the answer cache know a question in other words, and is it deceived by near misses?

finexpert eval cache --split holdout --json cache.json
finexpert eval cache --records dev.json                     # and what it saves in conversations over pages
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.datasets.cache_evaluation import PairResult, PairSummary, Saved
    from finexpert.settings import Settings


def cache(
    pairs: Annotated[Path | None, typer.Option(help="File of labelled pairs, JSON lines; the packaged one.")] = None,
    split: Annotated[Literal["train", "holdout", "all"], typer.Option(help="Which scenarios.")] = "all",
    records: Annotated[
        Path | None, typer.Option(help="File of ConvFinQA conversations: count too what the cache saves on them.")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="List misses and false hits of the train split.")] = False,
    json_out: Annotated[Path | None, typer.Option("--json", help="Write configuration, summaries and results.")] = None,
) -> None:
    """Hit rate on other wordings and false-hit rate on near misses, with Wilson intervals; no model is asked."""
    settings = common.settings_from()
    from finexpert.answer_cache import ALIKE
    from finexpert.datasets import cache_evaluation as evaluation
    from finexpert.datasets import convfinqa as data
    from finexpert.datasets.evaluation import write_json
    from finexpert.stores.embedding import embedder

    scenarios = evaluation.load_scenarios(pairs or evaluation.FILE)
    chosen = [pair for pair in evaluation.pairs(scenarios) if split in ("all", pair.split)]
    if not chosen:
        raise typer.BadParameter(f"no scenario is of the split {split!r}", param_hint="--split")
    model = embedder(settings.embedder)
    saved = evaluation.saved_on(data.load(records), model, settings.as_of or dt.date.today()) if records else None
    results = evaluation.evaluate(chosen, model)
    summaries = evaluation.summarise(results)
    params: dict[str, object] = {
        "pairs": str(pairs or "packaged"), "split": split, "embedder": model.name, "alike": ALIKE
    }  # fmt: skip
    params |= {"records": records.name} if records else {}
    uri = _log(summaries, results, saved, params, settings)
    if json_out:
        content = {
            "config": params,
            "rows": [summary.model_dump(mode="json") for summary in summaries],
            "saved": saved.model_dump(mode="json") if saved else None,
            "results": [result.model_dump(mode="json") for result in results],
        }
        write_json(json_out, content)
    _print(summaries, saved, uri)
    if show:
        _show([result for result in results if result.way == "cache" and result.pair.split == "train"])


def _log(
    summaries: Sequence[PairSummary],
    results: Sequence[PairResult],
    saved: Saved | None,
    params: dict[str, object],
    settings: Settings,
) -> str:
    from finexpert import tracking

    uri = tracking.start(settings, "finexpert eval cache")
    with tracking.run("eval cache", parent=True, params=params):
        if saved:
            tracking.log({"turns_saved": saved.hits.share, "turns": saved.hits.n, "saved_right": saved.right}, {})
        for row in summaries:
            with tracking.run(f"{row.way}, {row.split}", parent=False, params=params | {"way": row.way}):
                metrics = {
                    f"{name}_{part}": getattr(value, part)
                    for name, value in (("hits", row.hits), ("false_hits", row.false_hits))
                    for part in ("share", "low", "high", "n")
                }
                own = [r for r in results if (r.way, r.pair.split) == (row.way, row.split)]
                tracking.log(metrics, {"pairs.json": [result.model_dump(mode="json") for result in own]})
    tracking.finish()
    return uri


def _print(summaries: Sequence[PairSummary], saved: Saved | None, uri: str) -> None:
    from rich import box
    from rich.table import Table

    out = common.console()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("split", "told by", "hits", "%", "95 %", "false hits", "%", "95 %"):
        table.add_column(name, justify="left" if name in ("split", "told by") else "right", no_wrap=True)
    for row in sorted(summaries, key=lambda row: row.split, reverse=True):
        cells = [
            cell
            for value in (row.hits, row.false_hits)
            for cell in (
                f"{value.right}/{value.n}",
                f"{100 * value.share:.1f}",
                f"{100 * value.low:.1f}-{100 * value.high:.1f}",
            )
        ]
        table.add_row(row.split, row.way, *cells)
    out.print(table)
    if saved:
        kept = saved.hits
        out.print(
            f"{saved.conversations} conversations over {saved.pages} pages: {kept.right} of {kept.n} turns answered without a model"
            f" ({100 * kept.share:.1f} %, {100 * kept.low:.1f}-{100 * kept.high:.1f}), {saved.right} of them as gold has it",
            soft_wrap=True,
        )
    out.print(f"MLflow: {uri}", style="dim", soft_wrap=True)


def _show(results: Sequence[PairResult]) -> None:
    out = common.console()
    for result in results:
        if result.hit is (result.pair.differs is not None):
            kind = "false hit" if result.hit else f"miss: {result.why}"
            out.print(f"{result.pair.one}\n  {result.pair.other}\n  {kind}", soft_wrap=True, markup=False)
