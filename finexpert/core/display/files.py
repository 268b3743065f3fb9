"""A table as a CSV or an Excel file: every row, every digit, and no cell that a spreadsheet would run as a formula.

    write_excel(frame, "fees.xlsx")
    excel_bytes(frame)                  # the same, for a download

In a CSV file a text such as `=cmd|...` is as the data have it, unless `safe` puts an apostrophe before it: spreadsheets run what
begins with `=`, `+`, `-` or `@`. In an Excel file a text is always a text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from finexpert.errors import ConfigurationError, DataError
from finexpert.storage.private_files import write_whole
from finexpert.text.spreadsheets import harmless

_MOST_ROWS = 1_048_575
_PICTURE_ROWS = 20
LONGEST_CELL = 32_767
_CUT = " ... (cut: a cell of Excel holds no more)"


def csv_text(data: pd.DataFrame, *, safe: bool = False) -> str:
    """The table as CSV with a heading; with `safe` no text begins as a formula does, but for numbers.

    >>> csv_text(pd.DataFrame({"a": ["=1+1", "-2.5 percent"], "b": [0.1, -1]}), safe=True)
    "a,b\\n'=1+1,0.1\\n-2.5 percent,-1.0\\n"
    """
    if safe:
        names = [harmless(str(name)) for name in data.columns]
        data = (
            pd.concat([_harmless_texts(data.iloc[:, place]) for place in range(len(names))], axis=1, keys=names)
            if names
            else data
        )
    text = data.to_csv(index=False, lineterminator="\n")
    # A line ends there for whoever reads the file, but for older Pythons that write it.
    return data.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC) if "\r" in text else text


def excel_bytes(data: pd.DataFrame) -> bytes:
    """The table as an .xlsx file. Raises DataError for more rows than a sheet holds, ConfigurationError without the extra `excel`."""
    return workbook_bytes({"answer": data})


def workbook_bytes(sheets: Mapping[str, pd.DataFrame], pictures: Mapping[str, Sequence[bytes]] | None = None) -> bytes:
    """Tables as the sheets of an .xlsx file, with PNG pictures beside those of their names. Raises as `excel_bytes`."""
    for data in sheets.values():
        if len(data) > _MOST_ROWS:
            raise DataError(
                f"the table has {len(data):,} rows, and a sheet of Excel holds {_MOST_ROWS:,}: write CSV instead"
            )
    out = io.BytesIO()
    options = {
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "nan_inf_to_errors": True,
    }
    try:
        with pd.ExcelWriter(out, engine="xlsxwriter", engine_kwargs={"options": options}) as writer:
            for name, data in sheets.items():
                data.map(_for_a_sheet).to_excel(writer, index=False, sheet_name=name)
                for number, png in enumerate((pictures or {}).get(name, ())):
                    place = (1 + number * _PICTURE_ROWS, len(data.columns) + 1)
                    scaled = {"image_data": io.BytesIO(png), "x_scale": 0.5, "y_scale": 0.5}
                    writer.sheets[name].insert_image(*place, "chart.png", scaled)
    except ModuleNotFoundError as error:
        raise ConfigurationError("Excel files need XlsxWriter: pip install 'finexpert[excel]'") from error
    return out.getvalue()


def write_csv(data: pd.DataFrame, path: Path) -> None:
    """Write the table as CSV, whole or not at all."""
    write_whole(path, csv_text(data))


def write_excel(data: pd.DataFrame, path: Path) -> None:
    """Write the table as an .xlsx file, whole or not at all."""
    write_whole(path, excel_bytes(data))


def _harmless_texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """The texts of a column, harmless; what is no text keeps its digits, as whole numbers beside missing values do."""
    if column.dtype.kind in "biufmM":
        return column
    return pd.Series([_harmless(value) for value in column], index=column.index, dtype=object)


def _harmless(value: Any) -> Any:
    return harmless(value) if isinstance(value, str) else value


def _for_a_sheet(value: Any) -> Any:
    """A value that a sheet can hold: a time with a zone and a list are texts there, a long whole number too."""
    if isinstance(value, list | dict | tuple) or getattr(value, "tzinfo", None) is not None:
        return str(value)
    if isinstance(value, str) and len(value) > LONGEST_CELL:
        return f"{value[: LONGEST_CELL - len(_CUT)]}{_CUT}"  # a longer one would be left out without a word
    # Excel keeps 15 digits of a number.
    return str(value) if isinstance(value, int) and abs(value) >= 10**15 else value
