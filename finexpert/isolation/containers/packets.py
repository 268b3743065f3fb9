"""Several streams over one: how a worker in a container is spoken to, where only its standard input and output reach.

    >>> reader = Reader()
    >>> reader.feed(pack(OUTPUT, b"abc")[:6]), reader.feed(pack(OUTPUT, b"abc")[6:])
    ([], [Packet(kind=b'O', data=b'abc')])

A packet is one letter, a length (u32, little endian) and as many bytes. What stands in them is not decided here.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from finexpert.isolation.wire import WireError

# To the worker: fork a child; bytes for its channel; nothing more for its channel.
RUN, INPUT, CLOSE = b"R", b"I", b"C"
# From the worker: it is warm; bytes of the channel; what was printed; how the child ended.
READY, OUTPUT, PRINTED, STATUS = b"W", b"O", b"P", b"S"
CHUNK = 1 << 18
_KINDS = frozenset({RUN, INPUT, CLOSE, READY, OUTPUT, PRINTED, STATUS})
_HEAD = struct.Struct("<cI")


class Packet(NamedTuple):
    kind: bytes
    data: bytes


def pack(kind: bytes, data: bytes = b"") -> bytes:
    """The bytes of a packet.

    >>> pack(CLOSE)
    b'C\\x00\\x00\\x00\\x00'
    """
    return _HEAD.pack(kind, len(data)) + data


class Reader:
    """Collects bytes into packets; keeps no more than one that is not whole.

    >>> Reader().feed(b"GET / HTTP/1.1")
    Traceback (most recent call last):
        ...
    finexpert.isolation.wire.WireError: the bytes received are no packet
    """

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> list[Packet]:
        """Take bytes; the packets that are whole now."""
        self._bytes += data
        whole, place = [], 0
        while len(self._bytes) - place >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._bytes, place)
            if kind not in _KINDS or length > CHUNK:
                raise WireError("the bytes received are no packet")
            end = place + _HEAD.size + length
            if len(self._bytes) < end:
                break
            whole.append(Packet(kind, bytes(memoryview(self._bytes)[place + _HEAD.size : end])))
            place = end
        del self._bytes[:place]
        return whole
