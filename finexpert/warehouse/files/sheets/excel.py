"""The sheets of an Excel or OpenDocument file as rows of texts, so that they are read as a CSV file is.

    [("Trades", [["day", "price"], ["2024-01-02", "1.5"]])]

A date is written as 2024-01-02, a whole number without a point. A formula is what it gave when the file was last saved.
"""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from finexpert.errors import ConfigurationError, DataError
from finexpert.warehouse.files.found import name_of
from finexpert.warehouse.files.number_forms import NUMBER_CELL
from finexpert.warehouse.files.sheets.parts import parts
from finexpert.warehouse.files.sheets.side_by_side import blocks

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
# A cell with a formula and no value; one whose formula gave an empty text says that it is a text.
# Nothing in it runs beyond the next tag, or back over blanks: a file may be made so that a search takes an hour.
_UNSAVED = re.compile(
    rb'<c r="(\w+)"(?![^<>]* t="str")[^<>]*>\s*+<f(?:[^<>]*/>|[^<>]*>[^<]*</f>)\s*+(?:<v\s*+/>\s*+|<v></v>\s*+)?</c>'
)


class _Overlap(Exception):
    """A cell is in two merged ranges. Never leaves this file."""


def check_installed() -> None:
    """ConfigurationError where no reader of Excel files is installed."""
    try:
        import python_calamine  # noqa: F401
    except ImportError as error:
        raise ConfigurationError("Excel files need a package: `pip install 'finexpert[excel]'`") from error


class Sheets(NamedTuple):
    """The tables of the visible sheets, each with its title and rows, and the names of the sheets that are hidden."""

    tables: list[tuple[str, list[list[str]]]]
    hidden: list[str]


def sheets(path: Path) -> Sheets:
    """What a workbook shows that holds anything; each table of a sheet that holds several, with its title."""
    from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            shown = [each.name for each in book.sheets_metadata if each.visible == SheetVisibleEnum.Visible]
            hidden = [each.name for each in book.sheets_metadata if each.name not in shown]
            read = [(name, _cells(book.get_sheet_by_name(name))) for name in shown]
    except CalamineError as error:
        raise DataError(f"{path} cannot be read: {error}. Save it again as .xlsx without a password") from None
    except _Overlap:
        raise DataError(
            f"{path}: merged cells overlap. Open the file in a spreadsheet program, and save it there"
        ) from None
    check_formulas(path)
    rows = [(name, [[text_of(cell) for cell in row] for row in found]) for name, found in read]
    held = [(name, _without_margin(found)) for name, found in rows if any(any(row) for row in found)]
    beside = [(f"{name} {title}".strip(), block) for name, found in held for title, block in blocks(found)]
    tables = [(f"{name} {title}".strip(), part) for name, found in beside for title, part in parts(found)]
    return Sheets(tables, hidden)


def text_of(cell: Any) -> str:
    """A cell as text.

    >>> text_of(5.0), unmarked(text_of(0.1)), text_of(dt.date(2024, 1, 2)), text_of(True)
    ('5', '0.1', '2024-01-02', 'true')
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else NUMBER_CELL + repr(cell)
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat() if cell.time() == dt.time() else cell.isoformat(sep=" ", timespec="seconds")
    return "" if cell is None else str(cell)


def unmarked(text: str) -> str:
    """A text without the mark of a number."""
    return text.removeprefix(NUMBER_CELL)


def _cells(sheet: Any) -> list[list[Any]]:
    """The cells of a sheet; a text or a day that is merged over several rows stands in each of them.

    A merged number stays where it is: repeated it would be summed several times.
    """
    cells: list[list[Any]] = sheet.to_python(skip_empty_area=False)
    most = sum(map(len, cells))
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        held = cells[top][left] if top < len(cells) and left < len(cells[top]) else None
        if isinstance(held, str | dt.date):
            filled = cells[top + 1 : bottom + 1]
            # Merged ranges never overlap: together they have no more cells than the sheet.
            most -= len(filled)
            if most < 0:
                raise _Overlap
            for row in filled:
                row[left] = held
    return cells


def check_formulas(path: Path) -> None:
    """DataError names a formula whose value was never computed: its cell would be read as empty."""
    if path.suffix.lower() not in (".xlsx", ".xlsm"):
        return
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and (found := _UNSAVED.search(archive.read(name))):
                raise DataError(
                    f"{path}: the cell {found[1].decode()} holds a formula without a value. Open the file in a spreadsheet program, and"
                    " save it there"
                )


def table_name(file: str, sheet: str) -> str:
    """What the table of one sheet of several is called.

    >>> table_name("book", "Q1 2024")
    'book_Q1_2024'
    """
    return name_of(f"{file} {sheet}")


def _without_margin(rows: list[list[str]]) -> list[list[str]]:
    """Without the empty columns to the left and right of what is written, and the empty rows below."""
    last = max(number for number, row in enumerate(rows) if any(row))
    used = {place for row in rows for place, text in enumerate(row) if text}
    left, right = min(used), max(used) + 1
    return [row[left:right] for row in rows[: last + 1]]
