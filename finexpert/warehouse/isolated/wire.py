"""Messages between a warehouse and the process of its SELECTs: a JSON header, then the bytes of an Arrow stream.

    >>> message = pack({"select": "SELECT 1"})
    >>> message[:4], len(message)
    (b'FXQ1', 38)

A message is `FXQ1`, the lengths of header (u32) and body (u64), little endian, the header, the body. The parent trusts nothing: caps
are checked before memory is taken, and every wait has a deadline. The process trusts its parent.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

MAGIC = b"FXQ1"
MAX_HEADER_BYTES = 4 << 20
_PREFIX = struct.Struct("<4sIQ")
_CHUNK = 1 << 20


class WireError(Exception):
    """The bytes received are no message, or pass a cap."""


def pack(header: Mapping[str, Any], body_bytes: int = 0) -> bytes:
    """A message up to its body, which the caller writes behind it."""
    text = json.dumps(header).encode()
    return _PREFIX.pack(MAGIC, len(text), body_bytes) + text


def read(descriptor: int) -> dict[str, Any]:
    """The header of the next message, which has no body; for the process. Raises EOFError if the parent is gone."""
    _, length, _ = _PREFIX.unpack(_read_exactly(descriptor, _PREFIX.size))
    header: dict[str, Any] = json.loads(_read_exactly(descriptor, length))
    return header


def send(channel: socket.socket, message: bytes, deadline: float) -> None:
    """Send all of a message; raises TimeoutError at the deadline (of `time.monotonic`)."""
    channel.settimeout(_remaining(deadline))
    channel.sendall(message)


def receive(channel: socket.socket, deadline: float, body_bytes: int) -> tuple[dict[str, Any], pa.Buffer]:
    """The next message; for the parent.

    Raises EOFError if the process is gone, TimeoutError at the deadline, WireError for a message that is none or too long.
    """
    prefix = bytearray(_PREFIX.size)
    _fill(channel, memoryview(prefix), deadline)
    magic, length, size = _PREFIX.unpack(prefix)
    if magic != MAGIC or length > MAX_HEADER_BYTES or size > body_bytes:
        raise WireError("a message that is none, or too long")
    text = bytearray(length)
    _fill(channel, memoryview(text), deadline)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise WireError("a header that is not JSON") from None
    if not isinstance(header, dict):
        raise WireError("a header that is no JSON object")
    body = pa.allocate_buffer(size)
    if size:
        _fill(channel, memoryview(body).cast("B"), deadline)
    return header, body


def _fill(channel: socket.socket, view: memoryview, deadline: float) -> None:
    while view:
        channel.settimeout(_remaining(deadline))
        try:
            count = channel.recv_into(view)
        except ConnectionResetError:
            count = 0
        if not count:
            raise EOFError
        view = view[count:]


def _remaining(deadline: float) -> float:
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise TimeoutError
    return remaining


def _read_exactly(descriptor: int, length: int) -> bytearray:
    data = bytearray(length)
    view = memoryview(data)
    while view:
        count = os.readv(descriptor, [view[:_CHUNK]])
        if not count:
            raise EOFError
        view = view[count:]
    return data
