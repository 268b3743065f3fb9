"""Cells of workbooks beside texts, merged cells and formulas; and Parquet files that are parts of one table."""

from __future__ import annotations

import datetime as dt
import time
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from finexpert.errors import DataError
from finexpert.settings import Settings
from finexpert.warehouse.files import process
from finexpert.warehouse.files.found import Source
from finexpert.warehouse.files.process import _seconds_of
from finexpert.warehouse.files.sheets.excel import check_formulas, sheets
from finexpert.warehouse.opening import open_data

ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
    '<office:body><office:spreadsheet><table:table table:name="a"><table:table-row table:number-rows-repeated="1000000000">'
    '<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row></table:table>'
    "</office:spreadsheet></office:body></office:document-content>"
)


@pytest.fixture
def book(tmp_path: Path, read_file: Any) -> Callable[..., Any]:
    """The table of a workbook with these rows, after its merged cells were made."""
    openpyxl = pytest.importorskip("openpyxl")

    def read(*rows: list[Any], merged: str | None = None) -> Any:
        made = openpyxl.Workbook()
        for row in rows:
            made.active.append(row)
        if merged:
            made.active.merge_cells(merged)
        made.save(tmp_path / "t.xlsx")
        return read_file("t.xlsx")

    return read


def test_a_number_of_a_cell_is_that_number_beside_texts_with_decimal_commas(book: Any) -> None:
    assert book(["a", "v"], ["x", 1.234], ["y", "5,50"], ["z", 1e-9]).column("v") == [1.234, 5.5, 1e-9]
    assert book(["a", "v", "w"], ["x", 1.234, "5,50"], ["y", 2.345, "6,50"]).column("v") == [1.234, 2.345]
    assert book(["a", "v"], ["x", 1.234], ["y", "pending"], ["z", "n/a"]).column("v") == ["1.234", "pending", "n/a"]


def test_a_text_with_a_dot_beside_decimal_commas_is_a_thousand_only_where_another_shows_it(book: Any) -> None:
    unclear = book(["a", "v"], ["x", "1.234"], ["y", "5,50"], ["z", 2.5])
    assert unclear.column("v") == ["1.234", "5,50", "2.5"]
    assert "a dot that may begin decimals" in unclear.comments["v"]
    assert book(["a", "v"], ["x", "1.234"], ["y", "5,50"], ["z", "1.234,50"]).column("v") == [1234.0, 5.5, 1234.5]


def test_texts_of_cells_that_may_be_thousands_are_texts(book: Any) -> None:
    for values in (["1,234", "5,678"], ["1.234", "5.678"]):
        assert book(["a", "v"], *(["x", value] for value in values)).column("v") == values
    assert book(["a", "v"], ["x", "(1,204)"], ["y", "1,234.50"]).column("v") == [-1204.0, 1234.5]


def test_whole_numbers_of_cells_are_exact_up_to_what_a_cell_holds(book: Any) -> None:
    assert book(["a", "v"], ["x", 1234567890123456], ["y", 2]).column("v") == [1234567890123456, 2]


def test_a_label_that_is_merged_over_rows_stands_in_each_and_a_number_once(book: Any) -> None:
    table = book(["desk", "v"], ["A", 1], [None, 2], ["B", 3], merged="A2:A3")
    assert table.rows == [("A", 1), ("A", 2), ("B", 3)]
    assert book(["desk", "v"], ["A", 5], ["B", None], ["C", 3], merged="B2:B3").column("v") == [5, None, 3]
    assert list(book(["firm", "Revenue", None], [None, 2023, 2024], ["A", 1, 5], ["B", 2, 6], merged="B1:C1").types) == [
        "firm", "Revenue 2023", "Revenue 2024"]  # fmt: skip


def test_a_formula_without_a_value_is_refused(book: Any) -> None:
    with pytest.raises(DataError, match=r"t\.xlsx: the cell B3 holds a formula without a value\. Open the file"):
        book(["a", "v"], ["x", 1], ["y", "=B2+1"])


def test_days_of_the_system_of_1904(tmp_path: Path, read_file: Any) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    made.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for row in (["day", "n"], [dt.date(2024, 1, 2), 1], [dt.date(2024, 1, 3), 2]):
        made.active.append(row)
    made.save(tmp_path / "t.xlsx")
    assert read_file("t.xlsx").column("day") == [dt.date(2024, 1, 2), dt.date(2024, 1, 3)]


@pytest.fixture
def parts(tmp_path: Path, read_file: Any) -> Callable[..., Any]:
    """The table of Parquet files of one folder."""

    def read(*tables: dict[str, Any]) -> Any:
        for number, table in enumerate(tables):
            pyarrow.parquet.write_table(pa.table(table), tmp_path / f"part-{number}.parquet")
        return read_file()

    return read


@pytest.mark.parametrize(
    ("later", "kind", "found"),
    [
        (pa.array([2.7]), "DOUBLE", 2.7),
        (pa.array([Decimal("2.75")]), "DECIMAL(21,2)", Decimal("2.75")),
        (pa.array([1 << 40]), "BIGINT", 1 << 40),
        (pa.nulls(1), "BIGINT", None),
    ],
    ids=["double", "decimal", "integer", "null"],
)
def test_a_later_part_keeps_its_numbers(parts: Any, later: Any, kind: str, found: Any) -> None:
    table = parts({"n": pa.array([1])}, {"n": later})
    assert (table.types["n"], table.column("n")) == (kind, [1, found])


def test_parts_with_other_types_are_refused_and_other_columns_are_said(parts: Any) -> None:
    with pytest.raises(DataError, match=r'part-1\.parquet: the column "n" is VARCHAR, and BIGINT in part-0\.parquet'):
        parts({"n": [1]}, {"n": ["2,7"]})
    table = parts({"n": [1]}, {"n": [2], "fee": [0.5]})
    assert table.column("fee") == [None, 0.5]
    assert table.comments == {"fee": "not in 1 of 2 files, and missing in their rows"}


def test_times_with_a_zone_are_in_utc_and_say_so(tmp_path: Path, read_file: Any) -> None:
    times = pa.array([dt.datetime(2024, 1, 2, 23, 30)], pa.timestamp("us", tz="America/New_York"))
    pyarrow.parquet.write_table(pa.table({"at": times}), tmp_path / "t.parquet")
    assert read_file("t.parquet").comments == {"at": "in UTC"}


EVIL = {
    "cells that do not end": b'<c r="A" ' * 3_000_000,
    "formulas that do not end": b'<c r="A1"><f ' * 1_000_000,
    "formulas without an end": b'<c r="A1"><f>' * 1_000_000,
    "blanks behind a formula": b'<c r="A1"><f/>' + b" " * 3_000_000,
    "blanks around a value": (b'<c r="A1"><f/>' + b" " * 3_000 + b"<v/>" + b" " * 3_000 + b"<c>") * 500,
    "blanks before a formula": (b'<c r="A1">' + b" " * 30_000) * 100,
    "attributes": b'<c r="A1" ' + b' t="s"' * 500_000,
}


@pytest.mark.parametrize("name", EVIL)
def test_a_search_for_formulas_is_linear(book: Any, tmp_path: Path, name: str) -> None:
    book(["a", "b"], ["x", 1])
    (file,) = tmp_path.glob("*.xlsx")
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/evil.xml", EVIL[name])
    began = time.process_time()
    check_formulas(file)
    assert time.process_time() - began < 3


@pytest.mark.parametrize("cell", [
    '<c r="B2"><f>1+1</f></c>', '<c r="B2" s="3"><f>1+1</f><v></v></c>', '<c r="B2">\n <f ca="1">1+1</f>\n <v />\n</c>', '<c r="B2"><f si="0"/></c>',
])  # fmt: skip
def test_a_formula_without_a_value_is_found_however_it_is_written(tmp_path: Path, cell: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", f'<row><c r="A2"><v>1</v></c>{cell}<c r="C2"><v>1</v></c></row>')
    with pytest.raises(DataError, match="the cell B2 holds a formula without a value"):
        check_formulas(tmp_path / "a.xlsx")


def test_merged_cells_that_overlap_are_refused_at_once(tmp_path: Path) -> None:
    made = pytest.importorskip("openpyxl").Workbook()
    for row in [("day", "price"), *((f"x{i}", i) for i in range(2_000))]:
        made.active.append(row)
    made.save(tmp_path / "b.xlsx")
    merged = b"</sheetData><mergeCells>" + b'<mergeCell ref="A1:A1048576"/>' * 50_000 + b"</mergeCells>"
    with zipfile.ZipFile(tmp_path / "b.xlsx") as old, zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as new:  # fmt: skip
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"</sheetData>", merged))
    began = time.process_time()
    with pytest.raises(DataError, match="merged cells overlap"):
        sheets(tmp_path / "a.xlsx")
    assert time.process_time() - began < 10


def test_a_small_file_is_given_a_minute_and_a_large_one_more(tmp_path: Path) -> None:
    for name, size in (("small.csv", 10), ("large.csv", 20 << 20), ("huge.csv", 1 << 30)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    seconds = [_seconds_of([Source(tmp_path / name, "csv", "t")]) for name in ("small.csv", "large.csv", "huge.csv")]
    assert (round(seconds[0]), seconds[1], seconds[2]) == (60, 260, 900)


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An OpenDocument sheet that repeats a row a billion times."""
    monkeypatch.setattr(process, "_LEAST_SECONDS", 2.0)
    with zipfile.ZipFile(tmp_path / "a.ods", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>')  # fmt: skip
        archive.writestr("content.xml", ODS)
    began = time.monotonic()
    with pytest.raises(DataError, match=r"reading took longer than 2 seconds|more memory"):
        open_data(tmp_path / "a.ods", settings=Settings(home=tmp_path / "home"))
    assert time.monotonic() - began < 30
