"""Recessions out of real GDP."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.datasets.fred.recessions import Recession, in_recession, recessions


def quarterly(values: list[float]) -> pd.Series:
    return pd.Series(values, index=pd.date_range("2000-01-01", periods=len(values), freq="QS"))


@pytest.mark.parametrize(
    ("values", "spans"),
    [
        ([5.0, 4, 3, 4], [("2000-07", "2000-07")]),
        ([5.0, 4, 3, 2, 1, 4], [("2000-07", "2001-01")]),
        ([5.0, 4, 5, 4, 5], []),
        ([5.0, 4, 4, 3, 5], []),
        ([5.0, 4, 3, 3, 2, 1, 2], [("2000-07", "2000-07"), ("2001-04", "2001-04")]),
        ([5.0, 4, 3], [("2000-07", "2000-07")]),
        ([5.0, 6, 7], []),
        ([5.0], []),
    ],
)
def test_start_and_end(values: list[float], spans: list[tuple[str, str]]) -> None:
    found = recessions(quarterly(values))
    assert [(f"{r.start:%Y-%m}", f"{r.end:%Y-%m}") for r in found] == spans


def test_length_peak_and_the_day_after() -> None:
    (found,) = recessions(quarterly([6.0, 5, 4, 3, 6]))
    assert found == Recession(pd.Timestamp("2000-07-01"), pd.Timestamp("2000-10-01"), pd.Timestamp("2000-01-01"))
    assert (found.quarters, found.months, found.after) == (2, 6, pd.Timestamp("2001-01-01"))


def test_in_recession_with_and_without_padding() -> None:
    months = pd.date_range("2000-01-01", "2001-12-01", freq="MS")
    found = recessions(quarterly([6.0, 5, 4, 3, 6]))
    inside = months[in_recession(months, found)]
    assert (inside[0], inside[-1], len(inside)) == (pd.Timestamp("2000-07-01"), pd.Timestamp("2000-12-01"), 6)
    padded = months[in_recession(months, found, padding=2)]
    assert (padded[0], padded[-1]) == (pd.Timestamp("2000-01-01"), pd.Timestamp("2001-06-01"))


@given(st.lists(st.integers(0, 4), min_size=2, max_size=30))
def test_the_same_as_counting_falls_one_by_one(values: list[int]) -> None:
    falling = [later < earlier for earlier, later in itertools.pairwise(values)]
    run, member = 0, []
    for fall in falling:
        run = run + 1 if fall else 0
        member.append(run >= 2)
    series = quarterly([float(value) for value in values])
    dates = pd.DatetimeIndex(series.index)
    assert in_recession(dates, recessions(series)).tolist() == [False, *member]
