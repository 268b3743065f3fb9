"""Lists of years are shown as years, and a year that a join dropped is said."""

from __future__ import annotations

import pandas as pd
import pytest

from finexpert.answers.sources.years import gaps, of_years
from finexpert.core.answers import AnswerFormat


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
    ("question", "said"),
    [
        ("growth in each year from 2019 to 2022", ["there is no row for 2019, 2020"]),
        ("growth between 2021 and 2022", []),
        ("growth 2020-2022", ["there is no row for 2020"]),
        ("growth in 2020", []),
    ],
)
def test_gaps(question: str, said: list[str]) -> None:
    assert gaps(question, pd.DataFrame({"year": [2021, 2022], "growth": [1.0, 2.0]})) == said
    assert gaps(question, 3.5) == []
    assert gaps(question, pd.DataFrame({"region": ["north"]})) == []
