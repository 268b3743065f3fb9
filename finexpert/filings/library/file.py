"""The SQLite file of a library: its tables, how it is opened, and what its errors mean.

    connect(Path("library/library.sqlite"), make=True)  ->  a connection to a file with the tables of a library

`filings`, `pages` and `chunks` are what was added; `vectors` are derived from chunks, and may be incomplete. A file of
a newer schema, of another program, or a damaged one is refused and left as it is. Not for a network drive.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from finexpert.errors import LibraryError
from finexpert.storage import sqlite_files
from finexpert.storage.private_files import make_folder

SCHEMA_VERSION = 1
BUSY_SECONDS = 60.0
_TABLES = (
    """CREATE TABLE filings (
        id TEXT PRIMARY KEY, company TEXT NOT NULL, ticker TEXT NOT NULL, fiscal_year INTEGER, quarter INTEGER,
        kind TEXT NOT NULL, title TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL, pages INTEGER NOT NULL,
        added TEXT NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX filings_sha256 ON filings (sha256)",
    """CREATE TABLE pages (
        id TEXT PRIMARY KEY, filing TEXT NOT NULL, position INTEGER NOT NULL, number INTEGER NOT NULL,
        section TEXT NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX pages_filing ON pages (filing, position)",
    # AUTOINCREMENT: a number is never given again, so an index may know by it what it holds already.
    """CREATE TABLE chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT, page TEXT NOT NULL, filing TEXT NOT NULL, kind TEXT NOT NULL,
        text TEXT NOT NULL, ticker TEXT NOT NULL, fiscal_year INTEGER, quarter INTEGER)""",
    "CREATE INDEX chunks_filing ON chunks (filing)",
    "CREATE INDEX chunks_page ON chunks (page)",
    "CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, vector BLOB NOT NULL)",
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "INSERT INTO about VALUES ('library', lower(hex(randomblob(16)))), ('revision', '0')",
)
LIBRARY = sqlite_files.FileKind(
    name="library",
    application=0x46584C42,
    version=SCHEMA_VERSION,
    tables=_TABLES,
    raises=LibraryError,
    elsewhere="name another folder with --library",
    damaged="it is damaged or no library; move its folder away, and `finexpert library add PATH` fills a new one",
)


def connect(path: Path, *, make: bool) -> sqlite3.Connection:
    """Open the file, made with its folder where `make` says so and it is not there; threads must take turns."""
    if not path.exists() and not make:
        raise LibraryError(f"there is no library in {path.parent}: `finexpert library add PATH` makes one")
    try:
        make_folder(path.parent)
    except OSError as error:
        raise cannot_use(path.parent, error) from error
    with explained(path):
        # A lost last filing is added again by the next `add`; a sync at each would cost more than reading the file.
        return sqlite_files.connect(
            path, BUSY_SECONDS, lambda made: LIBRARY.prepare(made, path, BUSY_SECONDS), "synchronous = NORMAL"
        )


def cannot_use(folder: Path, error: OSError) -> LibraryError:
    """What is said of a folder of a library that cannot be made or written."""
    return LibraryError(f"cannot use {folder} ({error.strerror}): see to its rights, or name another with --library")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """An error of SQLite as a LibraryError that names the file and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise LIBRARY.error(path, error, sqlite_files.advice(BUSY_SECONDS)) from error
