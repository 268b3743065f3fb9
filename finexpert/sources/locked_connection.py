"""A connection to one DuckDB file that can reach nothing else.

    memory.main.cpi             a view, all that a SELECT can name
    finexpert_attached_file     the file itself, attached read-only

The view of a table with a date column ends at the variable `finexpert_as_of`, which every query sets for its own cursor, or leaves unset.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import duckdb

from finexpert.errors import ConfigurationError, DataError
from finexpert.sources.schema_card import TableSchema
from finexpert.sources.warehouse_file import FileSchema, literal, quote, read_schema

CATALOG = "finexpert_attached_file"
AS_OF = "finexpert_as_of"


def open_locked(
    path: Path, memory: str, threads: int, categories: Collection[str], date_columns: Mapping[str, str] | None
) -> tuple[duckdb.DuckDBPyConnection, FileSchema]:
    """The connection, locked, with a view for every table; and what the file says of its tables."""
    connection = _open(path, memory, threads)
    try:
        schema = read_schema(connection, CATALOG, categories, date_columns)
        _add_views(connection, schema.tables)
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection, schema


def view(table: str) -> str:
    """The name of a table's view, as SQL.

    >>> view("cpi"), view("staging.cpi")
    ('memory."main"."cpi"', 'memory."staging"."cpi"')
    """
    return _place("memory", table)


def python_source(path: Path, tables: Sequence[TableSchema], as_of: dt.date) -> str:
    """Plain Python that defines `query(select)`: the tables of the file as they stood on a day, as pandas frames."""
    schemas = sorted({table.name.rpartition(".")[0] for table in tables} - {""})
    lines = [f"connection.execute({'CREATE SCHEMA ' + quote(schema)!r})" for schema in schemas]
    for table in tables:
        limit = f" WHERE {quote(table.date_column)} <= DATE '{as_of}'" if table.date_column else ""
        source = _place("warehouse", table.name)
        name = _place("memory", table.name)
        lines.append(f"connection.execute({f'CREATE VIEW {name} AS SELECT * FROM {source}{limit}'!r})")
    return _PYTHON_SOURCE.format(attach=f"ATTACH {literal(str(path))} AS warehouse (READ_ONLY)", views="\n".join(lines))


_PYTHON_SOURCE = """import duckdb

connection = duckdb.connect()
connection.execute({attach!r})
{views}


def query(select: str) -> pd.DataFrame:
    return connection.execute(select).df()
"""


def checksum(cursor: duckdb.DuckDBPyConnection, tables: Sequence[TableSchema]) -> str:
    """A hash of names, types and rows: one md5 a row, added up, so neither the order of rows nor DuckDB's version matters."""
    digest = sha256()
    for table in tables:
        row = ", ".join(f"coalesce(CAST({quote(column.name)} AS VARCHAR), chr(0))" for column in table.columns)
        found = cursor.execute(
            f"SELECT count(*), sum(CAST(md5_number_lower(concat_ws(chr(31), {row})) AS HUGEINT))"
            f" FROM {_place(CATALOG, table.name)}"
        ).fetchall()
        shape = [(column.name, column.type) for column in table.columns]
        digest.update(repr((table.name, table.date_column, shape, found)).encode())
    return digest.hexdigest()


def _open(path: Path, memory: str, threads: int) -> duckdb.DuckDBPyConnection:
    if not path.is_file():
        raise DataError(f"there is no warehouse at {path}: build it with `finexpert data fred`")
    # No temporary folder: a query that outgrows its memory fails, and writes nothing anywhere.
    settings = {"memory_limit": memory, "threads": str(threads), "temp_directory": ""}
    settings |= {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    # No threads that nobody counts: a process that locks itself in has one.
    settings |= {"async_threads": "0"}
    try:
        connection = duckdb.connect(":memory:", config={**settings, "python_enable_replacements": "false"})
    except duckdb.Error as error:
        raise ConfigurationError(f"memory={memory!r}, threads={threads!r} is not accepted: {error}") from error
    try:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"ATTACH {literal(str(path))} AS {CATALOG} (READ_ONLY, TYPE duckdb)")
    except duckdb.Error as error:
        connection.close()
        if "lock" in str(error).lower():
            raise DataError(f"{path} is being written by another program: try again when it is done") from error
        raise DataError(f"{path} cannot be read as a DuckDB file: build it with `finexpert data fred`") from error
    return connection


def _add_views(connection: duckdb.DuckDBPyConnection, tables: Sequence[TableSchema]) -> None:
    for table in tables:
        limit = ""
        if table.date_column is not None:
            day = f"CAST({quote(table.date_column)} AS DATE)"
            limit = f" WHERE getvariable('{AS_OF}') IS NULL OR {day} <= getvariable('{AS_OF}')"
        schema = table.name.rpartition(".")[0]
        if schema:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS memory.{quote(schema)}")
        connection.execute(f"CREATE VIEW {view(table.name)} AS SELECT * FROM {_place(CATALOG, table.name)}{limit}")


def _place(catalog: str, table: str) -> str:
    schema, _, name = table.rpartition(".")
    return f"{catalog}.{quote(schema or 'main')}.{quote(name)}"
