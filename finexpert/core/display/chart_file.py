"""The chart of a table as a file, drawn by matplotlib, which is imported here alone.

draw(chart, "svg", "How did rates move?")     b"<?xml ..."
"""

from __future__ import annotations

import datetime as dt
import io
import textwrap
from typing import Literal

from finexpert.core.display.table_chart import Chart

_COLOURS = ("#0a6a4f", "#b4560f", "#3a5bc0", "#8c2f6b", "#5b6660", "#8a7a00")


def draw(chart: Chart, kind: Literal["png", "svg"], title: str) -> bytes:
    """The picture of a chart. A `$` in a name is a dollar, and no formula."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(textwrap.fill(title[:200], 80), fontsize=11, loc="left", parse_math=False)
    for at, (name, values) in enumerate(zip(chart.names, chart.series, strict=True)):
        known = [float("nan") if value is None else value for value in values]
        colour = _COLOURS[at % len(_COLOURS)]
        if chart.kind == "words":
            axes.bar(chart.x, known, color=colour, label=name)
        else:
            along = [dt.datetime.fromtimestamp(x, dt.UTC) for x in chart.x] if chart.kind == "time" else chart.x
            axes.plot(along, known, color=colour, label=name, linewidth=1.8)  # type: ignore[arg-type]
    if chart.kind == "words":
        axes.set_xticks(chart.x, chart.words, rotation=30, ha="right", parse_math=False)
    axes.set_xlabel(chart.along, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.3)
    legend = axes.legend(frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    out = io.BytesIO()
    figure.savefig(out, format=kind, dpi=144)
    return out.getvalue()
