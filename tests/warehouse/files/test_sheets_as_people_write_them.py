"""Sheets that are written for people: names in two rows, titles of groups, tables side by side, notes below, rows in percent, texts of several forms."""

from __future__ import annotations

import datetime as dt
import time
from pathlib import Path
from typing import Any

import pytest

from finexpert.settings import Settings
from finexpert.warehouse.files.files_warehouse import open_files
from finexpert.warehouse.files.sheets.excel import _without_margin
from finexpert.warehouse.opening import open_data

ENTRIES = [["Retail", "", ""], [101, "Ann", 1], [102, "Ben", 0.5], ["Export", "", ""], [103, "Cem", 1]]


@pytest.fixture
def opened(tmp_path: Path, own_home: Path) -> Any:
    openpyxl = pytest.importorskip("openpyxl")
    warehouses = []

    def read(*rows: list[Any]) -> Any:
        made = openpyxl.Workbook()
        made.active.title = "Plan"
        for row in rows:
            made.active.append([None if cell == "" else cell for cell in row])
        made.save(tmp_path / "book.xlsx")
        warehouses.append(open_data(tmp_path / "book.xlsx", settings=Settings()))
        return warehouses[-1]

    yield read
    for each in warehouses:
        each.close()


def named(warehouse: Any, table: str) -> dict[str, str]:
    return {column.name: column.comment for each in warehouse.tables if each.name == table for column in each.columns}


def test_names_of_groups_stand_above_names_of_months_that_are_not_over(opened: Any) -> None:
    warehouse = opened(
        ["Plan in k EUR"], [],
        ["", dt.datetime(2026, 10, 1), "", dt.datetime(2026, 11, 1), ""],
        ["", "Actual", "Budget", "Actual", "Budget"],
        ["Sales", 10.5, 11, "", 12], ["Costs", -4, -5, "", -5], ["Result", 6.5, 6, "", 7],
    )  # fmt: skip
    assert list(named(warehouse, "book"))[1:] == [
        "2026-10-01 Actual",
        "2026-10-01 Budget",
        "2026-11-01 Actual",
        "2026-11-01 Budget",
    ]
    assert warehouse.query("SELECT \"2026-11-01 Budget\" AS b FROM book WHERE column1 = 'Costs'").data["b"].item() == -5


def test_names_of_groups_stand_above_names_of_texts(opened: Any) -> None:
    warehouse = opened(
        ["Customer", "", "Terms", "", ""], ["No.", "Name", "Days", "Limit", "Status"],
        [1, "Oak", 30, 20, "active"], [2, "Elm", 45, 30, "closed"], [3, "Ash", 30, 10, "active"],
    )  # fmt: skip
    assert list(named(warehouse, "book")) == [
        "Customer No.",
        "Customer Name",
        "Terms Days",
        "Terms Limit",
        "Terms Status",
    ]
    assert warehouse.query("SELECT count(*) AS n FROM book").data["n"].item() == 3


def test_ranges_of_days_are_names(opened: Any) -> None:
    warehouse = opened(
        ["Aged items"], [], ["", "", "", "Overdue", ""], ["no", "name", "not due", "1-30", "31-60"],
        ["K1", "Oak", 10, "", 2.5], ["K2", "Elm", "", 3, ""], ["K3", "Ash", 1, 4, 0.5],
    )  # fmt: skip
    assert list(named(warehouse, "book")) == ["no", "name", "not due", "1-30", "31-60"]


def test_the_title_of_a_group_is_a_column(opened: Any) -> None:
    warehouse = opened(["no", "name", "share"], *ENTRIES)
    found = warehouse.query('SELECT no, "Section" AS s FROM book ORDER BY no').data
    assert found["no"].tolist() == [101, 102, 103]
    assert found["s"].tolist() == ["Retail", "Retail", "Export"]


def test_a_line_without_numbers_stays_a_row_where_labels_are_texts(opened: Any) -> None:
    warehouse = opened(["line", "apr", "may"], ["Sales", "", ""], ["Shops", 1, 2], ["Web", 3, 4])
    assert warehouse.query("SELECT count(*) AS n FROM book").data["n"].item() == 3


def test_notes_are_no_rows_and_can_be_published(opened: Any) -> None:
    warehouse = opened(
        ["Stock of May"],
        [],
        ["no", "name", "cases"],
        [1, "a", 12],
        [2, "b", 13],
        [],
        ["cases: of 6 pieces"],
        ["b: blocked"],
    )
    assert warehouse.query("SELECT count(*) AS n FROM book").data["n"].item() == 2
    assert set(warehouse.query("SELECT line FROM book_notes").data["line"]) == {
        "Stock of May",
        "cases: of 6 pieces",
        "b: blocked",
    }
    card = str(warehouse.schema_card(question="cases?"))
    assert "blocked" not in card


def test_tables_side_by_side_are_two(opened: Any) -> None:
    warehouse = opened(
        ["A) Goods", "", "", "", "B) Materials", ""], ["Article", "Loc", "Cases", "", "Material", "Tons"],
        ["x1", "W1", 12, "", "Sugar", 1.5], ["x2", "W2", 13, "", "Salt", 2.5], ["x3", "W2", 14, "", "", ""],
    )  # fmt: skip
    count = {
        each.name: warehouse.query(f'SELECT count(*) AS n FROM "{each.name}"').data["n"].item()
        for each in warehouse.tables
    }
    assert count == {"book_Plan_A_Goods": 3, "book_Plan_B_Materials": 2}


def test_an_empty_column_before_totals_sets_nothing_apart(opened: Any) -> None:
    warehouse = opened(["line", "", "apr", "may", "", "total"], ["Shops", "", 1, 2, "", 3], ["Web", "", 3, 4, "", 7])
    assert [each.name for each in warehouse.tables] == ["book"]


def test_an_empty_column_within_a_table_sets_nothing_apart(opened: Any) -> None:
    warehouse = opened(
        ["Staff of 2023"],
        [],
        ["no", "name", "", "site", "share"],
        [1, "Ann", "", "Bonn", 1],
        [2, "Ben", "", "Bonn", 0.5],
    )
    assert [each.name for each in warehouse.tables] == ["book"]
    assert warehouse.query("SELECT share FROM book WHERE name = 'Ben'").data["share"].item() == 0.5


def test_rows_in_percent_leave_columns_numbers(opened: Any) -> None:
    rows = [["line", "apr", "may", "jun"], ["Sales", 10, 20, 30], ["Margin", "31.5 %", "30 %", "29.5%"]]
    warehouse = opened(*rows)
    assert warehouse.query("SELECT apr FROM book WHERE line = 'Margin'").data["apr"].item() == 31.5
    assert set(named(warehouse, "book").values()) == {"", "some rows are in percent"}


def test_percent_beside_numbers_in_one_row_stays_text(opened: Any) -> None:
    warehouse = opened(
        ["name", "a", "b", "c"], ["Ann", "80 %", 1, "50%"], ["Ben", 0.5, "100 %", 1], ["Cem", "1", "1", "20 %"]
    )
    assert all("several units" in comment for name, comment in named(warehouse, "book").items() if name != "name")


def test_the_forms_of_texts_are_told_and_no_text(opened: Any) -> None:
    paid = ["12.50", "(8.45)", "7,25", "£ 1,204.00", "secret", "15.75"]
    days = ["2024-01-31", "31/01/2024", "17/03/2024", "soon", "2024-05-01", "2024-06-01"]
    warehouse = opened(
        ["no", "paid", "day"], *([number, *each] for number, each in enumerate(zip(paid, days, strict=True)))
    )
    comments = named(warehouse, "book")
    assert comments["paid"].endswith("written as 9.9, (9.9), 9,9, £ 9,9.9")
    assert comments["day"].endswith("written as 9999-99-99, 99/99/9999; days come before months")


def test_a_hidden_sheet_is_left_out_and_said(opened: Any, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    opened(["no", "name"], [1, "a"], [2, "b"])
    book = openpyxl.load_workbook(tmp_path / "book.xlsx")
    hidden = book.create_sheet("Plan v1")
    hidden.append(["no", "name"])
    hidden.append([9, "z"])
    hidden.sheet_state = "hidden"
    book.save(tmp_path / "second.xlsx")
    with open_files(tmp_path / "second.xlsx") as warehouse:
        assert [each.name for each in warehouse.tables] == ["second"]
        assert warehouse.read_notes["second"] == ["hidden sheets of the file were left out: Plan v1"]


def test_a_long_sheet_is_read_in_time_that_grows_with_it() -> None:
    rows = [["x", "1", ""] for _ in range(100_000)] + [[""] * 3 for _ in range(100_000)]
    started = time.process_time()
    assert len(_without_margin(rows)) == 100_000
    assert time.process_time() - started < 10
