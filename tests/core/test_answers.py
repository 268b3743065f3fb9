"""The boundary of types: what is the same in another dress passes, the rest is refused."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from finexpert.core.answers import Answer, AnswerFormat, Failure, Kind
from finexpert.errors import AnswerFormatError

DAY = dt.date(2020, 4, 1)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("number", np.float32(0.5), 0.5),
        ("number", 3, 3.0),
        ("number", pd.Series([2.5]), 2.5),
        ("integer", np.int64(7), 7),
        ("integer", 7.0, 7),
        ("date", pd.Timestamp("2020-04-01"), DAY),
        ("date", np.datetime64("2020-04-01"), DAY),
        ("date", "2020-04-01", DAY),
        ("date", pd.Period("2020Q2"), DAY),
        ("year", pd.Timestamp("2020-04-01"), 2020),
        ("year", "2020", 2020),
        ("boolean", np.bool_(True), True),
        ("text", "higher", "higher"),
    ],
)
def test_the_same_in_another_dress(kind: Any, value: Any, expected: Any) -> None:
    got = AnswerFormat(kind=kind).coerce(value)
    assert got == expected
    assert type(got) is type(expected)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("number", float("nan")),
        ("number", float("inf")),
        ("number", True),
        ("number", "3.5"),
        ("number", None),
        ("number", pd.Series([1.0, 2.0])),
        ("integer", 7.5),
        ("integer", True),
        ("date", "April"),
        ("date", pd.NaT),
        ("date", 20200401),
        ("year", 12),
        ("boolean", 1),
        ("boolean", "yes"),
        ("text", ""),
        ("text", 4),
        ("table", [1]),
        ("list", "abc"),
        ("list", 3),
    ],
)
def test_the_rest_is_refused(kind: Any, value: Any) -> None:
    with pytest.raises(AnswerFormatError):
        AnswerFormat(kind=kind).coerce(value)


def test_elements_of_a_list_are_coerced() -> None:
    assert AnswerFormat(kind="list", items="integer").coerce(np.array([1.0, 2.0])) == [1, 2]
    with pytest.raises(AnswerFormatError):
        AnswerFormat(kind="list", items="integer").coerce([1, 2.5])


def test_messages_hold_no_value() -> None:
    kinds: tuple[Kind, ...] = ("number", "integer", "date", "year", "boolean", "table")
    for kind in kinds:
        with pytest.raises(AnswerFormatError) as refused:
            AnswerFormat(kind=kind).coerce("CANARY-31337")
        assert "CANARY" not in str(refused.value)


def test_no_answer_is_never_a_value() -> None:
    failed = Answer(
        question="?", status="failed", failure=Failure(layer="script_generation", kind="script", message="boom")
    )
    assert failed.value is None
    assert failed.text == "no answer: boom"


def test_an_answer_is_json_whatever_its_value_is() -> None:
    table = pd.DataFrame({"desk": ["fx", None], "fee": [1.5, 2.0]})
    answer = Answer(question="?", status="answered", value=table, figures=[b"\x89PNG\xff"])
    said = json.loads(answer.model_dump_json())
    assert said["value"] == {"columns": ["desk", "fee"], "data": [["fx", 1.5], [None, 2.0]]}
    assert said["figures"] == ["iVBOR_8="]
    assert answer.model_dump()["value"] is table
    dated = Answer(question="?", status="answered", value=[dt.date(2020, 4, 1)])
    assert dated.model_dump(mode="json")["value"] == ["2020-04-01"]
