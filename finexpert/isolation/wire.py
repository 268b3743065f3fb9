"""Frames between a parent and a process that is shut in: a JSON header and raw blobs, every length before its bytes.

    >>> frame = pack({"status": "done"}, [b"abc"])
    >>> reader = FrameReader(header_bytes=1000, blob_bytes=1000, blobs=4)
    >>> reader.feed(frame[:9]), reader.feed(frame[9:])
    (None, Frame(header={'status': 'done'}, blobs=[b'abc']))

A frame is `FXS1`, the header's length (u32, little endian), the header, and the blobs whose lengths the header gives
under `blobs`. A parent trusts nothing: caps are checked before anything is kept. Scripts are heard through `FrameReader`, which
never waits, SELECTs and files through `receive`, which waits until a deadline. What a frame means is not decided here.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MAGIC = b"FXS1"
MAX_HEADER_BYTES = 4 << 20
_PREFIX = struct.Struct("<4sI")
_CHUNK = 1 << 20


class WireError(Exception):
    """The bytes received are not a frame, or pass a cap."""


class Frame(NamedTuple):
    """One frame: its header without the lengths, and its blobs."""

    header: dict[str, Any]
    blobs: list[bytes]


def pack(header: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """The bytes of a frame; the header must be plain JSON."""
    return b"".join([head(header, *map(len, blobs)), *blobs])


def head(header: Mapping[str, Any], *lengths: int) -> bytes:
    """A frame up to its blobs of these lengths, which the caller writes behind it."""
    text = json.dumps({**header, "blobs": lengths}, allow_nan=False).encode()
    return _PREFIX.pack(MAGIC, len(text)) + text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise WireError("a key stands twice in a frame's header")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise WireError(f"a frame's header holds {name}")


def _header_bytes(prefix: bytes | bytearray, most: int) -> int:
    magic, length = _PREFIX.unpack_from(prefix)
    if magic != MAGIC:
        raise WireError("the bytes received do not begin a frame")
    if length > most:
        raise WireError(f"a frame's header of {length} bytes, above {most}")
    return int(length)


def _parsed(text: bytes | bytearray, most_blobs: int, most_bytes: int) -> tuple[dict[str, Any], list[int]]:
    """A header, and the lengths of the blobs that follow it."""
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a frame's header is not JSON ({type(error).__name__})") from None
    if not isinstance(header, dict):
        raise WireError("a frame's header is not a JSON object")
    lengths = header.pop("blobs", None)
    if not isinstance(lengths, list) or not all(type(length) is int and length >= 0 for length in lengths):
        raise WireError("a frame's header gives no lengths")
    if len(lengths) > most_blobs or sum(lengths) > most_bytes:
        raise WireError(f"a frame of {len(lengths)} blobs and {sum(lengths)} bytes, above {most_blobs, most_bytes}")
    return header, lengths


class FrameReader:
    """Collects bytes into frames; never keeps more than the caps allow."""

    def __init__(self, *, header_bytes: int, blob_bytes: int, blobs: int) -> None:
        self._header_bytes, self._caps = header_bytes, (blobs, blob_bytes)
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
        end = _PREFIX.size + _header_bytes(self._bytes, self._header_bytes)
        if len(self._bytes) < end:
            return False
        self._header, self._lengths = _parsed(self._bytes[_PREFIX.size : end], *self._caps)
        del self._bytes[:end]
        return True


def send(channel: socket.socket, frame: bytes, deadline: float) -> None:
    """Send all of a frame; raises TimeoutError at the deadline (of `time.monotonic`)."""
    channel.settimeout(_remaining(deadline))
    channel.sendall(frame)


def receive(channel: socket.socket, deadline: float, blob_bytes: int) -> tuple[dict[str, Any], bytearray]:
    """The next frame, of one blob at the most; no bytes where it has none.

    Raises EOFError if the process is gone, TimeoutError at the deadline, WireError for what is no frame or too long.
    """
    prefix = _received(channel, _PREFIX.size, deadline)
    text = _received(channel, _header_bytes(prefix, MAX_HEADER_BYTES), deadline)
    header, lengths = _parsed(text, 1, blob_bytes)
    return header, _received(channel, sum(lengths), deadline)


def _received(channel: socket.socket, length: int, deadline: float) -> bytearray:
    data = bytearray(length)
    view = memoryview(data)
    while view:
        channel.settimeout(_remaining(deadline))
        try:
            count = channel.recv_into(view)
        except ConnectionResetError:
            count = 0
        if not count:
            raise EOFError
        view = view[count:]
    return data


def _remaining(deadline: float) -> float:
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise TimeoutError
    return remaining


def write(fd: int, frame: bytes | memoryview) -> None:
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
