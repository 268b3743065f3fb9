"""Several tables on one sheet are tables of their own; groups of one table, repeated blocks and tables that stand alone stay as they are."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from finexpert.settings import Settings
from finexpert.warehouse.opening import open_data

MONTHS = [dt.datetime(2025, month, 1) for month in (4, 5, 6)]
RATES = [
    ["Group rates"],
    ["£\u2019000"],
    [],
    ["Average rates"],
    ["Currency", *MONTHS],
    ["EUR", 1.17, 1.16, 1.15],
    ["USD", 1.33, 1.34, 1.35],
    [],
    ["Closing rates"],
    ["Currency", *MONTHS],
    ["EUR", 1.19, 1.18, 1.17],
    [],
    ["Note: the rates of the bank"],
]


@pytest.fixture
def tables(tmp_path: Path, own_home: Path) -> Any:
    openpyxl = pytest.importorskip("openpyxl")

    def read(rows: list[list[Any]]) -> dict[str, tuple[list[str], int, str]]:
        made = openpyxl.Workbook()
        made.active.title = "Rates"
        for row in rows:
            made.active.append(row)
        made.save(tmp_path / "book.xlsx")
        with open_data(tmp_path / "book.xlsx", settings=Settings()) as opened:
            count = {
                each.name: opened.query(f'SELECT count(*) AS n FROM "{each.name}"').data["n"].item()
                for each in opened.tables
            }
            return {
                each.name: ([column.name for column in each.columns], count[each.name], each.comment)
                for each in opened.tables
            }

    return read


def test_two_tables_with_names_of_their_own_are_two(tables: Any) -> None:
    found = tables(RATES)
    assert sorted(found) == ["book_Rates_Average_rates", "book_Rates_Closing_rates", "book_notes"]
    assert found["book_notes"][:2] == (["sheet", "line"], 4)
    columns, rows, comment = found["book_Rates_Average_rates"]
    assert (columns, rows) == (["Currency", "2025-04-01", "2025-05-01", "2025-06-01"], 2)
    assert "in thousands" in comment
    columns, _, comment = found["book_Rates_Closing_rates"]
    assert columns == ["Currency", "2025-04-01", "2025-05-01", "2025-06-01"]
    assert "in thousands" in comment


@pytest.mark.parametrize(
    "rows",
    [
        RATES[3:7],
        # Groups of one table.
        [
            ["Line", "Apr", "May"],
            ["Shops", 1, 2],
            ["Total", 1, 2],
            [],
            ["Rent", 3, 4],
            ["Staff", 5, 6],
            [],
            ["Profit", 9, 8],
        ],
        # Texts below an empty row are no names without numbers below them.
        [["Line", "Apr", "May"], ["Shops", 1, 2], [], ["Rent", "n/a", "n/a"], ["Staff", "n/a", "n/a"]],
        # A title between groups.
        [["Line", "Apr", "May"], ["Shops", 1, 2], [], ["Costs"], ["Rent", 3, 4], ["Staff", 5, 6]],
    ],
)
def test_one_table_stays_one(tables: Any, rows: list[list[Any]]) -> None:
    assert list(tables(rows)) == ["book"]


def test_a_block_a_customer_is_one_list(tables: Any) -> None:
    blocks = [
        line for number in range(13) for line in (["Bill", "Due", "Open"], [f"R{number}", "late", number + 1], [])
    ]
    assert list(tables(blocks)) == ["book"]
