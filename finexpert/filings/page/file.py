"""Files of pages: records in the official ConvFinQA / FinQA form, one or many to a file.

    {"id": "Single_AAA/2007/page_1.pdf-1", "filename": "AAA/2007/page_1.pdf", "pre_text": ["..."],
     "table": [["", "2007"], ["net sales", "$ 5"]], "post_text": ["..."]}

A file is a JSON object, a JSON list of them, or one object a line. Questions in the records are not read here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz, process

from finexpert.errors import DataError
from finexpert.filings.page.folding import excerpt
from finexpert.storage import foreign_files

LARGEST_FILE = 512 << 20
LARGEST_TEXT = 2_000_000
MOST_CELLS = 100_000
LONGEST_CELL = 20_000


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records of a file, none of them checked yet but for being objects."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DataError(f"{path} is larger than {LARGEST_FILE >> 20} MB; give a file with fewer pages")
        text = foreign_files.read_text(path, "utf-8-sig")
    except OSError as error:
        raise DataError(
            f"cannot read the filing {path}: {error.strerror}; give a JSON file with --filing FILE"
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    content = _parse(text, path)
    records = content if isinstance(content, list) else [content]
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise DataError(f"{path}: record {number} is a {type(record).__name__}, not an object with a table")
    return records


def choose_record(records: Sequence[Mapping[str, Any]], wanted: str | None, path: Path) -> Mapping[str, Any]:
    """The record with an id or file name; the only one where nothing is wanted."""
    if not records:
        raise DataError(f"{path} holds no record")
    names = [record_name(record) for record in records]
    if wanted is None:
        if len(records) == 1:
            return records[0]
        raise DataError(f"{path} holds {len(records):,} pages; choose one with --id, such as {', '.join(names[:3])}")
    for record, name in zip(records, names, strict=True):
        if wanted in (name, record.get("filename")):
            return record
    near = [name for name, *_ in process.extract(wanted, names, scorer=fuzz.WRatio, limit=5)]
    raise DataError(f"{path} has no page {excerpt(wanted)!r}; the nearest ids are {', '.join(near)}")


def record_name(record: Mapping[str, Any]) -> str:
    return str(record.get("id") or record.get("filename") or "page")


def checked_texts(value: Any, field: str, name: str) -> tuple[str, ...]:
    """The sentences of a page; DataError where they are none or too many."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence) or any(not isinstance(text, str) for text in value):
        raise DataError(f"{name}: {field} must be a list of texts, not {type(value).__name__}")
    if (size := sum(map(len, value))) > LARGEST_TEXT:
        raise DataError(f"{name}: {field} has {size:,} characters, more than the {LARGEST_TEXT:,} of a page")
    return tuple(value)


def checked_table(value: Any, name: str) -> tuple[tuple[str, ...], ...]:
    """The cells of a table as texts: missing ones are empty, numbers are printed; DataError where that fails."""
    if value is None:
        return ()
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise DataError(f"{name}: the table must be a list of rows, not {type(value).__name__}")
    for number, row in enumerate(value):
        if isinstance(row, str | Mapping) or not isinstance(row, Sequence):
            raise DataError(f"{name}: row {number} of the table must be a list of cells, not {type(row).__name__}")
    if (cells := sum(map(len, value))) > MOST_CELLS:
        raise DataError(f"{name}: the table has {cells:,} cells, more than the {MOST_CELLS:,} that a page may have")
    return tuple(
        tuple(_cell(cell, f"{name}: r{i} / c{j}") for j, cell in enumerate(row)) for i, row in enumerate(value)
    )


def _cell(value: Any, place: str) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise DataError(f"{place} holds a {type(value).__name__}, not text")
    try:
        text = str(value)
    except ValueError as error:
        raise DataError(f"{place} holds an integer too long to print") from error
    if len(text) > LONGEST_CELL:
        raise DataError(f"{place} holds {len(text):,} characters, more than the {LONGEST_CELL:,} of a cell")
    return text


def _parse(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as whole:
        # Not splitlines(): JSON may hold line separators of Unicode inside a text.
        lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) < 2 or not lines[0][1].lstrip().startswith("{") or whole.lineno == lines[0][0]:
            raise DataError(f"{path} is not JSON: {whole.msg} in line {whole.lineno}, column {whole.colno}") from whole
        return [_parse_line(line, number, path) for number, line in lines]
    except (RecursionError, ValueError) as error:
        raise DataError(f"{path} is not JSON of a page: {error}") from error


def _parse_line(line: str, number: int, path: Path) -> Any:
    try:
        return json.loads(line)
    except (RecursionError, ValueError) as error:
        raise DataError(f"{path}, line {number} is not a JSON object: {error}") from error
