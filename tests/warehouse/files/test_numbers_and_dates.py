"""Numbers and dates as people of several countries write them: read right, or read as text, and said."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from finexpert.errors import DataError


def column(read_file: Any, values: list[str], delimiter: str = ",") -> Any:
    lines = "".join(f'{number}{delimiter}"{value}"\n' for number, value in enumerate(values))
    return read_file("t.csv", f"k{delimiter}v\n{lines}")


@pytest.mark.parametrize(
    ("values", "delimiter", "found"),
    [
        (["1.234,56", "99,50", "-3,10"], ";", [1234.56, 99.5, -3.1]),
        (["1 234,56", "99,50"], ";", [1234.56, 99.5]),
        (["1\u00a0234,56", "99,50"], ";", [1234.56, 99.5]),
        (["1\u202f234,56", "99,50"], ";", [1234.56, 99.5]),
        (["1'234.50", "99.50"], ",", [1234.5, 99.5]),
        (["1\u2019234.50", "99.50"], ",", [1234.5, 99.5]),
        (["12,34,567.50", "(1,00,000.00)"], ",", [1234567.5, -100000.0]),
        (["12,34,567", "1,00,000"], ",", [1234567, 100000]),
        (["100-", "20", "3.5 -"], ",", [-100.0, 20.0, -3.5]),
        (["\u2212100", "- 20", "+ 7"], ",", [-100, -20, 7]),
        (["$(100)", "-$5", "$-5", "$5-", "( $ 7 )"], ",", [-100, -5, -5, -5, -7]),
        (["(1.5%)", "20%"], ",", [-1.5, 20.0]),
        (["1", "\u2013", "n.a.", "#NUM!"], ",", [1, None, None, None]),
        (["1.234", "5.678"], ",", [1.234, 5.678]),
        (["1.234", "5.678", "0.5"], ";", [1.234, 5.678, 0.5]),
        (["9007199254740993", "1"], ",", [9007199254740993, 1]),
    ],
    ids=lambda given: "|".join(map(str, given)) if isinstance(given, list) else None,
)
def test_numbers(read_file: Any, values: list[str], delimiter: str, found: list[Any]) -> None:
    table = column(read_file, values, delimiter)
    assert table.column("v") == found
    assert table.types["v"] == ("DOUBLE" if any(isinstance(one, float) for one in found) else "BIGINT")


@pytest.mark.parametrize(
    ("values", "delimiter"),
    [
        (["1 2", "3 4"], ","),
        (["13\t741", "5"], ","),
        (["1234 5678", "1 234"], ","),
        (["0 123", "1 234"], ","),
        (["1.234", "5.678"], ";"),
        (["1,234", "5,678"], ";"),
        (["5.50", "5,50"], ";"),
        (["--5", "4"], ","),
    ],
    ids=lambda given: "|".join(given),
)
def test_what_may_be_another_number_is_text(read_file: Any, values: list[str], delimiter: str) -> None:
    table = column(read_file, values, delimiter)
    assert table.column("v") == values


def test_a_dot_that_may_set_thousands_apart_is_told_by_other_columns(read_file: Any) -> None:
    assert read_file("a.csv", "k;v;w\n1;1.234;0.5\n2;2.345;1.25\n").column("v") == [1.234, 2.345]
    assert read_file("b.csv", "k;v;w\n1;1.234;0,5\n2;2.345;1,25\n").column("v") == [1234.0, 2345.0]
    both = read_file("c.csv", "k;v;w;u\n1;1.234;0,5;2.5\n2;2.345;1,25;3.5\n")
    assert (both.column("v"), both.column("w"), both.column("u")) == (["1.234", "2.345"], [0.5, 1.25], [2.5, 3.5])
    assert "a dot that may begin decimals or set thousands apart" in both.comments["v"]


def test_years_of_two_digits_that_may_be_of_the_last_century_are_said(read_file: Any) -> None:
    table = column(read_file, ["13/01/65", "14/02/99"])
    assert table.column("v") == [dt.date(2065, 1, 13), dt.date(1999, 2, 14)]
    assert table.comments == {"v": "years written as 30 to 68 are read as 2030 to 2068"}
    assert not column(read_file, ["13.01.24", "14.02.99"]).comments


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["13/01/2024", "02/01/2024"], [dt.date(2024, 1, 13), dt.date(2024, 1, 2)]),
        (["13.01.2024", "02.01.2024"], [dt.date(2024, 1, 13), dt.date(2024, 1, 2)]),
        (["Sep 17, 2017", None], [dt.date(2017, 9, 17), None]),
        (["2024-01-02", "n/a"], [dt.date(2024, 1, 2), None]),
        ([1, "n/a", 3], [1, None, 3]),
        ([1.234, "5,5"], [1.234, 5.5]),
        (["1.5", "007"], ["1.5", "007"]),
        ([True, 2.5], ["true", "2.5"]),
    ],
    ids=str,
)
def test_texts_of_json_are_read_as_those_of_csv_are(read_file: Any, values: list[Any], found: list[Any]) -> None:
    import json

    records = [{"k": number, "v": value} for number, value in enumerate(values)]
    assert read_file("t.json", json.dumps(records)).column("v") == found


def test_a_date_of_json_that_can_be_read_in_two_ways_is_refused(read_file: Any) -> None:
    with pytest.raises(DataError, match=r't\.json, record 1: a date of the column "v" may be day/month or month/day'):
        read_file("t.json", '[{"v": "03/04/2024"}, {"v": "05/06/2024"}]')


@pytest.mark.parametrize("text", ["\ufeff[{}]".encode(), '[{"a": 1}]'.encode("utf-16")], ids=["utf-8", "utf-16"])
def test_json_with_a_byte_order_mark_is_refused(read_file: Any, text: bytes) -> None:
    with pytest.raises(DataError, match="begins with a byte order mark"):
        read_file("t.json", text)
