"""The rule by which an answer counts as right."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.core.answers import AnswerFormat
from finexpert.datasets.evaluations.answer_matching import matches, same_number
from finexpert.errors import AnswerFormatError, DataError

CASES: list[tuple[dict[str, Any], Any, Any, bool]] = [
    ({"kind": "number"}, 3.9449, 3.94, True),
    ({"kind": "number"}, 3.946, 3.94, False),
    ({"kind": "number"}, 3.95, 3.94, False),
    ({"kind": "number"}, -0.003, 0.0, True),
    ({"kind": "number"}, -3.94, 3.94, False),
    ({"kind": "number", "decimals": 0}, 20150.4, 20150, True),
    ({"kind": "number", "decimals": 0}, 20150.6, 20150, False),
    ({"kind": "number", "decimals": 5}, 0.141359, 0.14136, True),
    ({"kind": "number", "decimals": 5}, 0.141351, 0.14136, False),
    ({"kind": "number"}, 0.125, 0.13, True),
    ({"kind": "number"}, 0.125, 0.12, True),
    ({"kind": "number"}, 0.1, 0.30000000000000004 - 0.2, True),
    ({"kind": "number"}, float("nan"), 1.0, False),
    ({"kind": "number"}, None, 0.0, False),
    ({"kind": "number"}, True, 1.0, False),
    ({"kind": "integer"}, 3.0, 3, True),
    ({"kind": "integer"}, 4, 3, False),
    ({"kind": "integer"}, 2.999, 3, False),
    ({"kind": "date"}, "2022-06-01", dt.date(2022, 6, 1), True),
    ({"kind": "date"}, dt.date(2022, 6, 2), dt.date(2022, 6, 1), False),
    ({"kind": "year"}, "2006", 2006, True),
    ({"kind": "year"}, 2007, 2006, False),
    ({"kind": "boolean"}, False, False, True),
    ({"kind": "boolean"}, 0, False, False),
    ({"kind": "boolean"}, True, False, False),
    ({"kind": "text"}, " NASDAQcom ", "nasdaqCOM", True),
    ({"kind": "text"}, "S&P  500", "s&p 500", True),
    ({"kind": "text"}, "lower.", "lower", False),
    ({"kind": "list", "items": "number"}, [1.001, 2], [1.0, 2.0], True),
    ({"kind": "list", "items": "number"}, [2, 1], [1.0, 2.0], False),
    ({"kind": "list", "items": "number"}, [1.0], [1.0, 2.0], False),
    ({"kind": "list", "items": "number"}, 1.0, [1.0], False),
    ({"kind": "list", "items": "date"}, ["2020-04-01"], [dt.date(2020, 4, 1)], True),
    ({"kind": "list"}, ["A", "b"], ["a", "B"], True),
    ({"kind": "list", "items": "integer"}, [], [], True),
]


@pytest.mark.parametrize(("form", "value", "gold", "right"), CASES)
def test_matches(form: dict[str, Any], value: Any, gold: Any, right: bool) -> None:
    assert matches(value, gold, AnswerFormat(**form)) is right


def test_a_gold_of_another_type_is_an_error() -> None:
    with pytest.raises(AnswerFormatError):
        matches(1, "many", AnswerFormat(kind="integer"))


def test_tables_have_no_rule() -> None:
    with pytest.raises(DataError, match="table"):
        matches([1], [1], AnswerFormat(kind="table"))


@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_a_number_equals_its_own_rounding_and_not_the_second_next(value: float, decimals: int) -> None:
    step = 10.0**-decimals
    assert same_number(value, round(value, decimals), decimals)
    assert not same_number(value, value + 2 * step, decimals)
