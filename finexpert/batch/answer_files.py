"""The answers of a batch as a file, whole or not at all; its ending says the form.

    write(table, Path("answers.parquet"))      .csv, .xlsx and .jsonl too

Lists are lists in Parquet and JSON lines, and one text with semicolons in CSV and Excel. No cell of these two is run as a formula: in CSV an
apostrophe stands before a text that begins as one, in Excel a text is a text.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import math
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from finexpert.batch.answer_rows import COLUMNS
from finexpert.core.display.files import LONGEST_CELL, csv_text, excel_bytes
from finexpert.errors import ConfigurationError, DataError
from finexpert.storage.private_files import write_whole

_LISTS = {"flags", "citations", "figures"}
_NUMBERS = {"number": "float64", "cost_usd": "float64", "seconds": "float64"}
_WHOLE = {"calls": "int64", "tokens": "int64", "confidence": "int64"}


def check(path: Path) -> None:
    """Raise ConfigurationError for a place that cannot be written, before a question is paid for."""
    if path.suffix.lower() not in _FORMS:
        raise ConfigurationError(f"--out {path} ends in none of {', '.join(_FORMS)}: name it so")
    if path.is_dir() or not path.absolute().parent.is_dir():
        why = "is a folder" if path.is_dir() else "lies in a folder that is not there"
        raise ConfigurationError(f"--out {path} {why}: name a file in a folder that is there")
    if path.suffix.lower() == ".xlsx" and find_spec("xlsxwriter") is None:
        raise ConfigurationError("--out needs XlsxWriter for an Excel file: pip install 'finexpert[excel]'")


def write(table: pd.DataFrame, path: Path, prefix: str = "") -> None:
    """Write the table; DataError where the form cannot hold it."""
    write_whole(path, _FORMS[path.suffix.lower()](table, prefix))


def _parquet(table: pd.DataFrame, prefix: str) -> bytes:
    """With the same types for the columns of the answers whatever they hold, so that files of several runs fit together."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {prefix + name: _arrow_kind(name) for name in COLUMNS}
    arrays = {str(name): _array(table[name], kinds.get(str(name))) for name in table.columns}
    out = io.BytesIO()
    pq.write_table(pa.table(arrays), out)
    return out.getvalue()


def _arrow_kind(name: str) -> Any:
    import pyarrow as pa

    if name in _LISTS:
        return pa.list_(pa.string())
    if name == "date":
        return pa.date32()
    return pa.type_for_alias((_NUMBERS | _WHOLE).get(name, "string"))


def _array(column: pd.Series[Any], kind: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.array(column, type=kind, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        # A column that is carried along and holds values of several kinds.
        return pa.array([None if _is_missing(value) else _plain_text(value) for value in column], type=pa.string())


def _csv(table: pd.DataFrame, prefix: str) -> str:
    return csv_text(_flat(table, prefix), safe=True)


def _excel(table: pd.DataFrame, prefix: str) -> bytes:
    flat = _flat(table, prefix)
    for name in flat.columns:
        for number, value in enumerate(flat[name], start=1):
            if isinstance(value, str) and len(value) > LONGEST_CELL:
                raise DataError(
                    f"row {number} has {len(value):,} characters in {name}, and a cell of Excel holds {LONGEST_CELL:,}: the same "
                    "command with --out answers.parquet writes them, and asks nothing again"
                )
    return excel_bytes(flat)


def _json_lines(table: pd.DataFrame, prefix: str) -> str:
    rows = table.astype(object).to_dict("records")
    lines = [{str(name): _json_value(value) for name, value in row.items()} for row in rows]
    return "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines)


def _flat(table: pd.DataFrame, prefix: str) -> pd.DataFrame:
    ours = {prefix + name for name in _LISTS}
    flat = table.copy()
    for name in flat.columns:
        if name in ours:
            flat[name] = ["; ".join(items) for items in flat[name]]
        elif any(isinstance(value, list | dict) for value in flat[name]):
            flat[name] = [_plain_text(value) if isinstance(value, list | dict) else value for value in flat[name]]
    return flat


def _plain_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(_json_value(value), ensure_ascii=False)


def _json_value(value: Any) -> Any:
    """A value as JSON has it: nothing for what is missing, numbers and texts as they are, all else as text."""
    if isinstance(value, dict):
        return {str(name): _json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple) or hasattr(value, "tolist"):
        items = value.tolist() if hasattr(value, "tolist") else list(value)
        return [_json_value(each) for each in items] if isinstance(items, list) else _json_value(items)
    if _is_missing(value):
        return None
    if isinstance(value, dt.date):
        return value.isoformat()
    whole = isinstance(value, str | int | bool) or (isinstance(value, float) and math.isfinite(value))
    return value if whole else str(value)


def _is_missing(value: Any) -> bool:
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


_FORMS: dict[str, Callable[[pd.DataFrame, str], str | bytes]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".xlsx": _excel,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}
