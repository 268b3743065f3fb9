"""What the process of a warehouse's SELECTs does: open the file, lock itself in, answer one SELECT after the other.

    {"select": "SELECT 1 AS one", ...}   ->   {"names": ["one"], "kinds": ["integer"], "truncated": false, "worn": false}, rows

The file is opened first; from then on the kernel lets the process open nothing, write nothing, reach no network and start nothing,
and take no more memory than it was given. It knows no deadline: its parent kills it. With more than one thread of DuckDB
the filter of system calls holds the thread alone that reads the messages; files and memory are shut for all of them.
"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from finexpert.errors import ConfigurationError, DataError, QueryError
from finexpert.sandbox import landlock, lockdown
from finexpert.warehouse.isolated import wire as query_wire
from finexpert.warehouse.isolated.answer import Known, Request, Rows, answer
from finexpert.warehouse.local.locked_connection import View, lock, open_file

CHANNEL, DATABASE = 3, 4
# A process lives as long as its warehouse: each SELECT has its deadline, the sum of them has no bound.
_CPU_SECONDS = 1 << 30
_BUFFER = 1 << 20
# DuckDB asks how many processors and how much memory there are, and breaks if it is denied that.
OF_THE_SYSTEM = ("/proc/self/cgroup", "/proc/self/mountinfo", "/proc/stat", "/proc/meminfo", "/sys/fs/cgroup",
                  "/sys/devices/system/cpu")  # fmt: skip


def serve(parent: int) -> None:
    """Answer until the warehouse closes the channel; raises EOFError then."""
    setup = query_wire.read(CHANNEL)
    if "files" in setup:
        from finexpert.warehouse.files.child import read_files

        return read_files(setup, parent)
    memory = Memory()
    try:
        connection = _open(setup, parent)
    except (DataError, ConfigurationError, OSError) as error:
        write(query_wire.pack({"failed": str(error)}))
        return None
    lockdown.drop_capabilities()
    memory.limit(parent, setup["bytes"])
    try:
        write(query_wire.pack({"denied": lockdown.prove()}))
    except lockdown.NotLocked as error:
        write(query_wire.pack({"failed": str(error)}))
        return None
    known = Known(setup["columns"], setup["card"], _views(setup))
    while True:
        _reply(connection, Request(**query_wire.read(CHANNEL)), known, memory)


class Memory:
    """How much the process has mapped, and how much more it may."""

    def __init__(self) -> None:
        # Opened before the lock: no path can be opened behind it.
        self._file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._base = self._most = 0

    def limit(self, parent: int, most: int) -> None:
        """Allow that many bytes above what is mapped now, and lock the process in."""
        self._base, self._most = self._mapped(), most
        lockdown.enter_child(parent, memory=self._base + most, cpu_seconds=_CPU_SECONDS)

    @property
    def worn(self) -> bool:
        """Whether earlier SELECTs have left too little for the next."""
        return self._mapped() - self._base > self._most * 3 // 4

    def _mapped(self) -> int:
        return int(os.pread(self._file, 100, 0).split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _open(setup: dict[str, Any], parent: int) -> duckdb.DuckDBPyConnection:
    lockdown.die_with_parent(parent)
    place = _place(setup["path"])
    # Before DuckDB is: a lock holds for the threads that are started after it.
    landlock.restrict([place, f"{place}.wal", *OF_THE_SYSTEM])
    connection = open_file(Path(place), setup["memory"], setup["threads"])
    lock(connection, _views(setup))
    landlock.restrict([])
    return connection


def _views(setup: dict[str, Any]) -> list[View]:
    return [View(*view) for view in setup["views"]]


def _place(path: str) -> str:
    """The path, if the file that the warehouse has open still stands there; else that very file, without a name."""
    held = f"/proc/self/fd/{DATABASE}"
    try:
        same = os.path.samestat(Path(path).stat(), os.fstat(DATABASE))
    except FileNotFoundError:
        return held
    return path if same else held


def _reply(connection: duckdb.DuckDBPyConnection, request: Request, known: Known, memory: Memory) -> None:
    try:
        with closing(connection.cursor()) as cursor:
            rows = answer(cursor, request, known)
    except QueryError as error:
        write(query_wire.pack({"error": str(error), "worn": memory.worn}))
        return
    size = pa.MockOutputStream()
    _write_rows(rows, size)
    header = {"names": rows.names, "kinds": rows.kinds, "truncated": rows.truncated, "worn": memory.worn}
    with open(CHANNEL, "wb", buffering=_BUFFER, closefd=False) as channel:
        channel.write(query_wire.pack(header, size.size()))
        _write_rows(rows, pa.PythonFile(channel, mode="w"))


def _write_rows(rows: Rows, sink: pa.NativeFile) -> None:
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        for batch in rows.batches:
            writer.write_batch(batch)


def write(message: bytes | memoryview) -> None:
    view = memoryview(message)
    while view:
        view = view[os.write(CHANNEL, view) :]
