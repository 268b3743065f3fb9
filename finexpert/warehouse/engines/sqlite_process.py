"""A SQLite file held by processes that are shut in; the parent's side. What they send is trusted in nothing.

    held = SqliteFile(Path("markets.db"), memory_mb=2048)
    held.reflect(None, None, Declared({}, {}, {}), ())                    ->   Reflected(tables, places, {})
    held.fetch("SELECT max(n) AS n FROM t", ["t"], None, 200_000, 10.0)   ->   Rows(names=["n"], kinds=["bigint"], ...)

A process lasts until the file, or a log beside it, is written: what it may read was settled when it was locked in.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import sqlalchemy.exc
from pydantic import TypeAdapter

from finexpert.warehouse.engines.reflection import Declared, Reflected
from finexpert.warehouse.engines.sqlite_connection import State, state_of
from finexpert.warehouse.isolated import SQLITE
from finexpert.warehouse.isolated.answer import Request, Rows
from finexpert.warehouse.isolated.process import Opening, QueryProcess

_MOST_IDLE = 2


class SqliteProcess(QueryProcess):
    """A process that holds a SQLite file. One thread at a time."""

    guest = SQLITE

    def reflect(self, wanted: Mapping[str, Any]) -> Reflected:
        """What `reflection.reflect` finds; raises DataError or SQLAlchemyError."""
        header, body = self._exchange({"reflect": wanted})
        _raise_again(header)
        return self._checked(TypeAdapter(Reflected), body)

    def fetch(self, message: Mapping[str, Any], request: Request) -> Rows:
        """The rows of a statement; raises QueryError or SQLAlchemyError."""
        return self._ask(message, request)

    def _opened(self, header: dict[str, Any], body: bytearray, request: Request) -> Rows:
        _raise_again(header)
        return super()._opened(header, body, request)


class SqliteFile:
    """A file and the processes that hold it; may be asked by many threads."""

    def __init__(self, path: Path, memory_mb: int) -> None:
        self._path, self._bytes = path.resolve(), memory_mb << 20
        self._lock, self._owner = threading.Lock(), os.getpid()
        self._idle: list[tuple[State, SqliteProcess]] = []
        weakref.finalize(self, _end, self._idle, self._owner)

    def reflect(
        self, schema: str | None, tables: Collection[str] | None, declared: Declared, listed: Collection[str]
    ) -> Reflected:
        """What `reflection.reflect` finds."""
        wanted = {"schema": schema, "tables": None if tables is None else list(tables), "listed": list(listed)}
        with self._borrowed() as process:
            return process.reflect(wanted | {"declared": asdict(declared)})

    def fetch(
        self, sql: str, tables: Collection[str], texts: Collection[int] | None, row_cap: int, seconds: float
    ) -> Rows:
        """The rows of a statement that may read these tables; `texts` as in `rows.fetch`."""
        places = None if texts is None else list(texts)
        message = {"sql": sql, "tables": list(tables), "row_cap": row_cap, "texts": places}
        with self._borrowed() as process:
            return process.fetch(message, Request(sql, row_cap=row_cap, seconds=seconds))

    def close(self) -> None:
        """End the processes that nobody asks; the others end with their SELECTs."""
        _end(self._idle, self._owner)

    @contextlib.contextmanager
    def _borrowed(self) -> Iterator[SqliteProcess]:
        state = state_of(self._path)
        process = self._free(state) or self._started()
        try:
            process.ready()
            yield process
        except BaseException:
            process.kill()
            raise
        with self._lock:
            if len(self._idle) < _MOST_IDLE and process.alive:
                self._idle.append((state, process))
                return
        process.kill()

    def _free(self, state: State) -> SqliteProcess | None:
        with self._lock:
            if self._owner != os.getpid():  # after a fork they are the parent's
                self._idle.clear()
                self._owner = os.getpid()
            while self._idle:
                known, process = self._idle.pop()
                if known == state and not process.lost:
                    return process
                process.kill()
        return None

    def _started(self) -> SqliteProcess:
        # Not opened here for reading: closing it would give up the locks that a connection of this process has on it.
        held = os.open(self._path, os.O_PATH | os.O_CLOEXEC)
        try:
            return SqliteProcess(Opening(str(self._path), "", 1, self._bytes), held)
        finally:
            os.close(held)


def _raise_again(header: Mapping[str, Any]) -> None:
    """What SQLite raised in the process, here: of kinds that it raises, and of a message that is scrubbed as any."""
    if "raised" not in header:
        return
    outer, inner, message, code = (*header["raised"], "", "", "", 0)[:4]
    kinds = {kind.__name__: kind for kind in sqlite3.DatabaseError.__subclasses__()}
    orig = kinds.get(str(inner), sqlite3.DatabaseError)(str(message))
    orig.sqlite_errorcode = code if type(code) is int else 0
    wrapped = {kind.__name__: kind for kind in sa.exc.DatabaseError.__subclasses__()}
    raise wrapped.get(str(outer), sa.exc.DatabaseError)(None, None, orig)


def _end(idle: list[tuple[State, SqliteProcess]], owner: int) -> None:
    while idle and os.getpid() == owner:
        idle.pop()[1].kill()
