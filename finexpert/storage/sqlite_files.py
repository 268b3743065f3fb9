"""What the SQLite files of finexpert share: whose a file is, how it is made ready for several processes, what errors mean.

connect(path, 30.0, prepare)               a connection, closed again where `prepare` fails
header(connection)                         Header(version=1, application=0x46584C42, tables=7)
switch_to_wal(connection, 30.0)            readers and a writer at once, from now on
kind.prepare(connection, path, 30.0)       the tables of a `FileKind`; a file of another kind is refused
kind.error(path, found, advice(30.0))      StoreError: cannot use the store ... (disk is full): make room and try again
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from finexpert.errors import FinexpertError

_HEADER = """SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master)
FROM pragma_user_version, pragma_application_id"""


class Header(NamedTuple):
    """What a file says of itself; all 0 in a file that is new."""

    version: int
    application: int
    tables: int

    def is_foreign(self, application: int) -> bool:
        """Whether another program made the file."""
        return bool(self.version or self.tables) and self.application != application


def make_private(path: Path) -> None:
    """Make an empty file of mode 0600 where there is none."""
    # Never opened apart from SQLite once it is there: closing it again would drop the locks that this process has.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def connect(
    path: Path, seconds: float, prepare: Callable[[sqlite3.Connection], None], *pragmas: str
) -> sqlite3.Connection:
    """Open a file that `prepare` makes ready; a locked one is waited for. Threads must take turns."""
    connection = sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("trusted_schema = OFF", *pragmas):
            connection.execute(f"PRAGMA {pragma}")
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def header(connection: sqlite3.Connection) -> Header:
    """Whose the file is.

    >>> header(sqlite3.connect(":memory:"))
    Header(version=0, application=0, tables=0)
    """
    # In one statement: between two of them another process may make the tables, and the file looks like a stranger's.
    return Header(*connection.execute(_HEADER).fetchone())


def switch_to_wal(connection: sqlite3.Connection, seconds: float) -> None:
    """Switch to a write-ahead log. SQLite does not wait here by itself when two processes make the same file at once."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def advice(seconds: float) -> Mapping[int, str]:
    """What to do, by SQLite's primary error code; `seconds` is how long a locked file is waited for."""
    return {
        sqlite3.SQLITE_BUSY: f"another process kept it locked for {seconds:.0f} seconds; try again when that one is done",
        sqlite3.SQLITE_FULL: "the disk is full; make room and try again",
        sqlite3.SQLITE_READONLY: "it cannot be written to; see to its rights and those of its folder",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened; see to its rights and those of its folder",
        sqlite3.SQLITE_IOERR: "the disk could not be read or written",
    }


@dataclass(frozen=True)
class FileKind:
    """A kind of SQLite file: its tables, and what is said of a file that is of another kind, newer, or damaged."""

    name: str
    application: int  # says in the file's header whose file it is
    version: int
    tables: Sequence[str]
    raises: type[FinexpertError]
    elsewhere: str  # how another place is named
    damaged: str

    def prepare(self, connection: sqlite3.Connection, path: Path, seconds: float) -> None:
        """Make the tables in a new file, once, also where several processes open it; `seconds` are waited for a locked one."""
        if self._version(connection, path):
            return
        switch_to_wal(connection, seconds)
        connection.execute("BEGIN IMMEDIATE")
        if not self._version(connection, path):  # nobody else was faster
            for statement in self.tables:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self.application}")
            connection.execute(f"PRAGMA user_version = {self.version}")
        connection.execute("COMMIT")

    def error(self, path: Path, found: sqlite3.Error, said: Mapping[int, str]) -> FinexpertError:
        """What SQLite found, with what to do: `said` by its primary code, else what helps where the file is damaged."""
        code = getattr(found, "sqlite_errorcode", 0) & 0xFF
        return self.raises(f"cannot use the {self.name} {path} ({found}): {said.get(code, self.damaged)}")

    def _version(self, connection: sqlite3.Connection, path: Path) -> int:
        found = header(connection)
        if found.is_foreign(self.application):
            raise self.raises(f"{path} is an SQLite file, but not a {self.name} of finexpert: {self.elsewhere}")
        if found.version > self.version:
            raise self.raises(
                f"the {self.name} {path} has schema {found.version}, and this finexpert reads {self.version}: "
                f"a newer one made it; `pip install -U finexpert`"
            )
        return found.version
