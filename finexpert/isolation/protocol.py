"""Frames between the parent and a worker: a JSON header and raw blobs, every length before its bytes.

    >>> frame = pack({"status": "done"}, [b"abc"])
    >>> reader = FrameReader(header_bytes=1000, blob_bytes=1000, blobs=4)
    >>> reader.feed(frame[:9]), reader.feed(frame[9:])
    (None, Frame(header={'status': 'done'}, blobs=[b'abc']))

A frame is `FXS1`, the header's length (u32, little endian), the header, and the blobs whose lengths the header gives
under `blobs`. Caps are checked before anything is kept. What a frame means is not decided here.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

MAGIC = b"FXS1"
_PREFIX = struct.Struct("<4sI")
_CHUNK = 1 << 20


class ProtocolError(Exception):
    """The bytes received are not a frame, or pass a cap."""


class Frame(NamedTuple):
    """One frame: its header without the lengths, and its blobs."""

    header: dict[str, Any]
    blobs: list[bytes]


def pack(header: dict[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """The bytes of a frame; the header must be plain JSON."""
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}, allow_nan=False).encode()
    return b"".join([_PREFIX.pack(MAGIC, len(text)), text, *blobs])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ProtocolError("a key stands twice in a frame's header")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ProtocolError(f"a frame's header holds {name}")


def _parse_header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a frame's header is not JSON ({type(error).__name__})") from None
    if not isinstance(header, dict):
        raise ProtocolError("a frame's header is not a JSON object")
    return header


class FrameReader:
    """Collects bytes into frames; never keeps more than the caps allow."""

    def __init__(self, *, header_bytes: int, blob_bytes: int, blobs: int) -> None:
        self._caps = header_bytes, blob_bytes, blobs
        self._bytes = bytearray()
        self._header: dict[str, Any] | None = None
        self._lengths: list[int] = []

    @property
    def pending(self) -> int:
        """How many bytes stand after the last complete frame."""
        return len(self._bytes)

    def feed(self, data: bytes) -> Frame | None:
        """Take bytes; the next frame once it is complete."""
        self._bytes += data
        if self._header is None and not self._take_header():
            return None
        if len(self._bytes) < sum(self._lengths):
            return None
        blobs = []
        for length in self._lengths:
            blobs.append(bytes(memoryview(self._bytes)[:length]))
            del self._bytes[:length]
        header, self._header = self._header or {}, None
        return Frame(header, blobs)

    def _take_header(self) -> bool:
        if len(self._bytes) < _PREFIX.size:
            return False
        magic, length = _PREFIX.unpack_from(self._bytes)
        if magic != MAGIC:
            raise ProtocolError("the bytes received do not begin a frame")
        if length > self._caps[0]:
            raise ProtocolError(f"a frame's header of {length} bytes, above {self._caps[0]}")
        if len(self._bytes) < _PREFIX.size + length:
            return False
        header = _parse_header(bytes(self._bytes[_PREFIX.size : _PREFIX.size + length]))
        self._lengths = self._checked_lengths(header.pop("blobs", None))
        self._header = header
        del self._bytes[: _PREFIX.size + length]
        return True

    def _checked_lengths(self, lengths: Any) -> list[int]:
        if not isinstance(lengths, list) or not all(type(length) is int and length >= 0 for length in lengths):
            raise ProtocolError("a frame's header gives no lengths")
        if len(lengths) > self._caps[2] or sum(lengths) > self._caps[1]:
            raise ProtocolError(f"a frame of {len(lengths)} blobs and {sum(lengths)} bytes, above {self._caps[1:]}")
        return lengths


def write(fd: int, frame: bytes) -> None:
    """Write all of a frame to a blocking descriptor."""
    view = memoryview(frame)
    while view:
        view = view[os.write(fd, view[:_CHUNK]) :]


def _read_exactly(fd: int, length: int) -> bytearray:
    data = bytearray(length)
    view = memoryview(data)
    while view:
        count = os.readv(fd, [view[:_CHUNK]])
        if not count:
            raise EOFError
        view = view[count:]
    return data


def read(fd: int) -> tuple[dict[str, Any], list[bytearray]]:
    """Read one frame from a blocking descriptor; for the worker, which trusts its parent.

    Raises EOFError if the other side is gone.
    """
    _, length = _PREFIX.unpack(_read_exactly(fd, _PREFIX.size))
    header = json.loads(_read_exactly(fd, length))
    return header, [_read_exactly(fd, size) for size in header.pop("blobs")]
