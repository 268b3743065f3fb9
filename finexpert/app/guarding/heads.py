"""Heads of requests that two programs could read in two ways, or that are too long.

POST / HTTP/1.1, Content-Length: 4, Transfer-Encoding: chunked   ->   400, and the connection is closed
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException

_HEAD = 16 << 10
_ONCE = (b"host", b"authorization", b"origin", b"content-length", b"transfer-encoding")


class HeadRefused(HTTPException):
    """The head of a request says two things, or too much; nothing that follows it is read."""


def check_head(headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Refuses a head that a proxy could read in another way than we do: whatever follows would be another request to each of us."""
    names = [name.lower() for name, _ in headers]
    if twice := next((name for name in _ONCE if names.count(name) > 1), None):
        raise HeadRefused(400, f"{twice.decode()} stands twice in the request")
    if b"content-length" in names and b"transfer-encoding" in names:
        raise HeadRefused(400, "the request has a content-length beside a transfer-encoding")
    if sum(len(name) + len(value) for name, value in headers) > _HEAD:
        raise HeadRefused(431, f"the head of a request has at most {_HEAD:,} bytes")
