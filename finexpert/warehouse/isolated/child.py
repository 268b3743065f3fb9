"""What the process of a warehouse's file does: open it, lock itself in, read its catalogue, answer one SELECT after the other.

    {"catalogue": {...}}                  ->   {"catalogue": true}, the catalogue as JSON
    {"look": "SELECT date FROM cpi"}      ->   as of a SELECT, from the file itself; only before the views are made
    {"views": [...], ...}                 ->   {"views": [...]} as they were made
    {"select": "SELECT 1 AS one", ...}    ->   {"names": ["one"], "kinds": ["integer"], "truncated": false, "worn": false}, rows

The file is opened first; from then on the kernel lets the process open nothing, write nothing, reach no network and start nothing,
and take no more memory than it was given. It knows no deadline: its parent kills it. With more than one thread of DuckDB
the filter of system calls holds the thread alone that reads the messages; files and memory are shut for all of them.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

# sqlglot imports its optimizer when it first reads a subscript, as in `list[1]`, and this process cannot load anything then.
import sqlglot.optimizer.optimizer  # noqa: F401

from finexpert.errors import ConfigurationError, DataError, QueryError
from finexpert.isolation import landlock, lockdown, wire
from finexpert.isolation.guests.inside import CHANNEL, OF_THE_SYSTEM, Memory, write
from finexpert.warehouse.isolated.answer import Known, Request, Rows, answer, look
from finexpert.warehouse.isolated.catalogue import read_catalogue
from finexpert.warehouse.isolated.locked_connection import View, lock, open_file

DATABASE = 4
_BUFFER = 1 << 20


def use_once() -> None:
    """Use once what a SELECT needs, and leave nothing open: a forked process finds it all in memory."""
    pa.array(["Arrow imports what knows pandas with its first array"])
    with duckdb.connect(":memory:", config={"threads": "1", "async_threads": "0"}) as connection:
        for select in ("SELECT 1 AS n, 'a' AS t, DATE '2024-01-01' AS d", "SELECT n", "SELECT 'a'::INTEGER AS n"):
            with contextlib.suppress(QueryError):
                answer(connection, Request(select), Known({}, ""))


def serve(parent: int) -> None:
    """Answer until the warehouse closes the channel; raises EOFError then."""
    setup, _ = wire.read(CHANNEL)
    if "files" in setup:
        from finexpert.warehouse.files.child import read_files

        return read_files(setup, parent)
    memory = Memory()
    try:
        connection = _open(setup, parent)
    except (DataError, ConfigurationError, OSError) as error:
        write(wire.pack({"failed": str(error), "kind": type(error).__name__}))
        return None
    lockdown.drop_capabilities()
    memory.limit(parent, setup["bytes"])
    try:
        write(wire.pack({"denied": lockdown.prove()}))
    except lockdown.NotLocked as error:
        write(wire.pack({"failed": str(error)}))
        return None
    guest = Guest(connection, memory)
    while True:
        guest.reply(wire.read(CHANNEL)[0])


class Guest:
    """The locked process's own side: an open file, and the views that a SELECT may see once they are made."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, memory: Memory) -> None:
        self._connection, self._memory = connection, memory
        self._known: Known | None = None

    def reply(self, message: dict[str, Any]) -> None:
        """Answer one message of the parent."""
        if "catalogue" in message:
            self._catalogue(**message["catalogue"])
        elif "look" in message:
            self._look(message["look"])
        elif "views" in message:
            self._lock(message)
        else:
            self._answer(Request(**message))

    def _catalogue(self, categories: list[str], date_columns: dict[str, str]) -> None:
        try:
            body = json.dumps(asdict(read_catalogue(self._connection, categories, date_columns))).encode()
        except DataError as error:
            write(wire.pack({"failed": str(error), "kind": "DataError"}))
            return
        write(wire.pack({"catalogue": True}, [body]))

    def _look(self, select: str) -> None:
        if self._known is not None:
            raise lockdown.NotLocked("rows of the file itself are read before the views are made alone")
        try:
            rows = look(self._connection.cursor(), select)
        except (duckdb.Error, pa.ArrowException, QueryError, MemoryError):
            # No word of what went wrong, which may quote a row: the look gave nothing.
            write(wire.pack({"error": "", "worn": self._memory.worn}))
            return
        send(rows, self._memory)

    def _lock(self, message: dict[str, Any]) -> None:
        try:
            views = lock(self._connection, [View(*view) for view in message["views"]])
        except duckdb.Error as error:
            said = f"its views cannot be made ({type(error).__name__})"
            write(wire.pack({"failed": said, "kind": "DataError"}))
            return
        self._known = Known(message["columns"], message["card"], views)
        body = json.dumps(views).encode()
        write(wire.pack({"views": True}, [body]))

    def _answer(self, request: Request) -> None:
        if self._known is None:
            raise lockdown.NotLocked("a SELECT before the views were made")
        try:
            with contextlib.closing(self._connection.cursor()) as cursor:
                rows = answer(cursor, request, self._known)
        except QueryError as error:
            write(wire.pack({"error": str(error), "worn": self._memory.worn}))
            return
        send(rows, self._memory)


def _open(setup: dict[str, Any], parent: int) -> duckdb.DuckDBPyConnection:
    lockdown.die_with_parent(parent)
    place = _place(setup["path"])
    # Before DuckDB is: a lock holds for the threads that are started after it.
    landlock.restrict([place, f"{place}.wal", *OF_THE_SYSTEM])
    connection = open_file(Path(place), setup["memory"], setup["threads"])
    landlock.restrict([])
    return connection


def _place(path: str) -> str:
    """The path, if the file that the warehouse has open still stands there; else that very file, without a name."""
    held = f"/proc/self/fd/{DATABASE}"
    try:
        same = os.path.samestat(Path(path).stat(), os.fstat(DATABASE))
    except FileNotFoundError:
        return held
    return path if same else held


def send(rows: Rows, memory: Memory) -> None:
    """Send the rows of an answer, behind their names and kinds."""
    size = pa.MockOutputStream()
    _write_rows(rows, size)
    header = {"names": rows.names, "kinds": rows.kinds, "truncated": rows.truncated, "worn": memory.worn}
    with open(CHANNEL, "wb", buffering=_BUFFER, closefd=False) as channel:
        channel.write(wire.head(header, size.size()))
        _write_rows(rows, pa.PythonFile(channel, mode="w"))


def _write_rows(rows: Rows, sink: pa.NativeFile) -> None:
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        for batch in rows.batches:
            writer.write_batch(batch)
