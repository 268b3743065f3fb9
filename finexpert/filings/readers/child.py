"""What the process that reads a filing does: lock itself in, read one file, send its pages one by one.

    {"path": "/data/aapl.htm", ...}  ->  {"page": true}, its JSON; ...; {"filing": {...}, "notes": []}; ...; {"end": true}
    {"path": "/data/aapl.pdf", "picture": {...}, ...}  ->  {"marks": ...}, a page of it as PNG

It can open the one file and nothing else, write nothing, reach no network, and take no more memory than it was given: what stands in
a file is a stranger's.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from finexpert.errors import LibraryError
from finexpert.filings.page.tags import as_json
from finexpert.filings.readers.cover import Given
from finexpert.filings.readers.files import ReadFiling, read_file
from finexpert.isolation import landlock, lockdown, wire
from finexpert.isolation.guests.inside import CHANNEL, Memory, write

# Those of a page in JSON: its parent takes no more at once.
MOST_BYTES = 16 << 20
# Before the tags of its numbers.
PAGE_FIELDS = ("id", "section", "kind", "number", "pre_text", "table", "post_text")


def use_once() -> None:
    """Import what Python would load later from files that are then out of reach; a package may be missing."""
    for name in ("utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1", "ascii"):
        codecs.lookup(name)
    with contextlib.suppress(ModuleNotFoundError):
        from finexpert.filings.readers import html

        html.read_html(b"<style>p{color:red}</style><p>Net sales</p><table><tr><td>Sales<td>5</table>", "")
    with contextlib.suppress(ModuleNotFoundError):
        from finexpert.filings.readers.pdf import drawing, picture
        from finexpert.filings.readers.pdf import pages as pdf

        pdf.use_once()
        drawing.as_frame(picture.blank())


def serve(parent: int) -> None:
    """Send what is read of the file, then end."""
    setup, _ = wire.read(CHANNEL)
    memory = Memory()
    path = Path(setup["path"])
    try:
        lockdown.die_with_parent(parent)
        # A path may be told from where the parent is.
        os.chdir(setup["folder"])
        landlock.restrict([str(path)])
        lockdown.drop_capabilities()
        memory.limit(parent, setup["bytes"])
        write(wire.pack({"denied": lockdown.prove()}))
    except (lockdown.NotLocked, OSError) as error:
        write(wire.pack({"failed": str(error)}))
        return
    if "picture" in setup:
        _draw(path, setup["picture"])
        return
    try:
        for outcome in read_file(path, setup["sha256"], Given(**setup["given"]), Given(**setup["otherwise"])):
            _send(outcome)
    except MemoryError:
        write(wire.pack({"refused": f"{path} takes more memory than a filing may: split it"}))
    write(wire.pack({"end": True}))


def _draw(path: Path, asked: dict[str, Any]) -> None:
    from finexpert.filings.readers.pdf.drawing import as_frame
    from finexpert.filings.readers.pdf.picture import picture_of

    try:
        write(as_frame(picture_of(path, asked["number"], asked["phrases"], asked["value"])))
    except (LibraryError, MemoryError) as error:
        write(wire.pack({"refused": str(error)[:4_000]}))


def _send(outcome: ReadFiling | LibraryError) -> None:
    if isinstance(outcome, ReadFiling):
        bodies = [
            json.dumps([*(getattr(page, name) for name in PAGE_FIELDS), as_json(page.tags)]).encode()
            for page in outcome.pages
        ]
        if max(map(len, bodies)) <= MOST_BYTES:
            for body in bodies:
                write(wire.pack({"page": True}, [body]))
            info = asdict(outcome.info)
            write(wire.pack({"filing": {name: info[name] for name in SAID}, "notes": list(outcome.notes)}))
            return
        outcome = LibraryError(f"{outcome.info.path} has a page of more than {MOST_BYTES >> 20} MB: split it")
    write(wire.pack({"refused": str(outcome)[:4_000]}))


# What a reader tells of a filing; where it stands and when it was added its parent knows.
SAID: dict[str, Any] = dict.fromkeys(("id", "company", "ticker", "kind", "title"), str) | dict.fromkeys(
    ("fiscal_year", "quarter"), int
)
