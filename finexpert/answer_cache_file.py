"""The SQLite file of the answer cache: private, bounded, and shared by processes.

    answers(id, key, bag, question, body, size, used)     mode 0600, in a folder of mode 0700

`key` is the hash of everything but the question that an answer rests on, `bag` that of the question's words. What was
not used for longest goes first. A file of another version is emptied: nothing here cannot be computed again.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from finexpert.errors import StoreError
from finexpert.private_files import make_folder
from finexpert.sqlite_files import header

APPLICATION = 0x46584143  # says in the file's header whose file it is
VERSION = 1
BUSY_SECONDS = 10.0
TABLE = (
    "CREATE TABLE answers (id INTEGER PRIMARY KEY, key TEXT NOT NULL, bag TEXT NOT NULL, question TEXT NOT NULL,"
    " body TEXT NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL)"
)


class Row(NamedTuple):
    """One kept answer: number, question and body."""

    id: int
    question: str
    body: str


class AnswerFile:
    """Kept answers by key and bag. Raises StoreError where the file cannot be used. Threads take turns."""

    def __init__(self, path: Path, *, most: int, most_bytes: int) -> None:
        self.path, self._most, self._most_bytes = path, most, most_bytes
        self._lock = threading.Lock()
        with self._explained():
            make_folder(path.parent)
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def rows(self, key: str, bag: str) -> list[Row]:
        """What is kept for a key and a bag of words, the latest first."""
        with self._lock, self._explained():
            found = self._connection.execute(
                "SELECT id, question, body FROM answers WHERE key = ? AND bag = ? ORDER BY id DESC", (key, bag)
            )
            return [Row(*row) for row in found]

    def touch(self, id: int) -> None:
        """A kept answer was used."""
        with self._lock, self._explained():
            self._connection.execute("UPDATE answers SET used = ? WHERE id = ?", (time.time_ns(), id))

    def put(self, key: str, bag: str, question: str, body: str, instead: Callable[[str], bool]) -> None:
        """Keep an answer, in the place of those whose question `instead` says is the same."""
        with self._lock, self._explained(), self._transaction() as connection:
            rows = connection.execute("SELECT id, question FROM answers WHERE key = ? AND bag = ?", (key, bag))
            for id in [id for id, kept in rows.fetchall() if instead(kept)]:
                connection.execute("DELETE FROM answers WHERE id = ?", (id,))
            connection.execute(
                "INSERT INTO answers (key, bag, question, body, size, used) VALUES (?, ?, ?, ?, ?, ?)",
                (key, bag, question, body, len(body.encode()), time.time_ns()),
            )
            self._shrink(connection)

    def count(self) -> int:
        """How many answers are kept."""
        with self._lock, self._explained():
            return int(self._connection.execute("SELECT count(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _shrink(self, connection: sqlite3.Connection) -> None:
        count, size = connection.execute("SELECT count(*), sum(size) FROM answers").fetchone()
        for id, bytes_ in connection.execute("SELECT id, size FROM answers ORDER BY used, id").fetchall():
            if count <= self._most and size <= self._most_bytes:
                return
            connection.execute("DELETE FROM answers WHERE id = ?", (id,))
            count, size = count - 1, size - bytes_

    def _prepare(self) -> None:
        # What was deleted must not stay readable in the file.
        self._connection.execute("PRAGMA secure_delete = ON")
        with self._transaction() as connection:
            found = header(connection)
            if found.is_foreign(APPLICATION):
                raise StoreError(f"{self.path} is an SQLite file, but no answer cache: move it away and ask again")
            if found.version != VERSION:
                connection.execute("DROP TABLE IF EXISTS answers")
                connection.execute(TABLE)
                connection.execute("CREATE INDEX answers_key ON answers (key, bag)")
                connection.execute("CREATE INDEX answers_used ON answers (used)")
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the answer cache {self.path} cannot be used ({error}): delete the file, or ask with --no-cached"
            ) from error
