"""Plots of evaluations: the ladder with intervals, and the spread over repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from finexpert.datasets.evaluations.evaluation import Bin, Summary
from finexpert.datasets.evaluations.mode_comparison import COSTS, Cost, Point, frontier

_BLUE, _GREY = "#2b6cb0", "#a0aec0"
# Told apart also by those who see few colours.
_COLOURS = (_BLUE, "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#000000")


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
    """Accuracy against each kind of cost that is known; bold points and the line between are those that none beats.

    Several models have a colour each, and points are named by their mode.
    """
    kinds = [kind for kind in COSTS if all(point.cost(kind) is not None for point in points)]
    figure = Figure(figsize=(1.0 + 4.4 * len(kinds), 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=10)
    models = list(dict.fromkeys(_model(point) for point in points))
    colours = dict(zip(models, cycle(_COLOURS), strict=False))
    panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for axes, kind in zip(panels, kinds, strict=True):
        _against(axes, points, kind, colours)
    panels[0].set_ylabel("right answers")
    panels[0].yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    if len(models) > 1:
        marks = [Line2D([], [], marker="o", linestyle="", color=colours[model], label=model) for model in models]
        figure.legend(handles=marks, loc="outside lower center", ncols=min(4, len(models)), frameon=False, fontsize=8)
    # Where names find room is known only once everything else has its place.
    figure.draw_without_rendering()
    for axes, kind in zip(panels, kinds, strict=True):
        _name_points(axes, points, kind)
    return figure


def _model(point: Point) -> str:
    return point.name.partition(", ")[2]


def _against(axes: Axes, points: Sequence[Point], kind: Cost, colours: Mapping[str, str]) -> None:
    best = frontier(points, kind)
    axes.step(
        [point.cost(kind) or 0.0 for point in best],
        [point.accuracy.share for point in best],
        where="post",
        color="black",
        linewidth=1,
        alpha=0.4,
        zorder=1,
    )
    for point in points:
        x, s, leads = point.cost(kind) or 0.0, point.accuracy, point in best
        colour = colours[_model(point)]
        axes.errorbar(
            x,
            s.share,
            yerr=[[max(0.0, s.share - s.low)], [max(0.0, s.high - s.share)]],
            elinewidth=0.8,
            ecolor=colour,
            alpha=0.35,
            capsize=2,
            zorder=2,
        )
        axes.plot(x, s.share, "o", color=colour, markerfacecolor=colour if leads else "white", zorder=4 if leads else 3)
    most = max(point.cost(kind) or 0.0 for point in points)
    axes.set_xlim(0, most * 1.3 or 1.0)
    axes.set_xlabel(_COST_WORDS[kind])
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _name_points(axes: Axes, points: Sequence[Point], kind: Cost) -> None:
    """Write the mode beside each point, where it covers neither a point nor another name."""
    best = frontier(points, kind)
    places = [axes.transData.transform((point.cost(kind) or 0.0, point.accuracy.share)) for point in points]
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in places]
    for point, (x, y) in sorted(zip(points, places, strict=True), key=lambda each: (-each[1][1], each[1][0])):
        text = axes.annotate(
            point.name.partition(", ")[0],
            (point.cost(kind) or 0.0, point.accuracy.share),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=8,
            fontweight="bold" if point in best else "normal",
            arrowprops={"arrowstyle": "-", "color": _GREY, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3},
            annotation_clip=False,
            bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
            zorder=5,
        )
        # The layout is settled; names, and the lines to them, are not to move it again.
        text.set_in_layout(False)
        size = Text.get_window_extent(text)  # without the line
        box = _free(x, y, size.width, size.height, taken, axes.get_window_extent())
        taken.append(box)
        scale = 72 / axes.figure.dpi
        text.set_position(((box.x0 - x) * scale, (box.y0 - y) * scale))


def _free(x: float, y: float, width: float, height: float, taken: Sequence[Bbox], within: Bbox) -> Bbox:
    """The nearest place around a point where a name of this size covers nothing, in pixels."""
    sides = [
        (8, -height / 2),
        (6, 6),
        (6, -6 - height),
        (-8 - width, -height / 2),
        (-6 - width, 6),
        (-6 - width, -6 - height),
    ]
    for distance in range(12):
        for dx, dy in sides:
            up = distance * height * 0.7 * (1 if dy > -height / 2 else -1)
            box = Bbox.from_bounds(x + dx, y + dy + up, width, height)
            inside = box.x0 >= within.x0 and box.x1 <= within.x1 and box.y0 >= within.y0 and box.y1 <= within.y1
            if inside and not any(box.overlaps(other) for other in taken):
                return box
    return Bbox.from_bounds(x + 8, y, width, height)


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
