"""Where the rows of a table begin and end in a file: encodings, headers, totals, notes."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import DataError


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
def test_encodings_with_a_mark(read_file: Any, encoding: str) -> None:
    table = read_file("t.csv", "\ufeffdesk,n\nZürich,1\nWien,2\n".encode(encoding))
    assert table.rows == [("Zürich", 1), ("Wien", 2)]
    assert list(table.types) == ["desk", "n"]


def test_what_windows_writes_is_read(read_file: Any) -> None:
    table = read_file("t.csv", "desk,n\nO\u2019Neil,5 €\nx,1\n".encode("cp1252"))
    assert table.rows == [("O\u2019Neil", 5), ("x", 1)]
    assert table.notes == ["it is not UTF-8, and was read as Windows-1252"]
    with pytest.raises(DataError, match=r"its encoding is not known\. Save it as UTF-8"):
        read_file("t.csv", "desk,n\nZürich,1\n".encode("cp437"))
    with pytest.raises(DataError, match=r"line 3: it has 1 fields, and the table 2"):
        read_file("t.csv", "desk,n\nx,5 €\ny\n".encode("cp1252"))


def test_lines_that_end_in_several_ways(read_file: Any) -> None:
    assert read_file("t.csv", "a,n\r\nx,1\ny,2\r\n").rows == [("x", 1), ("y", 2)]


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("sep=;\na;n\nx;1,5\ny;2,5\n", ["a", "n"], [("x", 1.5), ("y", 2.5)]),
        ("item,2023-12-31,2024-12-31\nCash,1,2\nDebt,3,4\n", ["item", "2023-12-31", "2024-12-31"], [("Cash", 1, 2), ("Debt", 3, 4)]),
        ("item;31.12.2023;31.12.2024\nCash;1;2\nDebt;3;4\n", ["item", "31.12.2023", "31.12.2024"], [("Cash", 1, 2), ("Debt", 3, 4)]),
        ("sym,price\nHALTED,suspended\nA,2\nB,3\n", ["sym", "price"], [("HALTED", "suspended"), ("A", "2"), ("B", "3")]),
        ("a,n\n(text),(USD)\nx,1\ny,2\n", ["a (text)", "n (USD)"], [("x", 1), ("y", 2)]),
    ],
    ids=["sep", "days", "german days", "a row of words", "units"],
)  # fmt: skip
def test_headers(read_file: Any, text: str, names: list[str], rows: list[Any]) -> None:
    table = read_file("t.csv", text)
    assert list(table.types) == names
    assert table.rows == rows


def test_rows_in_which_nothing_is_written_are_none(read_file: Any) -> None:
    assert read_file("t.csv", "a,n\nx,1\n,\ny,2\n,\n").rows == [("x", 1), ("y", 2)]
    with pytest.raises(DataError, match="line 3: a date"):
        read_file("t.csv", "day,n\n,\n03/04/2024,1\n")


def test_unquoted_decimal_commas_are_no_columns(read_file: Any) -> None:
    with pytest.raises(DataError, match=r"line 1: it names 2 columns, and the rows below hold 3 values"):
        read_file("t.csv", "a,n\nx,1,5\ny,2,5\n")


@pytest.mark.parametrize(
    ("text", "rows", "note"),
    [
        ("a,n\nx,1\ny,2\nTotal,3\n", 2, "the last row is the total of the others and was left out"),
        ("a,n\nx,5\ny,-5\nTotal,0\n", 2, "the last row is the total of the others and was left out"),
        ("a,n\nx,1\ny,2\n,3\n", 2, "the last row is the total of the others and was left out"),
        ("a,n\nx,1\ny,2\nTotal,3\nSource: ledger,\n", 2, "a note below the table was left out"),
        ("a,n\nx,1\ny,2\n*preliminary,\n** revised,\n", 2, "2 notes below the table were left out"),
        ("a,n\nTotal,3\nx,1\ny,2\n", 2, "1 rows that are totals of others were left out"),
        ("d,a,n\nA,x,1\nA,y,2\nSubtotal,,3\nB,z,4\nSubtotal,,4\nTotal,,7\n", 3, "3 rows that are totals of others were left out"),
        ("d,a,n\nA,x,1\nA,y,2\nA Total,,3\nB,z,4\nB Total,,4\nGrand Total,,7\n", 5, "some rows are called totals and were read as any other"),
        ("d,n\nx,1\nTotal,9\ny,2\n", 3, "some rows are called totals and were read as any other"),
    ],
    ids=["last", "zero", "without a name", "above a note", "notes", "first", "subtotals", "named subtotals", "no sum"],
)  # fmt: skip
def test_totals_and_notes(read_file: Any, text: str, rows: int, note: str) -> None:
    table = read_file("t.csv", text)
    assert len(table.rows) == rows
    assert note in table.notes
    assert ("some rows are called totals" in table.comment) == ("some rows" in note)


def test_rows_that_are_no_totals_stay_and_nothing_is_said(read_file: Any) -> None:
    table = read_file("t.csv", "name,n\nTotalEnergies,1\nTotal return swap,2\nSources of income,3\nx,4\n")
    assert (len(table.rows), table.notes) == (4, [])


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Balance sheet (in thousands of USD)", "in thousands, USD"),
        ("ACME plc, $m", "in millions"),
        ("Angaben in Mio. EUR", "in millions, EUR"),
        ("Bilanz in TEUR", "in thousands"),
        ("Figures in Rs. crores", "in crores"),
        ("USD bn, unaudited", "in billions, USD"),
        ("Top 5 in May", ""),
        ("Sales of millions", ""),
    ],
)
def test_the_scale_above_a_table_is_said_and_the_title_is_not(read_file: Any, title: str, said: str) -> None:
    table = read_file("t.csv", f'"{title}"\n\nitem,2022,2023\nCash,1,2\nDebt,3,4\n')
    assert table.rows == [("Cash", 1, 2), ("Debt", 3, 4)]
    about = "file t.csv, in its order of rows"
    assert table.comment == (f"{about}; a line above the table says: {said}" if said else about)
