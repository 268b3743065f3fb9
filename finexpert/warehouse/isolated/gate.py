"""The gate in the parent: the rows that a process of SELECTs sent, trusted in nothing.

An Arrow stream of a few bytes can claim two thousand million rows, or unpack to a thousandfold: what its messages say is read before
any of it is decoded, types are checked against an allow-list, and every offset is validated.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import pyarrow as pa
import pyarrow.ipc

from finexpert.errors import QueryError
from finexpert.isolation.arrow import BROKEN, GateError, is_plain, scan
from finexpert.warehouse.column_kinds import check_types
from finexpert.warehouse.isolated.answer import Rows


def open_rows(header: dict[str, Any], body: bytes | bytearray, row_cap: int) -> Rows:
    """The rows of an answer: at most `row_cap`, in columns of plain types.

    Raises GateError for what no SELECT gives.
    """
    names, kinds = header.get("names"), header.get("kinds")
    if not (_is_texts(names) and _is_texts(kinds)) or len(names) != len(kinds):
        raise GateError("an answer without names and kinds")
    check_types(names, kinds)
    try:
        stream = pa.py_buffer(body)
        scan(stream, row_cap)
        reader = pa.ipc.open_stream(stream)
        if len(reader.schema) != len(names) or not all(_is_plain(field) for field in reader.schema):
            raise GateError("columns of other types, or too many")
        batches = list(reader)
        for batch in batches:
            _validate(batch, names)
    except BROKEN as error:
        raise GateError(f"rows that cannot be read ({type(error).__name__})") from None
    return Rows(names, kinds, reader.schema, batches, header.get("truncated") is True)


def _validate(batch: pa.RecordBatch, names: list[str]) -> None:
    """Raises QueryError for an integer or a time that DuckDB has and Arrow has not, ArrowInvalid for what nothing gives."""
    for name, column in zip(names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            if pa.types.is_decimal(column.type) or pa.types.is_time(column.type):
                said = f'column "{name}" holds a number of more than 38 digits, or the time 24:00: write CAST(... AS VARCHAR)'
                raise QueryError(said) from None
            raise
    batch.validate(full=True)


def _is_texts(found: Any) -> TypeGuard[list[str]]:
    return isinstance(found, list) and all(isinstance(one, str) for one in found)


def _is_plain(field: pa.Field) -> bool:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return is_plain(kind) or pa.types.is_null(kind) or pa.types.is_string_view(kind)
