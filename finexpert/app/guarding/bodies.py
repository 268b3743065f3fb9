"""How large the body of a request may be, and how long it may take.

most = bodies.most(headers, 0, known=True)        2 MB, or 413
await app(scope, bodies.limited(receive, most, read), send)
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_MOST, _OF_NOBODY = 2_000_000, 20_000  # who is not known yet sends the form of the login
_LARGE = 100_000
_SECONDS, _SLOWEST = 30.0, 50_000  # a body, and bytes a second of one that is larger
_LONGEST_LENGTH = 18


class BodyRefused(HTTPException):
    """A body is larger, or comes slower, than may be."""


def _too_large(most: int) -> BodyRefused:
    return BodyRefused(413, f"at most {most / 1e6:,.3g} MB may be sent here")


def most(headers: Mapping[str, str], upload: int, *, known: bool) -> int:
    """How large a body may be, with a file of so many bytes in it; what says that it is larger is not read at all."""
    allowed = (_MOST if known else _OF_NOBODY) + upload
    said = headers.get("content-length", "0")
    if not (said.isascii() and said.isdigit()) or len(said) > _LONGEST_LENGTH or int(said) > allowed:
        raise _too_large(allowed)
    return allowed


def is_large(headers: dict[str, str]) -> bool:
    """Whether the body is large, or does not say how large it is."""
    return "transfer-encoding" in headers or int(headers.get("content-length", "0")) > _LARGE


def limited(receive: Receive, most: int, read: Callable[[], None]) -> Receive:
    """Counts what is read of a body, whatever its headers said, and how long it takes; `read` is called when it is whole."""
    size, whole = 0, False
    until = time.monotonic() + _SECONDS + most / _SLOWEST

    async def counted() -> MutableMapping[str, Any]:
        nonlocal size, whole
        try:
            # Behind the body comes that the client has gone, whenever that is.
            message = await (receive() if whole else asyncio.wait_for(receive(), until - time.monotonic()))
        except TimeoutError:
            raise BodyRefused(408, "what is sent here comes too slowly") from None
        if message["type"] == "http.request":
            whole = not message.get("more_body")
            size += len(message.get("body", b""))
            if size > most:
                raise _too_large(most)
            if whole:
                read()
        return message

    return counted
