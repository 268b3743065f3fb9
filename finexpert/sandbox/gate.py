"""The gate in the parent: what a worker sent is untrusted, whatever it claims to be.

    >>> image_size(b"GIF89a", 4096)
    Traceback (most recent call last):
        ...
    finexpert.isolation.arrow.GateError: a figure that is not a PNG

A table's metadata are read before any of it is decoded: 224 bytes of Arrow can claim two thousand million rows. Then
types are checked against an allow-list, metadata are dropped, and every offset is validated. Images are not decoded.
Pickle, HTML and SVG have no way in.
"""

from __future__ import annotations

import struct

import pandas as pd
import pyarrow as pa
import pyarrow.ipc

from finexpert.isolation.arrow import BROKEN, GateError, is_plain, scan
from finexpert.isolation.limits import Limits
from finexpert.sandbox.tables import longest_text

_MOST_BATCHES = 64
_PNG = b"\x89PNG\r\n\x1a\n"


def _check_schema(schema: pa.Schema, limits: Limits) -> None:
    if len(schema) > limits.columns or len(set(schema.names)) != len(schema):
        raise GateError("a table of too many columns, or of two with one name")
    for field in schema:
        if not is_plain(field.type) or (field.metadata and any(b"extension" in key for key in field.metadata)):
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
        buffer = pa.py_buffer(stream)
        scan(buffer, limits.rows, _MOST_BATCHES)
        reader = pa.ipc.open_stream(buffer)
        _check_schema(reader.schema, limits)
        read = reader.read_all()
        if read.num_rows * read.num_columns > limits.cells:
            raise GateError("a table of too many cells")
        plain = pa.schema([pa.field(field.name, field.type) for field in read.schema])
        read = pa.Table.from_arrays([column.combine_chunks() for column in read.columns], schema=plain)
        read.validate(full=True)
        _check_texts(read, limits)
        frame: pd.DataFrame = read.to_pandas(use_threads=False)
    except BROKEN as error:
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
