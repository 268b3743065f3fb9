"""Lists of years are shown as years, and what a join dropped or left empty is said."""

from __future__ import annotations

import pandas as pd
import pytest

from finexpert.answers.sources.gaps import gaps, holes, of_years, years_asked
from finexpert.core.answers import AnswerFormat

ROWS = pd.DataFrame({"year": [2021, 2022], "growth": [1.0, None]})


@pytest.mark.parametrize(
    ("select", "items"),
    [("SELECT i.year FROM i", "year"), ("SELECT n FROM i", None), ("SELECT year, n FROM i", None), ("SELECT (", None)],
)
def test_a_list_of_years(select: str, items: str | None) -> None:
    made = of_years(AnswerFormat(kind="list"), select)
    assert made is not None
    assert made.items == items


def test_other_formats_stay() -> None:
    assert of_years(None, "SELECT year FROM t") is None
    assert of_years(AnswerFormat(kind="number"), "SELECT year FROM t") == AnswerFormat(kind="number")


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("in 2010 and 2020", {2010, 2020}),
        ("2020-2022", {2020, 2021, 2022}),
        ("between 2010 and 2012, in dollars of 2020", {2010, 2011, 2012}),
        ("in 2020, $2021 and 2,022", set()),
        ("in the filing of 2022", set()),
    ],
)
def test_years_asked(text: str, years: set[int]) -> None:
    assert years_asked(text) == years


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("growth in each year from 2019 to 2022", ["there is no row for 2019, 2020"]),
        ("growth between 2021 and 2022", []),
        ("growth in 2020", []),
    ],
)
def test_gaps(text: str, said: list[str]) -> None:
    assert gaps(text, ROWS) == said
    assert gaps(text, 3.5) == []
    assert gaps(text, pd.DataFrame({"region": ["north"]})) == []
    assert gaps(text, pd.DataFrame({"year": ["all"]})) == []


def test_cells_that_a_join_left_empty() -> None:
    assert holes(ROWS) == ["1 row has no growth"]
    assert holes(3.5) == []
