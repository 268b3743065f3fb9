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

from finexpert.cli.terminal import tables as in_terminal


def printed(shown: Any) -> str:
    console = Console(file=io.StringIO(), width=100, color_system="truecolor", force_terminal=True)
    console.print(shown)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def table(data: pd.DataFrame, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(*in_terminal.tables(data, width), sep="")
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234567.891, "1,234,567.891"),
        (0.012345, "0.012345"),
        (7, "7"),
        (1234567, "1,234,567"),
        (pd.Timestamp("2020-01-01"), "2020-01-01"),
        (pd.Timestamp("2020-01-01 10:30"), "2020-01-01 10:30:00"),
        (dt.date(2020, 1, 1), "2020-01-01"),
        ("[bold]north[/bold]", "[bold]north[/bold]"),
        (True, "yes"),
        (1 / 3, "0.333333"),
    ],
)
def test_a_cell(value: Any, shown: str) -> None:
    assert f" {shown} " in table(pd.DataFrame({"x": pd.Series([value, value], dtype=object)}))


def test_a_missing_day_is_empty() -> None:
    days = pd.DataFrame({"day": [pd.Timestamp("2020-01-01"), pd.NaT]})
    assert [line.strip(" │|") for line in table(days).splitlines()][3:5] == ["2020-01-01", ""]


def test_columns_of_the_same_name() -> None:
    twice = pd.DataFrame([[1, "north"]], columns=["x", "x"])
    assert in_terminal.tables(twice, 100)[0].columns[0].justify == "right"
    assert in_terminal.tables(twice, 100)[0].columns[1].justify == "left"


@pytest.mark.parametrize(("rows", "cut"), [(24, False), (25, True), (1000, True)])
def test_a_long_table_shows_its_ends(rows: int, cut: bool) -> None:
    text = table(pd.DataFrame({"n": range(rows)}))
    assert (f"{rows:,} rows" in " ".join(text.split()), " ... " in text) == (cut, cut)
    assert " 0 " in text
    assert f" {rows - 1} " in text
    assert (" 12 " in text) is not cut


WIDE = pd.DataFrame(
    {
        "symbol": ["ACME", "ZORK"],
        **{f"notional amount of {year}": [123_456_789_012.25, -0.000012345] for year in range(2015, 2025)},
        "remark": ["a word " * 20, "short"],
    }
)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 300])
def test_a_wide_table_cuts_no_number(width: int) -> None:
    text = table(WIDE, width)
    assert text.count(" 123,456,789,012.25 ") == text.count(" -0.000012345 ") == 10
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    # Every part says which row it is about.
    assert text.count("ACME") == text.count("┏")


def test_a_table_that_fits_is_one() -> None:
    assert table(WIDE, 500).count("┏") == 1


def test_long_texts_are_folded_and_not_cut() -> None:
    words = table(pd.DataFrame({"n": [1], "remark": [" ".join(f"word{n}" for n in range(40))]}), 50)
    assert words.count("word") == 40


def test_an_empty_table() -> None:
    assert "n" in table(pd.DataFrame({"n": []}))


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
