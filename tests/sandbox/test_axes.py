"""How numbers stand on the axes of a chart."""

from __future__ import annotations

from matplotlib.figure import Figure

from finexpert.sandbox.axes import shorten


def labels(values: list[float], **given: object) -> list[str]:
    figure = Figure()
    axes = figure.add_subplot()
    axes.plot(values)
    axes.set(**given)
    shorten(figure)
    figure.canvas.draw()
    return [label.get_text() for label in axes.get_yticklabels()]


def test_millions_are_written_as_such() -> None:
    assert {"200M", "500M"} <= set(labels([1.5e8, 6e8]))


def test_small_numbers_own_labels_and_logarithms_are_left() -> None:
    assert "200M" not in labels([1.0, 3.0])
    assert labels([1e8, 2e8], yticks=[1e8], yticklabels=["a hundred"]) == ["a hundred"]
    assert not any("M" in label for label in labels([1e6, 1e9], yscale="log"))
