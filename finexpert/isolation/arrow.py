"""An Arrow stream that a locked process sent: its claims are read from its metadata before any of it is decoded.

A stream of a few bytes can claim two thousand million rows, or unpack to a thousandfold. Metadata are a flatbuffer, and are
not trusted either: struct.error and IndexError are among BROKEN, what a caller makes a GateError of.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import pyarrow as pa
import pyarrow.ipc

DICTIONARY, RECORDS = 2, 3
BROKEN = (pa.ArrowException, ValueError, OSError, TypeError, struct.error, IndexError, OverflowError)


class GateError(Exception):
    """What was sent is not what it claims to be, or not what may come out; the message holds no value."""


def scan(stream: pa.Buffer, most_rows: int, most_batches: int | None = None) -> None:
    """Refuse a stream by its metadata alone: too many rows or batches, or a compressed body. Raises GateError."""
    total = 0
    for number, message in enumerate(pa.ipc.MessageReader.open_stream(stream)):
        if most_batches is not None and number > most_batches:
            raise GateError("a table of too many batches")
        kind, rows, packed = claims(bytes(message.metadata))
        total += rows if kind == RECORDS else 0
        if rows < 0 or total > most_rows or rows > len(message.body or b"") + most_rows:
            raise GateError("a table of too many rows")
        if packed:
            raise GateError("a table with a compressed body")


def is_plain(kind: pa.DataType) -> bool:
    """Whether a column holds numbers, truths, texts or times, and nothing that brings code or a form of its own."""
    tests = (
        *(pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_string),
        *(pa.types.is_large_string, pa.types.is_temporal),
    )
    return not isinstance(kind, pa.BaseExtensionType) and any(test(kind) for test in tests)


class Claims(NamedTuple):
    """The kind of a message, its number of rows, and whether its body is compressed."""

    kind: int
    rows: int
    compressed: bool


def claims(metadata: bytes) -> Claims:
    """What a message claims; no rows for one that holds none."""
    message = _followed(metadata, 0)
    place = _field(metadata, message, 1)
    kind = metadata[place] if place else 0
    if kind not in (DICTIONARY, RECORDS):
        return Claims(kind, 0, False)
    records = _followed(metadata, _field(metadata, message, 2))
    if kind == DICTIONARY:
        records = _followed(metadata, _field(metadata, records, 1))
    rows = _field(metadata, records, 0)
    count = int(struct.unpack_from("<q", metadata, rows)[0]) if rows else 0
    return Claims(kind, count, bool(_field(metadata, records, 3)))


def _field(buffer: bytes, table: int, number: int) -> int:
    """The place of a field of a flatbuffer's table; 0 if it is not there."""
    index = table - int(struct.unpack_from("<i", buffer, table)[0])
    offset = 4 + 2 * number
    if index < 0 or offset >= int(struct.unpack_from("<H", buffer, index)[0]):
        return 0
    value = int(struct.unpack_from("<H", buffer, index + offset)[0])
    return table + value if value else 0


def _followed(buffer: bytes, place: int) -> int:
    return place + int(struct.unpack_from("<I", buffer, place)[0])
