"""The manifest of a folder of filings that were fetched: which file is which filing, and what its checksum was.

    {"path": "AAPL_10-K_2023-09-30.htm", "accession": "0000320193-23-000106", "form": "10-K", "sha256": "...", ...}

One line of JSON a filing, written before its file gets its name. The last line of a filing counts. One program at a time writes a folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from finexpert.errors import LibraryError
from finexpert.storage import foreign_files, foreign_json

# `library add FOLDER` would take .json and .jsonl for records of pages.
MANIFEST_FILE = "manifest.ndjson"
_BEGINS = b'{"path"'
# The name under which a filing is written before it is whole.
_LEFT = re.compile(r"\.[A-Z0-9-]+_[A-Z0-9-]+_[\d-]+(?:_[\d-]+)?\.\w{2,5}\.\w{8}\.tmp")


class Entry(BaseModel):
    """A filing that was fetched; `path` is that of its file from the manifest's folder, `symbol` is empty where it has none."""

    model_config = ConfigDict(frozen=True)

    # A name alone: a line leads to no other folder.
    path: Annotated[str, Field(pattern=r"^[^/\\.][^/\\]*$")]
    symbol: str
    cik: int
    company: str
    form: str
    fiscal_year: int | None
    quarter: int | None
    report_date: str
    filed: str
    accession: str
    url: str
    sha256: str
    size: int


class Manifest:
    """The lines of a folder's manifest, open for more."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._entries = {entry.accession: entry for entry in read_manifest(path)}
        self._taken = {entry.path: entry.accession for entry in self._entries.values()}

    def of(self, accession: str) -> Entry | None:
        """The line of a filing, None where it was not fetched."""
        return self._entries.get(accession)

    def holder(self, name: str) -> str | None:
        """The accession number of the filing that has a file of this name."""
        return self._taken.get(name)

    def add(self, entry: Entry) -> None:
        """Appends a line; LibraryError where it cannot be written."""
        line = entry.model_dump_json().encode() + b"\n"
        try:
            if not _ends_with_line(self.path):
                line = b"\n" + line
            if os.write(self._descriptor, line) != len(line):
                raise OSError(0, "it was written in part: is the disk full?")
            os.fsync(self._descriptor)
        except OSError as error:
            raise _unusable(self.path, error) from error
        self._entries[entry.accession] = entry
        self._taken[entry.path] = entry.accession


@contextmanager
def opened(folder: Path) -> Iterator[Manifest]:
    """The manifest of a folder, which is made; LibraryError where it cannot be written, or another program writes it."""
    path = folder / MANIFEST_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        _lock(descriptor, folder)
        # Nobody else writes here: what a killed run left is its alone.
        for left in folder.iterdir():
            if _LEFT.fullmatch(left.name):
                left.unlink(missing_ok=True)
        yield Manifest(path, descriptor)
    finally:
        os.close(descriptor)


def read_manifest(path: Path) -> list[Entry]:
    """The filings of a manifest, the last line of each; a last line that was cut off is left out.

    Raises LibraryError where it cannot be read, or where another line is none of a manifest.
    """
    try:
        lines = foreign_files.read_bytes(path).splitlines()
    except OSError as error:
        raise _unusable(path, error) from error
    entries: dict[str, Entry] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = Entry.model_validate(foreign_json.parse(line))
        except (json.JSONDecodeError, ValidationError) as error:
            if _is_cut(line):
                continue
            why = " ".join(str(error).splitlines()[:3])
            raise LibraryError(
                f"line {number} of {path} is none of a manifest: {why}. Remove the line, and its filing is fetched again"
            ) from None
        entries.pop(entry.accession, None)
        entries[entry.accession] = entry
    return list(entries.values())


def _is_cut(line: bytes) -> bool:
    """Whether a killed run or a full disk cut a line off: its filing is fetched again."""
    return line[: len(_BEGINS)] == _BEGINS[: len(line)] and not line.endswith(b"}")


def _ends_with_line(path: Path) -> bool:
    with open(path, "rb", opener=foreign_files.regular) as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise LibraryError(
            f"another `finexpert library fetch` writes to {folder}: wait for it, or name another folder with --out"
        ) from None
    except OSError as error:
        raise _unusable(folder / MANIFEST_FILE, error) from error


def _unusable(path: Path, error: OSError) -> LibraryError:
    return LibraryError(
        f"cannot use {path} ({error.strerror or error}): see to its rights and the room on the disk, or name another folder with --out"
    )
