"""The two rules for tables: what sql-eval forgives, and what ours does not."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import pytest

from finexpert.datasets.external.table_matching import alternatives, right_by_sql_eval, same_table

GOLD = pd.DataFrame({"name": ["b", "a", "a"], "n": [1, 2, 2]})
Columns = dict[str, list[Any]]


@pytest.mark.parametrize(
    ("answer", "theirs", "ours"),
    [
        ({"name": ["b", "a", "a"], "n": [1, 2, 2]}, True, True),
        ({"n": [2, 1, 2], "who": ["a", "b", "a"]}, True, True),  # names and orders do not count
        ({"name": ["b", "a", "a"], "n": [1, 2, 2], "more": [0, 0, 0]}, True, False),
        ({"name": ["b", "a"], "n": [1, 2]}, True, False),  # sql-eval takes rows that stand twice once
        ({"name": ["b", "a", "a"]}, False, False),
        ({"name": ["b", "a", "a"], "n": [2, 1, 2]}, False, False),
        ({"name": ["b", "a", "c"], "n": [1, 2, 2]}, False, False),
        ({"name": [], "n": []}, False, False),
        ({"name": ["b", "a", "a"], "n": [1.0, 2.0, 2.0]}, True, True),
        ({"name": ["b", "a", "a"], "n": ["1", "2", "2"]}, False, False),
    ],
)
def test_the_rules(answer: Columns, theirs: bool, ours: bool) -> None:
    table = pd.DataFrame(answer)
    assert (right_by_sql_eval(GOLD, table, "How many?"), same_table(GOLD, table)) == (theirs, ours)


def test_what_is_missing_is_the_same_as_what_is_missing() -> None:
    gold = pd.DataFrame({"n": [0], "total": [None]})
    answer = pd.DataFrame({"n": [0], "total": [float("nan")]})
    assert same_table(gold, answer)
    assert not same_table(gold, pd.DataFrame({"n": [0], "total": [0.0]}))


def test_a_midnight_is_its_day_for_ours_alone() -> None:
    gold = pd.DataFrame({"month": pd.to_datetime(["2024-01-01", "2024-02-01"]), "n": [1, 2]})
    answer = pd.DataFrame({"month": [dt.date(2024, 1, 1), dt.date(2024, 2, 1)], "n": [1, 2]})
    assert (right_by_sql_eval(gold, answer, "by month?"), same_table(gold, answer)) == (False, True)


def test_columns_of_the_same_values_are_told_apart_by_their_rows() -> None:
    gold = pd.DataFrame({"a": [1, 2], "b": [2, 1], "c": ["x", "y"]})
    swapped = pd.DataFrame({"b": [2, 1], "a": [1, 2], "c": ["x", "y"]})
    assert same_table(gold, swapped)
    assert not same_table(gold, pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": ["x", "y"]}))


def test_values_of_several_types_are_wrong_and_no_error() -> None:
    assert not right_by_sql_eval(GOLD, pd.DataFrame({"name": ["b", 3, None], "n": [1, 2, 2]}), "How many?")


def test_a_gold_stands_for_several_selects() -> None:
    gold = "SELECT {m.id, m.name}, sum(x) FROM m GROUP BY {};\n"
    assert alternatives(gold) == [
        "SELECT m.id, sum(x) FROM m GROUP BY m.id",
        "SELECT m.name, sum(x) FROM m GROUP BY m.name",
        "SELECT m.id, m.name, sum(x) FROM m GROUP BY m.id, m.name",
    ]
    assert alternatives("SELECT 1 ; SELECT 2;") == ["SELECT 1", "SELECT 2"]
