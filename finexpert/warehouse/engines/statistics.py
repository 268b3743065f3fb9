"""What an engine's catalogue knows of tables beside their columns: about how many rows, and which a user may read.

    pg_class.reltuples      information_schema.tables.table_rows      the last rowid of SQLite      what `kinds.py` asks others

No table is counted. One of PostgreSQL that was never analysed is taken to have as many rows as fit into its size. Other engines than
PostgreSQL list what their user may read, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from finexpert.errors import DataError
from finexpert.warehouse.engines.kinds import kind_of

_NAMED = 5  # tables that are named as left out

_ON_POSTGRES = """
SELECT c.relname, CASE WHEN c.relkind = 'p' THEN (SELECT sum(greatest(p.reltuples, 0)) FROM pg_catalog.pg_inherits AS i
    JOIN pg_catalog.pg_class AS p ON p.oid = i.inhrelid WHERE i.inhparent = c.oid)
  WHEN c.reltuples >= 0 THEN c.reltuples
  ELSE pg_catalog.pg_relation_size(c.oid) / 40 END
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = :schema AND c.relkind IN ('r', 'p', 'm')
"""
_ON_MYSQL = """
SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = :schema AND table_type = 'BASE TABLE'
"""

# The partitions of a table are in it; a column alone may be granted.
_READABLE = """
SELECT c.relname, a.attname, c.relispartition,
  has_schema_privilege(n.oid, 'USAGE') AND (has_table_privilege(c.oid, 'SELECT') OR has_column_privilege(c.oid, a.attnum, 'SELECT'))
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = :schema AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""

_OPEN_SCHEMAS = """
SELECT DISTINCT n.nspname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND left(n.nspname, 3) <> 'pg_' AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
ORDER BY n.nspname
"""


_BY_DIALECT = {"postgres": _ON_POSTGRES, "mysql": _ON_MYSQL}


def estimates(connection: sa.Connection, schema: str, tables: Sequence[str], dialect: str) -> dict[str, int]:
    """By table, about how many rows it has, where the engine knows."""
    if dialect == "sqlite":
        found = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars().all()
        plain = [name for name in tables if name in set(found)]
        return {name: rows for name in plain if (rows := _in_sqlite(connection, schema, name)) is not None}
    counts = _BY_DIALECT.get(dialect) or kind_of(connection.engine).counts
    if not counts:
        return {}
    try:
        return _known(connection.execute(sa.text(counts), {"schema": schema}))
    except sa.exc.DBAPIError:
        # Statistics are not everybody's to read, and nothing is wrong without them.
        if dialect in _BY_DIALECT:
            raise
        return {}


@dataclass(frozen=True)
class Readable:
    """Of a schema of PostgreSQL the columns that the user may read, by table, and the tables that are partitions of others."""

    columns: dict[str, set[str]]
    parts: set[str]

    def open(self, schema: str) -> tuple[set[str] | None, dict[str, str]]:
        """The tables that are read where none is named, and why others are not; DataError where the user may read none."""
        closed = sorted(name for name, columns in self.columns.items() if not columns and name not in self.parts)
        opened = {name for name, columns in self.columns.items() if columns and name not in self.parts}
        if closed and not opened:
            raise DataError(
                f"the database user may read none of the {len(closed)} tables of the schema {schema}: grant SELECT on some"
            )
        more = f", ... ({len(closed)} tables)" if len(closed) > _NAMED else ""
        said = f"{schema}: {', '.join(closed[:_NAMED])}{more}"
        return opened or None, {said: "the database user may not read it"} if closed else {}


def open_schemas(connection: sa.Connection) -> list[str]:
    """The schemas of PostgreSQL in which the user may read a table."""
    return [str(name) for name in connection.execute(sa.text(_OPEN_SCHEMAS)).scalars()]


def readable(connection: sa.Connection, schema: str) -> Readable:
    """What the user may read of a schema of PostgreSQL."""
    found: dict[str, set[str]] = {}
    parts = set()
    for table, column, is_part, may in connection.execute(sa.text(_READABLE), {"schema": schema}):
        found.setdefault(str(table), set()).update([str(column)] if may else [])
        parts |= {str(table)} if is_part else set()
    return Readable(found, parts)


def _known(rows: Iterable[Sequence[Any]]) -> dict[str, int]:
    return {str(name): int(count) for name, count in rows if count is not None}


def _in_sqlite(connection: sa.Connection, schema: str, table: str) -> int | None:
    """The last rowid, which is found at once and is no less than the rows; None where there is no rowid."""
    quoted = connection.dialect.identifier_preparer.quote_identifier
    columns = connection.exec_driver_sql(f"PRAGMA {quoted(schema)}.table_xinfo({quoted(table)})").all()
    if "_rowid_" in {str(column[1]).lower() for column in columns}:
        # A column of that name hides the number of the row, and its greatest value is a cell.
        return None
    try:
        last = connection.exec_driver_sql(f"SELECT max(_rowid_) FROM {quoted(schema)}.{quoted(table)}").scalar()
    except sa.exc.DBAPIError:
        return None
    return max(int(last), 0) if isinstance(last, int) else None
