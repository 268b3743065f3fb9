"""The process that reads files, seen from its parent; what it sends is trusted in nothing.

    for part in read_locked(sources, memory_mb=2048):
        part.table, part.rows

Where no process can be locked in, the files are read in this one, through a connection that reaches no others.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from finexpert.errors import DataError
from finexpert.isolation import wire
from finexpert.isolation.arrow import GateError
from finexpert.isolation.guests.reading import denials, guest
from finexpert.isolation.guests.zygote import START_SECONDS, problem
from finexpert.warehouse.files.found import Source
from finexpert.warehouse.files.reading import connect, refusal, tables
from finexpert.warehouse.files.table_read import BATCH_ROWS
from finexpert.warehouse.isolated import SELECTS
from finexpert.warehouse.isolated.gate import open_rows

# A part of a table is at most so many rows and bytes; between two parts lies a pass over the whole file.
_PART_BYTES = 1 << 30
_PART_SECONDS = 900.0
# A small file has no reason to take as long: one that does was made to.
_LEAST_SECONDS, _SECONDS_PER_MB = 60.0, 10.0


@dataclass(frozen=True)
class Part:
    """Some rows of a table, with what is known of it; the first part of a table has none, and says its columns."""

    table: str
    comment: str
    comments: Mapping[str, str]
    notes: Sequence[str]
    rows: pa.Table


def read(sources: Sequence[Source], *, memory_mb: int) -> Iterator[Part]:
    """The tables of the files in parts. DataError names a file that cannot be read, and the line."""
    return _read_locked(sources, memory_mb) if problem() is None else _read_here(sources, memory_mb)


def _read_here(sources: Sequence[Source], memory_mb: int) -> Iterator[Part]:
    with connect(sources, f"{memory_mb}MB") as connection:
        for table in tables(connection, sources):
            said = (table.name, table.comment, table.comments, table.notes)
            try:
                reader = table.rows(connection)
                yield Part(*said, pa.Table.from_batches([], reader.schema))
                for batch in reader:
                    yield Part(*said, pa.Table.from_batches([batch]))
            except (duckdb.Error, pa.ArrowException) as error:
                raise refusal(table.path, error) from None


def _read_locked(sources: Sequence[Source], memory_mb: int) -> Iterator[Part]:
    with contextlib.ExitStack() as stack:
        try:
            channel = stack.enter_context(guest(SELECTS, sources[0].path))
        except OSError as error:
            raise DataError(f"{sources[0].path} cannot be read: {error.strerror}") from None
        yield from _parts_of(channel, sources, memory_mb)


def _parts_of(channel: socket.socket, sources: Sequence[Source], memory_mb: int) -> Iterator[Part]:
    try:
        yield from _parts(channel, sources, memory_mb)
    except TimeoutError:
        raise DataError(
            f"{sources[0].path.parent}: reading took longer than {_seconds_of(sources):,.0f} seconds, which is more than files of this size need"
        ) from None
    except (EOFError, OSError, wire.WireError, GateError) as error:
        raise DataError(
            f"{sources[0].path.parent}: the process that reads the files broke ({type(error).__name__}), or needs more memory"
            " than FINEXPERT_SQL_MEMORY_MB allows"
        ) from None


def _parts(channel: socket.socket, sources: Sequence[Source], memory_mb: int) -> Iterator[Part]:
    setup = {
        "files": [[[str(path) for path in source.paths], source.kind, source.table] for source in sources],
        "memory": f"{memory_mb * 3 // 4}MB",
        "bytes": memory_mb << 20,
    }
    deadline = time.monotonic() + START_SECONDS
    wire.send(channel, wire.pack(setup), deadline)
    header, _ = wire.receive(channel, deadline, 0)
    if "failed" in header:
        raise DataError(str(header["failed"])[:2_000])
    denials(header, "no file can be read")
    seconds = _seconds_of(sources)
    while True:
        header, body = wire.receive(channel, time.monotonic() + seconds, _PART_BYTES)
        if "failed" in header:
            raise DataError(str(header["failed"])[:2_000])
        if header.get("end") is True:
            return
        yield _part(header, body)


def _seconds_of(sources: Sequence[Source]) -> float:
    """How long a part may take, by the size of the files."""
    size = sum(path.stat().st_size for source in sources for path in source.paths)
    return min(_PART_SECONDS, _LEAST_SECONDS + _SECONDS_PER_MB * size / (1 << 20))


def _part(header: dict[str, Any], body: bytearray) -> Part:
    rows = open_rows(header, body, BATCH_ROWS)
    comments, notes = header.get("comments"), header.get("notes")
    if not isinstance(comments, dict) or not isinstance(notes, list):
        raise GateError("a table without comments")
    table = pa.Table.from_batches(rows.batches, rows.schema).rename_columns(rows.names)
    return Part(
        str(header.get("table")),
        str(header.get("comment")),
        {str(name): str(said) for name, said in comments.items()},
        [str(note) for note in notes],
        table,
    )
