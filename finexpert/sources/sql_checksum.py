"""A hash of what stands in a database: names, types and rows, whatever order the rows come in.

One md5 a row, added up: PostgreSQL and MySQL add them themselves; from SQLite the rows are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import md5, sha256

import sqlalchemy as sa

from finexpert.sources.schema_card import TableSchema
from finexpert.sources.sql_dialects import Place

ROWS = 8_192


def checksum(connection: sa.Connection, tables: Sequence[TableSchema], places: Mapping[str, Place]) -> str:
    """The hash, as hexadecimal text."""
    digest = sha256()
    in_server = connection.dialect.name != "sqlite"
    for table in tables:
        shape = [(column.name, column.type) for column in table.columns]
        found = _in_server(connection, table, places) if in_server else _row_by_row(connection, table, places)
        digest.update(repr((table.name, table.date_column, shape, found)).encode())
    return digest.hexdigest()


def _quoted(connection: sa.Connection, *names: str) -> str:
    return ".".join(connection.dialect.identifier_preparer.quote_identifier(name) for name in names)


def _place(connection: sa.Connection, table: TableSchema, places: Mapping[str, Place]) -> str:
    return _quoted(connection, places[table.name].schema, places[table.name].table)


def _in_server(connection: sa.Connection, table: TableSchema, places: Mapping[str, Place]) -> list[str]:
    names = [_quoted(connection, column.name) for column in table.columns]
    if connection.dialect.name == "postgresql":
        row = ", ".join(f"coalesce(CAST({name} AS TEXT), chr(1))" for name in names)
        number = f"CAST(CAST(CAST('x' || left(md5(concat_ws(chr(31), {row})), 16) AS BIT(64)) AS BIGINT) AS NUMERIC)"
    else:
        row = ", ".join(f"coalesce(CAST({name} AS CHAR), char(1 USING utf8mb4))" for name in names)
        number = f"CAST(conv(left(md5(concat_ws(char(31 USING utf8mb4), {row})), 16), 16, 10) AS DECIMAL(30, 0))"
    select = f"SELECT count(*), sum({number}) FROM {_place(connection, table, places)}"
    return [
        str(value)
        for one in connection.exec_driver_sql(select, execution_options={"no_parameters": True})
        for value in one
    ]


def _row_by_row(connection: sa.Connection, table: TableSchema, places: Mapping[str, Place]) -> list[str]:
    names = ", ".join(_quoted(connection, column.name) for column in table.columns)
    result = connection.exec_driver_sql(
        f"SELECT {names} FROM {_place(connection, table, places)}", execution_options={"no_parameters": True}
    )
    count = total = 0
    for rows in result.partitions(ROWS):
        for row in rows:
            text = "\x1f".join("\x01" if value is None else str(value) for value in row)
            total += int.from_bytes(
                md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()[:8], "big"
            )
            count += 1
    return [str(count), str(total)]
