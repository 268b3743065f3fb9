"""How many rows a table has about, by what the engine knows without reading it.

    pg_class.reltuples      information_schema.tables.table_rows      the last rowid of SQLite      what `kinds.py` asks others

No table is counted. One of PostgreSQL that was never analysed is taken to have as many rows as fit into its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from finexpert.warehouse.engines.kinds import kind_of

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
