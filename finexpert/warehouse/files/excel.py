"""The sheets of an Excel or OpenDocument file as rows of texts, so that they are read as a CSV file is.

    [("Trades", [["day", "price"], ["2024-01-02", "1.5"]])]

A date is written as 2024-01-02, a whole number without a point. A formula is what it gave when the file was last saved.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from finexpert.errors import ConfigurationError, DataError
from finexpert.warehouse.files.found import name_of

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def check_installed() -> None:
    """ConfigurationError where no reader of Excel files is installed."""
    try:
        import python_calamine  # noqa: F401
    except ImportError as error:
        raise ConfigurationError("Excel files need a package: `pip install 'finexpert[excel]'`") from error


def sheets(path: Path) -> list[tuple[str, list[list[str]]]]:
    """The visible sheets that hold anything, with their rows."""
    from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            shown = [each.name for each in book.sheets_metadata if each.visible == SheetVisibleEnum.Visible]
            read = [(name, book.get_sheet_by_name(name).to_python(skip_empty_area=False)) for name in shown]
    except CalamineError as error:
        raise DataError(f"{path} cannot be read: {error}. Save it again as .xlsx without a password") from None
    rows = [(name, [[text_of(cell) for cell in row] for row in found]) for name, found in read]
    return [(name, _without_margin(found)) for name, found in rows if any(any(row) for row in found)]


def text_of(cell: Any) -> str:
    """A cell as text.

    >>> text_of(5.0), text_of(0.1), text_of(dt.date(2024, 1, 2)), text_of(True)
    ('5', '0.1', '2024-01-02', 'true')
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 10**15 else repr(cell)
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat() if cell.time() == dt.time() else cell.isoformat(sep=" ", timespec="seconds")
    return "" if cell is None else str(cell)


def table_name(file: str, sheet: str) -> str:
    """What the table of one sheet of several is called.

    >>> table_name("book", "Q1 2024")
    'book_Q1_2024'
    """
    return name_of(f"{file} {sheet}")


def _without_margin(rows: list[list[str]]) -> list[list[str]]:
    """Without the empty columns to the left and right of what is written, and the empty rows below."""
    while not any(rows[-1]):
        rows = rows[:-1]
    used = [place for row in rows for place, text in enumerate(row) if text]
    return [row[min(used) : max(used) + 1] for row in rows]
