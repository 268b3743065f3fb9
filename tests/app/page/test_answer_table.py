"""The rows of an answer: every one can be reached, sorted by value, with all digits."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest

from finexpert.app.page.answer_table import ROWS, page_of

DATA = pd.DataFrame(
    {
        "day": [dt.date(2020, 1, 1), None, dt.date(2019, 7, 1)],
        "amount": [10.5, 1234567.125, 9.0],
        "flag": [True, False, True],
        "name": ["<b>north</b>", None, "south"],
    }
)


def test_numbers_have_all_their_digits_and_what_is_missing_is_told_apart() -> None:
    shown = page_of("a", DATA)
    assert [column.kind for column in shown.columns] == ["date", "number", "words", "words"]
    assert shown.rows[1] == [None, "1,234,567.125", "no", None]
    assert shown.rows[0] == ["2020-01-01", "10.500", "yes", "<b>north</b>"]
    assert (shown.first, shown.last, shown.total) == (1, 3, 3)


@pytest.mark.parametrize(
    ("sort", "down", "amounts"),
    [(1, False, ["9.000", "10.500", "1,234,567.125"]), (1, True, ["1,234,567.125", "10.500", "9.000"])],
)
def test_rows_are_sorted_by_value_and_not_by_text(sort: int, down: bool, amounts: list[str]) -> None:
    shown = page_of("a", DATA, sort=sort, down=down)
    assert [row[1] for row in shown.rows] == amounts
    assert shown.columns[1].order == ("descending" if down else "ascending")


@pytest.mark.parametrize("down", [False, True])
def test_what_is_missing_comes_last_both_ways(down: bool) -> None:
    assert page_of("a", DATA, sort=0, down=down).rows[-1][0] is None
    assert page_of("a", DATA, sort=3, down=down).rows[-1][3] is None


def test_every_row_is_on_one_page() -> None:
    data = pd.DataFrame({"n": range(ROWS * 2 + 5)})
    pages = [page_of("a", data, page=number, sort=0, down=True) for number in (1, 2, 3)]
    assert [(page.first, page.last) for page in pages] == [
        (1, ROWS),
        (ROWS + 1, 2 * ROWS),
        (2 * ROWS + 1, 2 * ROWS + 5),
    ]
    assert [row[0] for page in pages for row in page.rows] == [f"{n}" for n in reversed(range(ROWS * 2 + 5))]


@pytest.mark.parametrize(("page", "sort"), [(0, 0), (99, 99), (-1, -5)])
def test_a_place_outside_of_the_table_is_its_beginning(page: int, sort: int) -> None:
    assert page_of("a", DATA, page=page, sort=sort).page == 1


def test_values_of_several_types_and_none_at_all_are_shown() -> None:
    mixed = pd.DataFrame({"x": [1, "a", None], "x2": [None, None, None]})
    assert [row[0] for row in page_of("a", mixed, sort=0).rows] == ["1", "a", None]
    empty = page_of("a", pd.DataFrame({"x": []}))
    assert (empty.rows, empty.first, empty.last, empty.total) == ([], 0, 0, 0)


def test_no_number_is_rounded_because_those_before_it_are_whole() -> None:
    data = pd.DataFrame({"x": [1.0] * 5_000 + [0.25]})
    assert page_of("a", data, page=51).rows[-1] == ["0.25"]
    assert page_of("a", pd.DataFrame({"x": [float("inf"), 0.1 + 0.2]})).rows == [["inf"], ["0.3"]]


def test_equal_rows_keep_their_order() -> None:
    data = pd.DataFrame({"k": [1, 1, 0], "v": ["a", "b", "c"]})
    assert [row[1] for row in page_of("a", data, sort=0).rows] == ["c", "a", "b"]
