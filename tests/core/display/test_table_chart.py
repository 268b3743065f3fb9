"""What is drawn of a table, and what is not."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest

from finexpert.core.display import chart_file, table_chart

MONTHS = pd.date_range("2020-01-01", periods=6, freq="MS")


def test_numbers_over_time_are_lines() -> None:
    chart = table_chart.of(pd.DataFrame({"date": MONTHS, "rate": [1.0, 2.0, None, 4.0, 5.0, 6.0]}))
    assert chart is not None
    assert (chart.kind, chart.along, chart.names) == ("time", "date", ["rate"])
    assert chart.x[0] == dt.datetime(2020, 1, 1, tzinfo=dt.UTC).timestamp()
    assert chart.series == [[1.0, 2.0, None, 4.0, 5.0, 6.0]]


def test_rows_come_in_the_order_of_time() -> None:
    chart = table_chart.of(pd.DataFrame({"date": MONTHS[::-1], "rate": range(6)}))
    assert chart is not None
    assert chart.x == sorted(chart.x)
    assert chart.series == [[5.0, 4.0, 3.0, 2.0, 1.0, 0.0]]


def test_a_long_table_has_a_line_for_each_word() -> None:
    data = pd.DataFrame({"date": [*MONTHS, *MONTHS], "region": ["n"] * 6 + ["s"] * 6, "rate": range(12)})
    chart = table_chart.of(data)
    assert chart is not None
    assert chart.names == ["n", "s"]
    assert chart.series[1] == [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]


def test_years_and_words() -> None:
    years = table_chart.of(pd.DataFrame({"fiscal_year": [2019, 2020, 2021], "sales": [1.0, 2.0, 3.0]}))
    words = table_chart.of(pd.DataFrame({"region": ["n", "s", "e"], "sales": [1.0, 2.0, 3.0]}))
    assert years is not None
    assert (years.kind, years.x) == ("number", [2019.0, 2020.0, 2021.0])
    assert words is not None
    assert (words.kind, words.words) == ("words", ["n", "s", "e"])


def test_a_number_of_another_size_is_left_to_the_table() -> None:
    chart = table_chart.of(pd.DataFrame({"date": MONTHS, "gdp": [2e4] * 6, "count": [1] * 6}))
    assert chart is not None
    assert chart.names == ["gdp"]


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"start": MONTHS, "end": MONTHS, "months": range(6)}),
        pd.DataFrame({"date": [*MONTHS[:5], pd.Timestamp("2035-01-01")], "rate": range(6)}),
        pd.DataFrame({"date": [*MONTHS, *MONTHS], "rate": range(12)}),
        pd.DataFrame({"region": ["n", "n", "s"], "sales": [1.0, 2.0, 3.0]}),
        pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}),
        pd.DataFrame({"region": ["n", "s", "e"], "known": [True, False, True]}),
        pd.DataFrame({"date": MONTHS[:2], "rate": [1, 2]}),
        pd.DataFrame([[1, 2], [3, 4], [5, 6]], columns=["same", "same"]),
        pd.DataFrame({"date": MONTHS, "rate": [0.0] * 6}),
    ],
    ids=["events", "a gap", "days twice", "words twice", "no words", "truth", "too few", "one name", "only zeros"],
)
def test_what_would_say_something_wrong_is_not_drawn(data: pd.DataFrame) -> None:
    assert table_chart.of(data) is None


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_chart_is_a_file_and_a_dollar_is_no_formula(kind: str) -> None:
    chart = table_chart.of(pd.DataFrame({"date": MONTHS, "$x_1$ <script>": range(6)}))
    assert chart is not None
    drawn = chart_file.draw(chart, kind, "What of $a$ and $\\frac{b}?")  # type: ignore[arg-type]
    assert drawn.startswith(b"\x89PNG" if kind == "png" else b"<?xml")
    assert b"<script>" not in drawn
