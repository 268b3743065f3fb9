"""What a message of an Arrow stream claims, read from its metadata before any of it is decoded.

A stream of a few bytes can claim two thousand million rows, or unpack to a thousandfold. Metadata are a flatbuffer, and are
not trusted either: struct.error and IndexError are raised for what does not hold together.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

DICTIONARY, RECORDS = 2, 3


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
