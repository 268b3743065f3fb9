"""Rows of a database come in parts that fit into memory, however wide they are, and in the types of their values."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.engines.rows import FIRST_ROWS, PART_BYTES, fetch
from finexpert.warehouse.isolated.answer import BATCH_ROWS, MAX_RESULT_BYTES


class Endless:
    """A result without end, whose rows have a text of the given length; it notes what was asked of it."""

    def __init__(self, length: int) -> None:
        self.row = ("x" * length,)
        self.asked: list[int] = []

    def keys(self) -> Iterable[str]:
        return ["t"]

    def fetchmany(self, size: int) -> Sequence[Sequence[Any]]:
        self.asked.append(size)
        return [self.row] * size


@pytest.mark.parametrize("length", [1 << 14, 1 << 20, 1 << 23])
def test_a_huge_result_is_given_up_in_time(length: int) -> None:
    result = Endless(length)
    with pytest.raises(QueryError, match="larger than 256 MB"):
        fetch(result, row_cap=10_000_000)
    assert sum(result.asked) * length < MAX_RESULT_BYTES + max(PART_BYTES, FIRST_ROWS * length) * 1.1
    assert max(result.asked[1:]) * length <= max(PART_BYTES, length)


def test_narrow_rows_come_in_large_parts_up_to_the_cap() -> None:
    result = Endless(10)
    data, truncated = fetch(result, row_cap=50_000)
    assert (len(data), truncated) == (50_000, True)
    assert result.asked[:4] == [16, 128, 1024, BATCH_ROWS]
    assert max(result.asked) == BATCH_ROWS


class Given:
    """A result with these rows of one column."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.rows = [(value,) for value in values]

    def keys(self) -> Iterable[str]:
        return ["x"]

    def fetchmany(self, size: int) -> Sequence[Sequence[Any]]:
        taken, self.rows = self.rows[:size], self.rows[size:]
        return taken


@pytest.mark.parametrize(("values", "dtype", "first"), [
    ([1, 2], "int64", 1),
    ([1] * 40 + [2.5], "float64", 1.0),
    ([None] * 40 + [3], "float64", None),
    ([Decimal(12), Decimal(7)], "int64", 12),
    ([Decimal("12.0"), Decimal("7.5")], "float64", 12.0),
    ([Decimal(1)] * 40 + [Decimal("0.5")], "float64", 1.0),
    ([2**70, 1], "float64", 2.0**70),
    ([True, None], "boolean", True),
    ([dt.date(2024, 5, 1)], "datetime64[us]", pd.Timestamp("2024-05-01")),
    ([dt.datetime(2024, 5, 1, 3, tzinfo=dt.timezone(dt.timedelta(hours=2)))], "datetime64[us]", pd.Timestamp("2024-05-01 01:00")),
    ([uuid.UUID(int=1)], "str", str(uuid.UUID(int=1))),
    (["2024-05-01"], "str", "2024-05-01"),
])  # fmt: skip
def test_a_column_has_the_type_of_all_of_its_values(values: list[Any], dtype: str, first: object) -> None:
    data, _ = fetch(Given(values), row_cap=1000)
    assert str(data["x"].dtype) == dtype
    assert pd.isna(data["x"].iloc[0]) if first is None else data["x"].iloc[0] == first


@pytest.mark.parametrize(("values", "said"), [
    ([1] * 40 + ["n/a"], "holds bigint and varchar: cast it"),
    ([1, "n/a"], "holds bigint and varchar: cast it"),
    ([b"ab"], "type blob"),
    ([[1, 2]], "type list"),
    ([{"a": 1}], "type struct"),
    ([dt.timedelta(days=1)], "type interval"),
])  # fmt: skip
def test_values_of_several_types_or_of_none_are_refused(values: list[Any], said: str) -> None:
    with pytest.raises(QueryError, match=said) as caught:
        fetch(Given(values), row_cap=1000)
    assert "n/a" not in str(caught.value)


@pytest.mark.parametrize(("values", "dtype"), [
    (["2024-05-01", "2024-05-02"], "datetime64[us]"),
    (["2024-05-01", "2024-05-02 10:30"], "datetime64[us]"),
    (["2024-05-01T10:30:00.5", None], "datetime64[us]"),
    (["2024-05-01", "n/a"], "str"),
    (["2024-02-30"], "str"),
    (["20240501"], "str"),
    ([None], "str"),
])  # fmt: skip
def test_texts_of_sqlite_are_dates_where_all_of_them_are(values: list[Any], dtype: str) -> None:
    assert str(fetch(Given(values), row_cap=1000, texts=())[0]["x"].dtype) == dtype
    assert str(fetch(Given(values), row_cap=1000, texts=(0,))[0]["x"].dtype) == "str"
