"""What the process that reads LookML does: lock itself in, parse one file after the other, send what they hold as JSON.

    {"files": ["/models/orders.view.lkml"], ...}   ->   {"file": true}, {"views": [...]}; {"refused": "..."}; ...

It can open the named files and nothing else, write nothing, reach no network, and take no more memory than it was given.
"""

from __future__ import annotations

import codecs
import contextlib
import json
from pathlib import Path
from typing import Any

from finexpert.isolation import landlock, lockdown, wire
from finexpert.isolation.guests.inside import CHANNEL, Memory, write

MOST_BYTES = 1 << 20
"""of one file: the parser takes some seconds for so much"""
MOST_TOLD = 16 << 20


def use_once() -> None:
    """Import what Python would load later from files that are then out of reach."""
    codecs.lookup("utf-8-sig")
    with contextlib.suppress(ModuleNotFoundError):
        parsed("view: orders { dimension: id { sql: ${TABLE}.id ;; } }")


def serve(parent: int) -> None:
    """Send what each file holds, then end."""
    setup, _ = wire.read(CHANNEL)
    memory = Memory()
    files = [Path(path) for path in setup["files"]]
    try:
        lockdown.die_with_parent(parent)
        landlock.restrict(map(str, files))
        lockdown.drop_capabilities()
        memory.limit(parent, setup["bytes"])
        write(wire.pack({"denied": lockdown.prove()}))
    except (lockdown.NotLocked, OSError) as error:
        write(wire.pack({"failed": str(error)}))
        return
    for file in files:
        try:
            body = json.dumps(read(file)).encode()
            write(wire.pack({"file": True}, [body]) if len(body) <= MOST_TOLD else wire.pack({"refused": "too long"}))
        except (ValueError, MemoryError) as error:
            write(wire.pack({"refused": str(error)[:500] or "it takes too much memory"}))


def read(file: Path) -> dict[str, Any]:
    """What a file of LookML holds; ValueError says why it cannot be read."""
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None
    if len(content) > MOST_BYTES:
        raise ValueError(f"it is longer than {MOST_BYTES >> 20} MB: split it")
    try:
        return parsed(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not text in UTF-8 (byte {error.start})") from None


def parsed(text: str) -> dict[str, Any]:
    """What a text of LookML holds, as lkml reads it; ValueError for what is none.

    >>> parsed("view: orders { measure: count { type: count } }")
    {'views': [{'measures': [{'type': 'count', 'name': 'count'}], 'name': 'orders'}]}
    >>> parsed("view: {" * 10_000)
    Traceback (most recent call last):
    ValueError: it is nested too deep
    """
    import lkml

    try:
        held = lkml.load(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except SyntaxError as error:
        raise ValueError(str(error)) from None
    except KeyError as error:
        raise ValueError(str(error.args[0])) from None
    except (IndexError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            f"it is no LookML ({type(error).__name__}): a text, a list or a block may have no end"
        ) from None
    return held if isinstance(held, dict) else {}
