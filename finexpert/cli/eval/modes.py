"""What evaluations share that compare modes: the options, one table with every way beside the others, and the plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.core.answers import Usage
    from finexpert.core.reviews import Review
    from finexpert.datasets.evaluations.evaluation import Result
    from finexpert.datasets.evaluations.mode_comparison import Pair, Way
    from finexpert.language_models.budget import Budget, Ended

Modes = Annotated[
    list[str] | None,
    typer.Option(
        "--mode", help="direct, checked, reviewed, panel or single-call; several for a paired comparison in one run."
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", dir_okay=False, help="Write the Pareto plot of a comparison to this PNG file."),
]


def checked(names: Sequence[str]) -> list[str]:
    """The names, each once; ConfigurationError for one that is no mode."""
    from finexpert import modes

    return [modes.mode(name).name for name in dict.fromkeys(names)]


def tell(ways: Sequence[Way], title: str, plot: Path | None) -> dict[str, Any]:
    """Print the comparison and log it to the active MLflow run; it is given back as JSON."""
    from finexpert import tracking
    from finexpert.datasets.evaluations import mode_comparison, plots

    ways = mode_comparison.named(ways)
    content = mode_comparison.as_json(ways)
    figure = plots.pareto([way.point for way in ways], title)
    metrics: dict[str, float | None] = {}
    for way in ways:
        point = way.point
        metrics[f"modes/{way.name}/accuracy"] = point.accuracy.share
        metrics |= {f"modes/{way.name}/{kind}": point.cost(kind) for kind in mode_comparison.COSTS}
    tracking.log(metrics, {"comparison.json": content, "pareto.png": figure})
    if plot is not None:
        plot.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(plot, format="png", dpi=150)
    show(ways)
    if plot is not None:
        common.console().print(f"plot: {plot}", style="dim", soft_wrap=True)
    return content


def measured(done: int, of: int, budget: Budget, ended: Ended) -> dict[str, Any]:
    """How much of a run was done, and what of its budget was spent; logged to the active MLflow run."""
    from finexpert import tracking

    spent = budget.describe()
    numbers: dict[str, float | None] = {"measured": done, "measured_of": of, "budget_ended": float(bool(ended))}
    for name, (amount, limit) in spent.items():
        numbers |= {f"budget/{name}": amount, f"budget/{name}_limit": limit}
    tracking.log(numbers, {})
    return {"done": done, "of": of, "ended": ended.why, "budget": spent}


def print_measured(told: dict[str, Any]) -> None:
    """Say where a run stopped before its end."""
    if told["ended"]:
        common.console().print(
            f"measured {told['done']} of {told['of']}: {told['ended']}. The same command with more goes on from here.",
            soft_wrap=True,
            markup=False,
        )


def stage_metrics(reviews: Sequence[Review], usages: Sequence[Usage]) -> dict[str, float | None]:
    """How reviews and their stages ended ("review/agreed", "review/revision: done", "review/calculation_critic: budget"),
    and calls and seconds of each stage, as means a question.
    """
    from collections import Counter

    stages = [f"{stage.name}: {stage.ending}" for review in reviews for stage in review.stages]
    counts = Counter([*(review.agreement for review in reviews), *stages])
    calls, seconds, n = Counter[str](), dict[str, float](), max(1, len(usages))
    for usage in usages:
        calls.update(usage.by_layer)
        for name, took in usage.stages.items():
            seconds[name] = seconds.get(name, 0.0) + took
    return {
        **{f"review/{name}": count for name, count in counts.items()},
        **{f"calls/{name}": count / n for name, count in calls.items()},
        **{f"stage_seconds/{name}": took / n for name, took in seconds.items()},
    }


def show(ways: Sequence[Way]) -> None:
    """Print ways side by side, and what each of them won and lost against the first."""
    from rich import box
    from rich.table import Table

    from finexpert.datasets.evaluations.mode_comparison import against, frontier

    out = common.console()
    points = [way.point for way in ways]
    best = {point.name for point in frontier(points, "calls")}
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("way", "right", "95 %", "calls", "tokens", "cost", "s", "gain a call"):
        table.add_column(name, justify="left" if name == "way" else "right", no_wrap=True)
    for way, point in zip(ways, points, strict=True):
        pair = against(ways[0], way)
        table.add_row(
            point.name + ("*" if point.name in best else ""),
            f"{point.accuracy.right}/{point.accuracy.n}",
            f"{point.accuracy.low:.0%}-{point.accuracy.high:.0%}",
            f"{point.calls:.2f}",
            f"{point.tokens:,.0f}",
            "?" if point.cost_usd is None else f"${point.cost_usd:.4f}",
            "?" if point.seconds is None else f"{point.seconds:.1f}",
            "" if pair.per_call is None else f"{pair.per_call:+.1%}",
        )
    out.print(table)
    out.print(
        "* no other way is as right with fewer calls; calls, tokens, cost and s (seconds) are means a question; "
        "gain a call: share of right answers that each call more than the first way's buys",
        style="dim",
        soft_wrap=True,
    )
    for other in ways[1:]:
        _print_pair(against(ways[0], other))


def _print_pair(pair: Pair) -> None:
    out = common.console()
    p = f"= {pair.p:.3f}" if pair.p >= 0.001 else "< 0.001"
    out.print(
        f"{pair.other} against {pair.first}: {len(pair.won)} won, {len(pair.lost)} lost; McNemar p {p}",
        soft_wrap=True,
        markup=False,
    )
    for word, keys in (("won", pair.won), ("lost", pair.lost)):
        if keys:
            out.print(f"  {word}: {', '.join(keys)}", soft_wrap=True, markup=False)


def flips(results: Sequence[Result], before: str, after: str) -> tuple[list[str], list[str]]:
    """Questions that only the first, and only the second rung has right."""
    right = {(r.rung, r.id, r.repeat): r.correct for r in results}
    lost: list[str] = []
    won: list[str] = []
    for (rung, id, repeat), was in right.items():
        now = right.get((after, id, repeat))
        if rung == before and now is not None and was != now:
            (lost if was else won).append(id)
    return lost, won


def tell_both_rules(results: Sequence[Result], ways: Sequence[str], rule: str, ours: str) -> None:
    """What an outside rule and our own say of each way, and question by question what one has right and the other not."""
    from finexpert.datasets.evaluations.evaluation import mcnemar

    out = common.console()
    for way in ways:
        rows = [result for result in results if result.rung == way]
        no_answer = sum(result.status != "answered" for result in rows)
        out.print(
            f"{way}: {sum(r.correct for r in rows)}/{len(rows)} by the rule of {rule}, "
            f"{sum(r.also.get('ours', False) for r in rows)} by ours ({ours}); {no_answer} without an answer",
            soft_wrap=True,
            markup=False,
        )
    if len(ways) == 2:
        lost, won = flips(results, ways[1], ways[0])
        right = {(result.rung, result.id): result.correct for result in results}
        both = [id for rung, id in right if rung == ways[0] and (ways[1], id) in right]
        _, _, p = mcnemar([right[ways[0], id] for id in both], [right[ways[1], id] for id in both])
        out.print(f"only {ways[0]}: {', '.join(won) or 'nothing'}", soft_wrap=True, markup=False)
        out.print(f"only {ways[1]}: {', '.join(lost) or 'nothing'}; McNemar p = {p:.3f}", soft_wrap=True, markup=False)
