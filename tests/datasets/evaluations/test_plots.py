"""Plots of evaluations: what is drawn is what was measured, and it can be saved."""

from __future__ import annotations

import io
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from finexpert.datasets.evaluations import plots
from finexpert.datasets.evaluations.evaluation import Bin, Result, Summary, summarise


@pytest.fixture(autouse=True)
def _no_global_figures() -> Iterator[None]:
    yield
    assert plt.get_fignums() == []


def summary(rung: str, *right: tuple[int, bool]) -> Summary:
    results = [
        Result(rung=rung, repeat=repeat, id=str(number), question="?", status="answered", correct=correct)
        for number, (repeat, correct) in enumerate(right)
    ]
    return summarise(rung, results)


SUMMARIES = [
    summary("sql", (1, True), (1, False), (2, False), (2, False)),
    summary("single-call", (1, True), (1, True), (2, True), (2, True)),
    summary("+retries", (1, False), (2, False)),
]


def png(figure: Figure) -> bytes:
    held = io.BytesIO()
    figure.savefig(held, format="png")
    return held.getvalue()


def test_the_ladder_draws_shares_and_intervals() -> None:
    figure = plots.ladder(SUMMARIES, "a title")
    (axes,) = figure.axes
    bars = [patch.get_height() for box in axes.containers if isinstance(box, BarContainer) for patch in box]
    assert bars == [0.25, 1.0, 0.0]
    assert [text.get_text() for text in axes.texts] == ["1/4", "4/4", "0/2"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["sql", "single-call", "+retries"]
    assert axes.get_title() == "a title"
    low, high = axes.collections[0].get_segments()[0][:, 1]  # type: ignore[attr-defined]
    assert (low, high) == pytest.approx(SUMMARIES[0].overall[3:])
    assert png(figure).startswith(b"\x89PNG")


def test_the_baseline_is_told_apart() -> None:
    axes = plots.ladder(SUMMARIES, "").axes[0]
    colours = [patch.get_facecolor() for box in axes.containers if isinstance(box, BarContainer) for patch in box]
    assert colours[0] == colours[2] != colours[1]


@pytest.mark.parametrize("summaries", [SUMMARIES, SUMMARIES[:1], [summary("nothing asked")]])
def test_any_number_of_rungs_can_be_drawn(summaries: list[Summary]) -> None:
    assert png(plots.ladder(summaries, "")).startswith(b"\x89PNG")
    assert png(plots.spread(summaries, "")).startswith(b"\x89PNG")


def test_the_spread_shows_every_repeat() -> None:
    axes = plots.spread(SUMMARIES, "").axes[0]
    points = [
        np.asarray(line.get_ydata()).tolist()
        for line in axes.lines
        if line.get_marker() == "o" and line.get_alpha() == 0.6
    ]
    assert points == [[0.5, 0.0], [1.0, 1.0], [0.0, 0.0]]


def test_reliability_sets_accuracy_against_confidence() -> None:
    bins = [Bin(50, 60, 4, 0.55, 0.25), Bin(90, 100, 16, 0.95, 0.9)]
    figure = plots.reliability(bins, "a model")
    axes = figure.axes[0]
    points = [
        (*np.asarray(line.get_xdata()).tolist(), *np.asarray(line.get_ydata()).tolist())
        for line in axes.lines
        if line.get_marker() == "o"
    ]
    assert points == [(0.55, 0.25), (0.95, 0.9)]
    assert [text.get_text() for text in axes.texts] == ["n = 4", "n = 16"]
    assert png(figure).startswith(b"\x89PNG")
