"""The process that reads a filing, seen from its parent; what it sends is trusted in nothing.

    for outcome in read_file(path, checksum(path), Given(ticker="AAPL")):
        ...            # a ReadFiling, or the LibraryError of what could not be read

Each file has a process of its own, which ends with it. Where no process can be locked in, the file is read in this one.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from finexpert.errors import DataError, LibraryError, SandboxUnavailable
from finexpert.filings.page import file as filing_file
from finexpert.filings.page import tags
from finexpert.filings.readers import AGAIN, files
from finexpert.filings.readers.child import MOST_BYTES, PAGE_FIELDS, SAID
from finexpert.filings.readers.cover import NOTHING, Given
from finexpert.filings.readers.files import RECORDS, ReadFiling
from finexpert.filings.readers.records import pages_checksum
from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.isolation import wire
from finexpert.isolation.guests.reading import denials, guest
from finexpert.isolation.guests.zygote import START_SECONDS, problem

GUEST = "finexpert.filings.readers.child"
MEMORY_BYTES = 2 << 30
SECONDS = 600.0
_MOST_PAGES, _LAST_PAGE = 200_000, 10_000_000
_MOST_CHARACTERS = 1 << 30


class _Untrue(Exception):
    """What the process sent is nothing that it sends."""


def read_file(path: Path, sha256: str, given: Given, otherwise: Given = NOTHING) -> Iterator[ReadFiling | LibraryError]:
    """As `files.read_file`, in a process that reaches nothing but the file."""
    if problem() is not None:
        yield from files.read_file(path, sha256, given, otherwise)
        return
    try:
        yield from _read_locked(path, sha256, given, otherwise)
    except TimeoutError:
        yield LibraryError(f"{path} takes more than {SECONDS:.0f} seconds to read: split it, or {AGAIN}")
    except (EOFError, OSError, wire.WireError, _Untrue) as error:
        yield LibraryError(
            f"cannot read {path}: the process that reads it broke ({type(error).__name__}), or needs more memory than the"
            f" {MEMORY_BYTES >> 20:,} MB that a filing may take; fetch it again or split it, then {AGAIN}"
        )


def _read_locked(path: Path, sha256: str, given: Given, otherwise: Given) -> Iterator[ReadFiling | LibraryError]:
    with contextlib.ExitStack() as stack:
        try:
            channel = stack.enter_context(guest(GUEST, path))
        except OSError as error:
            yield LibraryError(f"cannot read {path}: {error.strerror}; see to its name and rights, then {AGAIN}")
            return
        told = {"path": str(path), "sha256": sha256, "given": asdict(given), "otherwise": asdict(otherwise)}
        for outcome in _outcomes(channel, told):
            yield outcome if isinstance(outcome, LibraryError) else _of_here(outcome, path, sha256)


def _of_here(read: ReadFiling, path: Path, sha256: str) -> ReadFiling:
    """What was read, with what this process knows of it itself."""
    if path.suffix.lower() not in RECORDS:
        return replace(read, info=replace(read.info, path=str(path), sha256=sha256))
    own = pages_checksum(read.info.id, read.pages)
    return replace(read, info=replace(read.info, path=str(path), sha256=own, pages=len(read.pages)))


def _outcomes(channel: socket.socket, setup: dict[str, Any]) -> Iterator[ReadFiling | LibraryError]:
    wire.send(
        channel, wire.pack(setup | {"bytes": MEMORY_BYTES, "folder": str(Path.cwd())}), time.monotonic() + START_SECONDS
    )
    header, _ = wire.receive(channel, time.monotonic() + START_SECONDS, 0)
    if "failed" in header:
        raise SandboxUnavailable(f"no filing can be read: {str(header['failed'])[:2_000]}")
    denials(header, "no filing can be read")
    deadline = time.monotonic() + SECONDS
    pages: list[list[Any]] = []
    characters = 0
    while True:
        header, body = wire.receive(channel, deadline, MOST_BYTES)
        if "page" in header:
            pages.append(_page(body))
            characters += len(body)
            if len(pages) > _MOST_PAGES or characters > _MOST_CHARACTERS:
                raise _Untrue
        elif "refused" in header:
            pages = []
            yield LibraryError(str(header["refused"])[:4_000])
        elif header.get("end") is True:
            return
        else:
            yield _filing(header, pages)
            pages = []


def _page(body: bytes | bytearray) -> list[Any]:
    try:
        page = json.loads(body)
    except (ValueError, RecursionError):
        raise _Untrue from None
    if (
        not isinstance(page, list)
        or len(page) != len(PAGE_FIELDS) + 1
        or not all(isinstance(each, str) for each in page[:3])
    ):
        raise _Untrue
    if type(page[3]) is not int or not 0 <= page[3] <= _LAST_PAGE:
        raise _Untrue
    return page


def _filing(header: Mapping[str, Any], pages: Sequence[list[Any]]) -> ReadFiling:
    said, notes = header.get("filing"), header.get("notes")
    if not isinstance(said, dict) or set(said) != set(SAID) or not isinstance(notes, list):
        raise _Untrue
    if not all(type(said[name]) is kind or (kind is int and said[name] is None) for name, kind in SAID.items()):
        raise _Untrue
    info = FilingInfo(**said, path="", sha256="", pages=0, added=dt.datetime.now(dt.UTC))
    try:
        made = [_library_page(page, info) for page in pages]
    except DataError:
        raise _Untrue from None
    return ReadFiling(info, made, tuple(str(note)[:2_000] for note in notes[:1_000]))


def _library_page(page: list[Any], info: FilingInfo) -> LibraryPage:
    id, section, kind, number, pre_text, table, post_text, tagged = page
    return LibraryPage(
        id=id,
        filing=info.id,
        company=info.company,
        ticker=info.ticker,
        fiscal_year=info.fiscal_year,
        quarter=info.quarter,
        kind=kind,
        section=section,
        number=number,
        pre_text=filing_file.checked_texts(pre_text, "the text", id),
        table=filing_file.checked_table(table, id),
        post_text=filing_file.checked_texts(post_text, "the text", id),
        tags=tags.checked(tagged, id),
    )
