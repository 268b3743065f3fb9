"""The SQLite file of a library: its tables, how it is opened, and what its errors mean.

    connect(Path("library/library.sqlite"), make=True)  ->  a connection to a file with the tables of a library

`filings`, `pages` and `chunks` are what was added; `vectors` are derived from chunks, and may be incomplete. A file of
a newer schema, of another program, or a damaged one is refused and left as it is. Not for a network drive.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from finexpert.errors import LibraryError
from finexpert.storage import sqlite_files

APPLICATION = 0x46584C42  # says in the file's header whose file it is
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
)
_ADVICE = sqlite_files.advice(BUSY_SECONDS)
_DAMAGED = "it is damaged or no library; move its folder away, and `finexpert library add PATH` fills a new one"


def connect(path: Path, *, make: bool) -> sqlite3.Connection:
    """Open the file, made with its folder where `make` says so and it is not there; threads must take turns."""
    if not path.exists() and not make:
        raise LibraryError(f"there is no library in {path.parent}: `finexpert library add PATH` makes one")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_use(path.parent, error) from error
    with explained(path):
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def cannot_use(folder: Path, error: OSError) -> LibraryError:
    """What is said of a folder of a library that cannot be made or written."""
    return LibraryError(f"cannot use {folder} ({error.strerror}): see to its rights, or name another with --library")


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    # A lost last filing is added again by the next `add`; a sync at each would cost more than reading the file.
    connection.execute("PRAGMA synchronous = NORMAL")
    if _version(connection, path) != 0:
        return
    sqlite_files.switch_to_wal(connection, BUSY_SECONDS)
    connection.execute("BEGIN IMMEDIATE")
    if _version(connection, path) == 0:  # nobody else was faster
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        about = [("library", uuid.uuid4().hex), ("revision", "0")]
        connection.executemany("INSERT INTO about VALUES (?, ?)", about)
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    found = sqlite_files.header(connection)
    if found.is_foreign(APPLICATION):
        raise LibraryError(f"{path} is an SQLite file, but not a library: name another folder with --library")
    if found.version > SCHEMA_VERSION:
        raise LibraryError(
            f"the library {path} has schema {found.version}, and this finexpert reads {SCHEMA_VERSION}: "
            f"a newer one made it; `pip install -U finexpert`"
        )
    return found.version


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """An error of SQLite as a LibraryError that names the file and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise LibraryError(f"cannot use the library {path} ({error}): {_ADVICE.get(code, _DAMAGED)}") from error
