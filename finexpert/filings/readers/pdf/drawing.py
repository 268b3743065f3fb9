"""The picture of a page, drawn in a process that reaches nothing but the file; what it sends is trusted in nothing.

    drawn(Path("annual-report.pdf"), 42, ["net sales"], "1,234")     a Picture, None where drawing takes too long or too much

A file may be made so that a page is never drawn. Where no process can be locked in, it is drawn in this one.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from finexpert.errors import SandboxUnavailable
from finexpert.filings.readers.pdf.picture import Box, Picture, picture_of
from finexpert.isolation import wire
from finexpert.isolation.guests.reading import denials, guest
from finexpert.isolation.guests.zygote import START_SECONDS, problem

GUEST = "finexpert.filings.readers.child"
SECONDS = 15.0
_MEMORY_BYTES = 1 << 30
_MOST_BYTES = 64 << 20
_MOST_MARKS = 1_000
# Pages over which a process was ended, by file, its time and the number: they are not tried again.
_ENDED: dict[tuple[str, int, int], None] = {}
_MOST_ENDED = 1_000
_PNG = b"\x89PNG\r\n\x1a\n"


def drawn(path: Path, number: int, phrases: Sequence[str] = (), value: str = "") -> Picture | None:
    """As `picture_of`; None for a page that the process refuses, or is ended over."""
    if problem() is not None:
        return picture_of(path, number, phrases, value)
    page = (str(path), path.stat().st_mtime_ns, number)
    if page in _ENDED:
        return None
    asked = {"number": number, "phrases": list(phrases), "value": value}
    setup = {"path": str(path), "picture": asked, "bytes": _MEMORY_BYTES, "folder": str(Path.cwd())}
    try:
        with guest(GUEST, path) as channel:
            wire.send(channel, wire.pack(setup), time.monotonic() + START_SECONDS)
            header, _ = wire.receive(channel, time.monotonic() + START_SECONDS, 0)
            if "failed" in header:
                raise SandboxUnavailable(f"no page can be drawn: {str(header['failed'])[:2_000]}")
            denials(header, "no page can be drawn")
            header, png = wire.receive(channel, time.monotonic() + SECONDS, _MOST_BYTES)
    except (EOFError, OSError, wire.WireError):
        if len(_ENDED) < _MOST_ENDED:
            _ENDED[page] = None
        return None
    marks = _marks(header.get("marks"))
    return Picture(bytes(png), marks) if marks is not None and png.startswith(_PNG) else None


def as_frame(picture: Picture) -> bytes:
    """A picture as its parent takes it."""
    return wire.pack({"marks": json.dumps(picture.marks[:_MOST_MARKS])}, [picture.png])


def _marks(said: Any) -> tuple[Box, ...] | None:
    try:
        marks = json.loads(said) if isinstance(said, str) else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(marks, list) or len(marks) > _MOST_MARKS:
        return None
    boxes = [tuple(mark) for mark in marks if isinstance(mark, list) and len(mark) == 4 and all(map(_is_share, mark))]
    return tuple(boxes) if len(boxes) == len(marks) else None


def _is_share(said: object) -> bool:
    return isinstance(said, int | float) and math.isfinite(said)
