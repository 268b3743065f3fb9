"""The SQLite file of a store: how it is made, opened, and what its errors mean.

    connect(Path("knowledge.sqlite"))  ->  a connection to a file with the tables of a store, mode 0600

What stands in the tables is told in `sql.py`; `codes` and `vectors` hold one row for each phrase of a current
version. A file of a newer schema, of another program, or a damaged one is refused and left as it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from finexpert.errors import StoreError
from finexpert.knowledge.entries.sql_rows import SCHEMA_VERSION, Unreadable
from finexpert.storage import sqlite_files
from finexpert.storage.private_files import make_folder

BUSY_SECONDS = 30.0
TABLES = (
    """CREATE TABLE versions (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, id TEXT NOT NULL, names TEXT NOT NULL,
        status TEXT NOT NULL, version INTEGER NOT NULL, action TEXT NOT NULL, author TEXT NOT NULL,
        written_at TEXT NOT NULL, body TEXT NOT NULL, phrases TEXT NOT NULL, UNIQUE (collection, id, version))""",
    """CREATE TABLE latest (
        collection TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL UNIQUE, status TEXT NOT NULL,
        PRIMARY KEY (collection, id)) WITHOUT ROWID""",
    "CREATE INDEX latest_status ON latest (collection, status)",
    """CREATE TABLE names (
        collection TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (collection, name)) WITHOUT ROWID""",
    "CREATE INDEX names_id ON names (collection, id)",
    """CREATE TABLE codes (
        number INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, seq INTEGER NOT NULL,
        position INTEGER NOT NULL, status TEXT NOT NULL, code BLOB NOT NULL)""",
    "CREATE INDEX codes_seq ON codes (collection, seq)",
    "CREATE TABLE vectors (number INTEGER PRIMARY KEY, vector BLOB NOT NULL)",
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
)
ADVICE = {
    **sqlite_files.advice(BUSY_SECONDS),
    sqlite3.SQLITE_IOERR: "the disk is full, or could not be read or written; make room there, or name another place with --store",
}
DAMAGED = "it is damaged or no store; move it away, and `finexpert memory import FOLDER` fills a new one from an export"
STORE = sqlite_files.FileKind(
    name="store",
    application=0x46584E50,
    version=SCHEMA_VERSION,
    tables=TABLES,
    raises=StoreError,
    elsewhere="name another with --store",
    damaged=DAMAGED,
)


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, made with its folder where it is not there yet. Threads must take turns."""
    with reported(path):
        make_folder(path.parent)
        sqlite_files.make_private(path)
    # fullfsync, of macOS only: a plain sync stops at the disk's cache there.
    return sqlite_files.connect(
        path,
        BUSY_SECONDS,
        lambda made: STORE.prepare(made, path, BUSY_SECONDS),
        *("synchronous = FULL", "fullfsync = ON"),
    )


def connect_empty() -> sqlite3.Connection:
    """A store in memory that holds nothing, to be read where there is no file yet."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    for statement in TABLES:
        connection.execute(statement)
    return connection


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """An error of the file system as a StoreError that names the file and what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"cannot use the store {path} ({error.strerror}): name another place with --store") from error


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """An error of SQLite as a StoreError that names the file and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise STORE.error(path, error, ADVICE) from error
    # Text that is none stands in the names of its tables, or in SQLite's own words about them.
    except (UnicodeDecodeError, Unreadable) as error:
        raise StoreError(f"cannot use the store {path}: {DAMAGED}") from error
