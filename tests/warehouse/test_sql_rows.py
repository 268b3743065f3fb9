"""Rows of a database come in parts that fit into memory, however wide they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

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
        fetch(result, None, row_cap=10_000_000)
    assert sum(result.asked) * length < MAX_RESULT_BYTES + max(PART_BYTES, FIRST_ROWS * length) * 1.1
    assert max(result.asked[1:]) * length <= max(PART_BYTES, length)


def test_narrow_rows_come_in_large_parts_up_to_the_cap() -> None:
    result = Endless(10)
    data, truncated = fetch(result, (["t"], ["varchar"]), row_cap=50_000)
    assert (len(data), truncated) == (50_000, True)
    assert result.asked[:4] == [16, 128, 1024, BATCH_ROWS]
    assert max(result.asked) == BATCH_ROWS
