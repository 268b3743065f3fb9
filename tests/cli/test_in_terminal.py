"""Tables and figures in a terminal."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image
from rich.console import Console

from finexpert.cli import in_terminal


def printed(shown: Any) -> str:
    console = Console(file=io.StringIO(), width=100, color_system="truecolor", force_terminal=True)
    console.print(shown)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def plain(shown: Any) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(shown)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234567.891, "1,234,567.89"),
        (0.012345, "0.01235"),
        (7, "7"),
        (float("nan"), "nan"),
        (pd.Timestamp("2020-01-01"), "2020-01-01"),
        (pd.Timestamp("2020-01-01 10:30"), "2020-01-01 10:30:00"),
        (dt.date(2020, 1, 1), "2020-01-01"),
        ("[bold]north[/bold]", "[bold]north[/bold]"),
        (True, "True"),
        (None, "None"),
    ],
)
def test_a_cell(value: Any, shown: str) -> None:
    assert f" {shown} " in plain(in_terminal.table(pd.DataFrame({"x": pd.Series([value, value], dtype=object)})))


def test_a_missing_day_is_empty() -> None:
    days = pd.DataFrame({"day": [pd.Timestamp("2020-01-01"), pd.NaT]})
    assert [line.strip(" │|") for line in plain(in_terminal.table(days)).splitlines()][3:5] == ["2020-01-01", ""]


def test_columns_of_the_same_name() -> None:
    twice = pd.DataFrame([[1, "north"]], columns=["x", "x"])
    assert in_terminal.table(twice).columns[0].justify == "right"
    assert in_terminal.table(twice).columns[1].justify == "left"


@pytest.mark.parametrize(("rows", "cut"), [(24, False), (25, True), (1000, True)])
def test_a_long_table_shows_its_ends(rows: int, cut: bool) -> None:
    text = plain(in_terminal.table(pd.DataFrame({"n": range(rows)})))
    assert (f"{rows:,} rows" in " ".join(text.split()), " ... " in text) == (cut, cut)
    assert " 0 " in text
    assert f" {rows - 1} " in text
    assert (" 12 " in text) is not cut


def test_an_empty_table() -> None:
    assert "n" in plain(in_terminal.table(pd.DataFrame({"n": []})))


@pytest.mark.parametrize(("size", "width"), [((40, 20), 10), ((300, 100), 200), ((10, 1), 10)])
def test_a_figure_is_drawn_in_half_blocks(tmp_path: Path, size: tuple[int, int], width: int) -> None:
    picture = Image.new("RGBA", size, (255, 0, 0, 255))
    path = tmp_path / "figure.png"
    picture.save(path)
    text = in_terminal.figure(path, width)
    lines = text.plain.splitlines()
    assert {len(line) for line in lines} == {min(width, 110)}
    assert len(lines) == max(1, round(size[1] / size[0] * min(width, 110)) // 2)
    assert set(text.plain) == {"▀", "\n"}
    assert "38;2;255;0;0;48;2;255;0;0" in printed(text)
