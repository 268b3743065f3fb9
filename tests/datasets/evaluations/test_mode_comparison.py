"""Ways of answering beside each other: what is paired, what none beats, and that it is drawn."""

from __future__ import annotations

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

from finexpert.core.answers import Usage
from finexpert.datasets.evaluations import plots
from finexpert.datasets.evaluations.evaluation import share
from finexpert.datasets.evaluations.mode_comparison import Point, Way, against, as_json, frontier, named


def way(mode: str, right: str, calls: int, cost: float | None = None, model: str = "m") -> Way:
    """One question a character: 1 is right, 0 wrong, - not asked."""
    asked = {str(number): each == "1" for number, each in enumerate(right) if each != "-"}
    usage = Usage(calls=calls, prompt_tokens=100 * calls, completion_tokens=10 * calls, cost_usd=cost, seconds=calls)
    return Way(model, mode, asked, [usage] * len(asked))


def test_a_point_holds_means() -> None:
    point = way("reviewed", "1110", 3, 0.02).point
    assert (point.accuracy[:2], point.calls, point.tokens, point.seconds) == ((3, 4), 3.0, 330.0, 3.0)
    assert point.cost_usd == pytest.approx(0.02)
    assert way("direct", "1", 1).point.cost_usd is None
    assert way("direct", "1", 1, model="recorded").point.seconds is None


def test_pairs_are_of_questions_that_both_were_asked() -> None:
    pair = against(way("direct", "1100-", 1), way("reviewed", "-0111", 3))
    assert (pair.won, pair.lost, pair.p) == (["2", "3"], ["1"], 1.0)
    assert pair.gain == pytest.approx(1 / 3)
    assert pair.per_call == pytest.approx(1 / 6)
    same = against(way("direct", "11", 1), way("checked", "11", 1))
    assert (same.won, same.lost, same.per_call) == ([], [], None)


def test_mcnemar_of_many_flips() -> None:
    assert against(way("direct", "0" * 10, 1), way("panel", "1" * 10, 6)).p == pytest.approx(2 / 2**10)


@pytest.mark.parametrize(
    ("rights", "calls", "best"),
    [
        (["1000", "1100", "1110"], [1, 2, 3], ["a", "b", "c"]),
        (["1100", "1000", "1110"], [1, 2, 3], ["a", "c"]),
        (["1100", "1110"], [2, 2], ["b"]),
        (["1100", "1100"], [1, 2], ["a"]),
    ],
)
def test_the_frontier(rights: list[str], calls: list[int], best: list[str]) -> None:
    points = [way(name, right, n).point for name, right, n in zip("abc", rights, calls, strict=False)]
    assert [point.name for point in frontier(points, "calls")] == best
    assert frontier(points, "cost_usd") == []


def test_models_are_told_apart_where_there_are_several() -> None:
    ways = [way("direct", "1", 1, model="one/strong"), way("direct", "0", 1, model="two/cheap")]
    assert [each.name for each in named(ways)] == ["direct, strong", "direct, cheap"]
    assert [each.name for each in named(ways[:1])] == ["direct"]


def test_as_json_holds_points_pairs_and_frontiers() -> None:
    content = as_json([way("direct", "10", 1), way("reviewed", "11", 3)])
    assert [(p["name"], p["accuracy"]["right"]) for p in content["points"]] == [("direct", 1), ("reviewed", 2)]
    assert content["pairs"][0]["won"] == ["1"]
    assert content["frontier"]["calls"] == ["direct", "reviewed"]


@pytest.mark.parametrize("priced", [True, False])
def test_the_plot_has_a_panel_for_each_known_cost(priced: bool) -> None:
    points = [
        Point(name, share(right, 42), calls, 1000.0 * calls, 0.01 * calls if priced else None, 2.0 * calls)
        for name, right, calls in (("direct", 31, 1), ("checked", 32, 1.1), ("panel", 30, 5.4))
    ]
    figure = plots.pareto(points, "a title")
    words = ["calls", "tokens", *(["US dollars"] if priced else []), "seconds"]
    assert [axes.get_xlabel() for axes in figure.axes] == [f"{word} a question" for word in words]
    axes = figure.axes[0]
    assert sorted(text.get_text() for text in axes.texts) == ["checked", "direct", "panel"]
    line = next(line for line in axes.lines if line.get_drawstyle() == "steps-post")
    assert np.asarray(line.get_xdata()).tolist() == [1, 1.1]
    assert figure.legends == []
    held = io.BytesIO()
    figure.savefig(held, format="png")
    assert held.getvalue().startswith(b"\x89PNG")
    assert plt.get_fignums() == []


def test_names_in_the_plot_cover_neither_points_nor_each_other() -> None:
    """Two models in five modes, many of them in nearly the same place."""
    costs = {"direct": 1.0, "checked": 1.02, "reviewed": 3.1, "panel": 5.4, "single-call": 1.0}
    points = [
        Point(f"{mode}, {model}", share(right, 100), calls, 1400 * calls, None, 3 * calls)
        for model, rights in (("strong", (80, 81, 83, 79, 70)), ("cheap", (31, 33, 33, 30, 22)))
        for (mode, calls), right in zip(costs.items(), rights, strict=True)
    ]
    figure = plots.pareto(points, "a title")
    figure.draw_without_rendering()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["strong", "cheap"]
    for axes, cost in zip(figure.axes, ("calls", "tokens", "seconds"), strict=True):
        boxes = [Text.get_window_extent(text) for text in axes.texts]  # without the lines to their points
        names = sorted(text.get_text() for text in axes.texts)
        assert names == sorted([*costs, *costs])
        marks = [axes.transData.transform((getattr(point, cost), point.accuracy.share)) for point in points]
        frame = axes.get_window_extent()
        for number, box in enumerate(boxes):
            words = type(box).from_extents(box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y1 - 1)
            assert frame.x0 <= words.x0 <= words.x1 <= frame.x1
            assert not any(words.contains(x, y) for x, y in marks)
            assert not any(words.overlaps(other) for place, other in enumerate(boxes) if place != number)
