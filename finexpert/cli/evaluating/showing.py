"""Shows what an evaluation came to in the terminal: its table, several ways of answering side by side, and where MLflow has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from finexpert.cli import common
from finexpert.cli.evaluating.report import Finished, Report

if TYPE_CHECKING:
    from finexpert.datasets.evaluations.mode_comparison import Pair, Way


class Terminal:
    """Tells a run as it goes on, and at its end."""

    def say(self, line: str) -> None:
        tell(line)

    def progress(self, unit: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        return common.progress(unit, total)

    def show(self, finished: Finished) -> None:
        report = finished.report
        if "comparison" in finished.content:
            show_ways(report.ways)
            if finished.plot is not None:
                tell(f"plot: {finished.plot}", style="dim")
        if report.head:
            _show_table(report)
        tell_measured(finished.measured)
        if report.head:
            tell(common.store_words(finished.uri), style="dim")
        for line in report.at_last:
            tell(line)


def tell(line: str, style: str | None = None) -> None:
    """Print a line as it is, however wide the terminal is."""
    common.console().print(line, style=style, soft_wrap=True, markup=False)


def tell_measured(told: Mapping[str, Any]) -> None:
    """Say where a run stopped before its end."""
    if told.get("ended"):
        tell(f"measured {told['done']} of {told['of']}: {told['ended']}. The same command with more goes on from here.")


def table_of(columns: Sequence[str], left: int = 1) -> Any:
    """An empty table; all but the first columns stand to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number < left else "right", no_wrap=name != "model")
    return table


def _show_table(report: Report) -> None:
    from rich.text import Text

    tell(report.head)
    if report.columns:
        table = table_of(report.columns, report.left)
        for row in report.rows:
            table.add_row(*(Text(cell.text) for cell in row))
        common.console().print(table)
    for line in report.notes:
        tell(line)
    for line in report.dim:
        tell(line, style="dim")


def show_ways(ways: Sequence[Way]) -> None:
    """Print ways side by side, and what each of them won and lost against the first."""
    from finexpert.datasets.evaluations.mode_comparison import against, frontier, named

    ways = named(ways)
    points = [way.point for way in ways]
    best = {point.name for point in frontier(points, "calls")}
    table = table_of(("way", "right", "95 %", "calls", "tokens", "cost", "s", "gain a call"))
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
    common.console().print(table)
    tell(
        "* no other way is as right with fewer calls; calls, tokens, cost and s (seconds) are means a question; "
        "gain a call: share of right answers that each call more than the first way's buys",
        style="dim",
    )
    for other in ways[1:]:
        _tell_pair(against(ways[0], other))


def _tell_pair(pair: Pair) -> None:
    p = f"= {pair.p:.3f}" if pair.p >= 0.001 else "< 0.001"
    tell(f"{pair.other} against {pair.first}: {len(pair.won)} won, {len(pair.lost)} lost; McNemar p {p}")
    for word, keys in (("won", pair.won), ("lost", pair.lost)):
        if keys:
            tell(f"  {word}: {', '.join(keys)}")
