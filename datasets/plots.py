"""Plots of evaluations: the ladder with intervals, and the spread over repeats."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finexpert.datasets.convfinqa_scoring import Bin
from finexpert.datasets.evaluation import Summary
from finexpert.datasets.mode_comparison import COSTS, Cost, Point, frontier

_BLUE, _GREY = "#2b6cb0", "#a0aec0"


def ladder(summaries: Sequence[Summary], title: str) -> Figure:
    """Share of right answers on each rung, with its 95 % interval."""
    figure, axes = _axes(len(summaries), title)
    for place, summary in enumerate(summaries):
        s = summary.overall
        axes.bar(place, s.share, width=0.6, color=_GREY if summary.rung == "single-call" else _BLUE)
        axes.errorbar(
            place, s.share, yerr=[[max(0.0, s.share - s.low)], [max(0.0, s.high - s.share)]], color="black", capsize=4
        )
        axes.annotate(f"{s.right}/{s.n}", (place, 0.02), ha="center", color="white", fontweight="bold")
    axes.set_xticks(range(len(summaries)), [s.rung for s in summaries])
    return figure


def spread(summaries: Sequence[Summary], title: str) -> Figure:
    """Box plot over repeats of the share of right answers."""
    figure, axes = _axes(len(summaries), title)
    axes.boxplot([s.by_repeat for s in summaries], tick_labels=[s.rung for s in summaries], widths=0.5)
    for place, summary in enumerate(summaries, 1):
        axes.plot([place] * len(summary.by_repeat), summary.by_repeat, "o", color=_BLUE, alpha=0.6)
    return figure


def reliability(bins: Sequence[Bin], title: str) -> Figure:
    """How often answers were right against how sure they were; the size of a point is its number of answers."""
    figure, axes = _axes(3, title)
    axes.plot([0, 1], [0, 1], "--", color=_GREY, linewidth=1)
    most = max(b.count for b in bins)
    for b in bins:
        axes.plot(b.confidence, b.accuracy, "o", color=_BLUE, markersize=4 + 12 * b.count / most)
        axes.annotate(
            f"n = {b.count}", (b.confidence, b.accuracy), xytext=(6, -10), textcoords="offset points", fontsize=8
        )
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("confidence")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    return figure


_COST_WORDS: dict[Cost, str] = {
    "calls": "calls a question",
    "tokens": "tokens a question",
    "cost_usd": "US dollars a question",
    "seconds": "seconds a question",
}


def pareto(points: Sequence[Point], title: str) -> Figure:
    """Accuracy against each kind of cost that is known; filled points and the line between are those that none beats."""
    kinds = [kind for kind in COSTS if all(point.cost(kind) is not None for point in points)]
    figure = Figure(figsize=(1.0 + 3.4 * len(kinds), 4), layout="constrained")
    figure.suptitle(title, fontsize=10)
    for place, axes in enumerate(figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]):
        _against(axes, points, kinds[place])
        if place == 0:
            axes.set_ylabel("right answers")
            axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    return figure


def _against(axes: Axes, points: Sequence[Point], kind: Cost) -> None:
    best = frontier(points, kind)
    axes.step(
        [point.cost(kind) or 0.0 for point in best],
        [point.accuracy.share for point in best],
        where="post",
        color=_BLUE,
        linewidth=1,
        alpha=0.6,
    )
    for number, point in enumerate(sorted(points, key=lambda p: p.cost(kind) or 0.0)):
        x, s = point.cost(kind) or 0.0, point.accuracy
        axes.errorbar(
            x,
            s.share,
            yerr=[[max(0.0, s.share - s.low)], [max(0.0, s.high - s.share)]],
            marker="o",
            color=_BLUE if point in best else _GREY,
            capsize=3,
            elinewidth=1,
            zorder=3 if point in best else 2,
        )
        # Names of neighbours above and below in turn, so that they do not cover each other.
        axes.annotate(
            point.name, (x, s.share), xytext=(4, 9 if number % 2 else -15), textcoords="offset points", fontsize=8
        )
    most = max(point.cost(kind) or 0.0 for point in points)
    axes.set_xlim(0, most * 1.3 or 1.0)
    axes.set_xlabel(_COST_WORDS[kind])
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _axes(bars: int, title: str) -> tuple[Figure, Axes]:
    # A Figure of its own, not pyplot: nothing global, and safe beside other threads.
    figure = Figure(figsize=(1.6 + 1.3 * max(bars, 2), 4), layout="constrained")
    axes = figure.subplots()
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("right answers")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    axes.set_title(title, fontsize=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes
