"""The SQLite file of the answer cache: private, bounded, and shared by processes.

    answers(key, body, size, used)     mode 0600, in a folder of mode 0700

`key` is the hash of everything that an answer rests on. What was not used for longest goes first. A file of another version is emptied: nothing here cannot be computed again.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from finexpert.errors import StoreError
from finexpert.storage.private_files import make_folder
from finexpert.storage.sqlite_files import connect, header, make_private

APPLICATION = 0x46584143  # says in the file's header whose file it is
VERSION = 2
BUSY_SECONDS = 10.0
TABLE = "CREATE TABLE answers (key TEXT PRIMARY KEY, body TEXT NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL)"


class AnswerFile:
    """Kept answers by key. Raises StoreError where the file cannot be used. Threads take turns."""

    def __init__(self, path: Path, *, most: int, most_bytes: int) -> None:
        self.path, self._most, self._most_bytes = path, most, most_bytes
        self._lock = threading.Lock()
        with self._explained():
            make_folder(path.parent)
            make_private(path)
            # What was deleted must not stay readable in the file.
            self._connection = connect(path, BUSY_SECONDS, self._prepare, "secure_delete = ON")

    def body(self, key: str) -> str | None:
        """What is kept for a key, which counts as used now; None for nothing."""
        with self._lock, self._explained():
            found = self._connection.execute("SELECT body FROM answers WHERE key = ?", (key,)).fetchone()
            if found is None:
                return None
            self._connection.execute("UPDATE answers SET used = ? WHERE key = ?", (time.time_ns(), key))
            return str(found[0])

    def put(self, key: str, body: str) -> None:
        """Keep a body, in the place of the one under its key."""
        with self._lock, self._explained(), _transaction(self._connection):
            row = (key, body, len(body.encode()), time.time_ns())
            insert = "INSERT OR REPLACE INTO answers (key, body, size, used) VALUES (?, ?, ?, ?)"
            self._connection.execute(insert, row)
            self._shrink(self._connection)

    def count(self) -> int:
        """How many answers are kept."""
        with self._lock, self._explained():
            return int(self._connection.execute("SELECT count(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _shrink(self, connection: sqlite3.Connection) -> None:
        count, size = connection.execute("SELECT count(*), sum(size) FROM answers").fetchone()
        for key, bytes_ in connection.execute("SELECT key, size FROM answers ORDER BY used, key").fetchall():
            if count <= self._most and size <= self._most_bytes:
                return
            connection.execute("DELETE FROM answers WHERE key = ?", (key,))
            count, size = count - 1, size - bytes_

    def _prepare(self, connection: sqlite3.Connection) -> None:
        with _transaction(connection):
            found = header(connection)
            if found.is_foreign(APPLICATION):
                raise StoreError(f"{self.path} is an SQLite file, but no answer cache: move it away and ask again")
            if found.version != VERSION:
                connection.execute("DROP TABLE IF EXISTS answers")
                connection.execute(TABLE)
                connection.execute("CREATE INDEX answers_used ON answers (used)")
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the answer cache {self.path} cannot be used ({error}): delete the file, or ask with --no-cached"
            ) from error


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
