"""What the process that reads files does: lock itself in, read one file after the other, send the rows.

    {"files": [[["/data/trades.csv"], "csv", "trades"]], ...}   ->   {"table": "trades", "names": [...], ...}, rows; ...; {"end": true}

It can open the named files and nothing else, write nothing, reach no network, and take no more memory than it was given: what stands
in a file is a stranger's.
"""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from finexpert.errors import ConfigurationError, DataError
from finexpert.isolation import landlock, lockdown, wire
from finexpert.isolation.guests.inside import OF_THE_SYSTEM, Memory, write
from finexpert.warehouse.files.found import Source
from finexpert.warehouse.files.reading import connect, refusal, tables
from finexpert.warehouse.files.sheets import excel
from finexpert.warehouse.files.table_read import Read

# Those of files of texts, and of the names within a workbook.
_ENCODINGS = (
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "utf-32-le",
    "utf-32-be",
    "latin-1",
    "cp1252",
    "cp437",
)


def read_files(setup: dict[str, Any], parent: int) -> None:
    """Send the tables of the files, then end."""
    sources = [
        Source(Path(first), kind, table, tuple(map(Path, rest))) for (first, *rest), kind, table in setup["files"]
    ]
    memory = Memory()
    try:
        lockdown.die_with_parent(parent)
        _import_all(sources)
        landlock.restrict([*(str(path) for source in sources for path in source.paths), *OF_THE_SYSTEM])
        connection = connect(sources, setup["memory"])
        lockdown.drop_capabilities()
        memory.limit(parent, setup["bytes"])
        write(wire.pack({"denied": lockdown.prove()}))
        for table in tables(connection, sources):
            _send(connection, table)
    except (DataError, ConfigurationError, lockdown.NotLocked, OSError) as error:
        write(wire.pack({"failed": str(error)}))
        return
    except MemoryError:
        write(wire.pack({"failed": "the files take more memory than FINEXPERT_SQL_MEMORY_MB allows"}))
        return
    write(wire.pack({"end": True}))


def _import_all(sources: list[Source]) -> None:
    """What Python would load later from files that are then out of reach."""
    for name in _ENCODINGS:
        codecs.lookup(name)
    if any(source.kind == "excel" for source in sources):
        excel.check_installed()
        with duckdb.connect(":memory:", config={"threads": "1", "async_threads": "0"}) as connection:
            connection.register("first", pa.table({"c0": pa.array(["x"], pa.string())}))
            connection.sql("SELECT * FROM first").to_arrow_reader(1).read_all()


def _send(connection: duckdb.DuckDBPyConnection, table: Read) -> None:
    header = {"table": table.name, "comment": table.comment, "comments": table.comments, "notes": table.notes}
    relation = connection.sql(table.select)
    header |= {"names": list(relation.columns), "kinds": [str(kind.id) for kind in relation.types]}
    try:
        reader = table.rows(connection)
        _send_rows(header, reader.schema)
        for batch in reader:
            _send_rows(header, reader.schema, batch)
    except (duckdb.Error, pa.ArrowException) as error:
        raise refusal(table.path, error) from None


def _send_rows(header: dict[str, Any], schema: pa.Schema, batch: pa.RecordBatch | None = None) -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        if batch is not None:
            writer.write_batch(batch)
    body = sink.getvalue()
    write(wire.head(header, body.size))
    write(memoryview(body))
