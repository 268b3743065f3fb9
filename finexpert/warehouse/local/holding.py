"""A DuckDB file held open: in this process, or in a pool of locked ones (`isolated/pool.py`).

held = LocalFile(path, "1GB", 1)
held.catalogue([], {})              ->   Catalogue(...)
held.lock(Known(columns, card, views))
held.ask(Request("SELECT 1 AS one"))   ->   Rows(...)
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import duckdb

from finexpert.core.deadline import run_within
from finexpert.errors import DataError, QueryError
from finexpert.warehouse.isolated.answer import Known, Request, Rows, answer, look
from finexpert.warehouse.isolated.catalogue import Catalogue, read_catalogue
from finexpert.warehouse.isolated.errors import took_too_long
from finexpert.warehouse.isolated.locked_connection import lock, open_file


class Held(Protocol):
    """A file that is open: first its catalogue is read and some rows are looked at, then it is locked, then asked."""

    def catalogue(self, categories: Collection[str], date_columns: Mapping[str, str]) -> Catalogue:
        """What the file says of itself; raises DataError."""
        ...

    def look(self, select: str, seconds: float) -> Rows | None:
        """The rows of a SELECT of the program's own, before the lock; None where it fails or takes too long."""
        ...

    def lock(self, known: Known) -> Known:
        """Make the views, and from then on let a SELECT reach them alone; the views as they were made."""
        ...

    def ready(self) -> None:
        """Wait until a SELECT can be asked at once."""
        ...

    def ask(self, request: Request) -> Rows:
        """The rows of a SELECT; raises QueryError."""
        ...

    def close(self) -> None:
        """Let go of the file; may be called again."""
        ...


class LocalFile:
    """A file held in this process: where no process can be locked in, or where it was asked for."""

    def __init__(self, path: Path, memory: str, threads: int) -> None:
        self._path = path
        self.connection = open_file(path, memory, threads)
        self._known = Known({}, "")

    def catalogue(self, categories: Collection[str], date_columns: Mapping[str, str]) -> Catalogue:
        return read_catalogue(self.connection, categories, date_columns)

    def look(self, select: str, seconds: float) -> Rows | None:
        # A cursor of its own: what does not heed its interrupt holds nothing else up.
        cursor = self.connection.cursor()
        with suppress(duckdb.Error, QueryError, TimeoutError):
            return run_within(seconds, lambda: look(cursor, select), cursor.interrupt)
        return None

    def lock(self, known: Known) -> Known:
        self._known = replace(known, views=lock(self.connection, known.views))
        return self._known

    def ready(self) -> None:
        return None

    def ask(self, request: Request) -> Rows:
        try:
            # A cursor of its own for each call: variables and interrupts of one call do not reach another.
            cursor = self.connection.cursor()
        except duckdb.Error:
            raise DataError(f"the warehouse {self._path.stem} is closed: open {self._path} again") from None

        def work() -> Rows:
            started = time.monotonic()
            with closing(cursor):
                rows = answer(cursor, request, self._known)
            return replace(rows, seconds=time.monotonic() - started)

        def interrupt() -> None:
            # The cursor is closed by its own thread, perhaps just now.
            with suppress(duckdb.Error):
                cursor.interrupt()

        try:
            return run_within(request.seconds, work, interrupt)
        except TimeoutError:
            raise QueryError(took_too_long(request.seconds)) from None

    def close(self) -> None:
        # A query that did not heed its interrupt still holds the connection: it ends with the query.
        with suppress(duckdb.Error):
            self.connection.close()
