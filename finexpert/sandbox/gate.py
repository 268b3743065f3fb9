"""The gate in the parent: what a worker sent is untrusted, whatever it claims to be.

    >>> image_size(b"GIF89a", 4096)
    Traceback (most recent call last):
        ...
    finexpert.sandbox.gate.GateError: a figure that is not a PNG

A table's metadata are read before any of it is decoded: 224 bytes of Arrow can claim two thousand million rows. Then
types are checked against an allow-list, metadata are dropped, and every offset is validated. Images are not decoded.
Pickle, HTML and SVG have no way in.
"""

from __future__ import annotations

import struct

import pandas as pd
import pyarrow as pa
import pyarrow.ipc

from finexpert.sandbox.arrow_claims import claims
from finexpert.sandbox.limits import Limits
from finexpert.sandbox.tables import longest_text

_MOST_BATCHES = 64
_PNG = b"\x89PNG\r\n\x1a\n"


class GateError(Exception):
    """A result is not what it claims to be; the message holds no value."""


def _scan(stream: bytes, limits: Limits) -> None:
    """Refuse a stream by its metadata alone: too many rows or batches, or a compressed body."""
    reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(stream))
    total = 0
    for number, message in enumerate(reader):
        if number > _MOST_BATCHES:
            raise GateError("a table of too many batches")
        _, rows, compressed = claims(bytes(message.metadata))
        total += rows
        if rows < 0 or total > limits.rows:
            raise GateError("a table of too many rows")
        if compressed:
            raise GateError("a table with a compressed body")


def _plain(kind: pa.DataType) -> bool:
    tests = (
        *(pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string),
        *(pa.types.is_large_string, pa.types.is_temporal, pa.types.is_decimal),
    )
    return not isinstance(kind, pa.BaseExtensionType) and any(test(kind) for test in tests)


def _check_schema(schema: pa.Schema, limits: Limits) -> None:
    if len(schema) > limits.columns or len(set(schema.names)) != len(schema):
        raise GateError("a table of too many columns, or of two with one name")
    for field in schema:
        if not _plain(field.type) or (field.metadata and any(b"extension" in key for key in field.metadata)):
            raise GateError("a table with a column of a type that is not returned")
        if len(field.name) > 1000:
            raise GateError("a table with an endless name")


def _check_texts(table: pa.Table, limits: Limits) -> None:
    if any(longest_text(column) > limits.text_bytes for column in table.columns):
        raise GateError("a table with an endless text")


def table(stream: bytes, limits: Limits) -> pd.DataFrame:
    """The table of an untrusted Arrow stream.

    Raises GateError for a stream that is broken, larger than the limits, or of other than plain columns.
    """
    if len(stream) > limits.result_bytes:
        raise GateError("a table of too many bytes")
    try:
        _scan(stream, limits)
        reader = pa.ipc.open_stream(pa.py_buffer(stream))
        _check_schema(reader.schema, limits)
        read = reader.read_all()
        if read.num_rows * read.num_columns > limits.cells:
            raise GateError("a table of too many cells")
        plain = pa.schema([pa.field(field.name, field.type) for field in read.schema])
        read = pa.Table.from_arrays([column.combine_chunks() for column in read.columns], schema=plain)
        read.validate(full=True)
        _check_texts(read, limits)
        frame: pd.DataFrame = read.to_pandas(use_threads=False)
    except (pa.ArrowException, ValueError, OSError, TypeError, struct.error, IndexError, OverflowError) as error:
        raise GateError(f"a table that cannot be read ({type(error).__name__})") from None
    return frame


def image_size(image: bytes, most: int) -> tuple[int, int]:
    """Width and height of a PNG, read from its first bytes.

    Raises GateError if it is none, or a side is longer than `most`.
    """
    if image[:8] != _PNG or image[12:16] != b"IHDR" or len(image) < 33:
        raise GateError("a figure that is not a PNG")
    width, height = struct.unpack(">II", image[16:24])
    if not (0 < width <= most and 0 < height <= most):
        raise GateError("a figure that is too large")
    return width, height
