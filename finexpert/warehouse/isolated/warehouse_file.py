"""The DuckDB file behind a warehouse: how its schema is read.

A file that `build_warehouse` (`local/building.py`) wrote holds one more table, `_finexpert(key, value)`, with one row of JSON, which no SELECT can reach:

    {"label": null, "tables": {"cpi": {"date_column": "date", "categories": {"cpi_index": ["CPI", "Core CPI"]}}}}

Comments are DuckDB's own COMMENT ON. Any other DuckDB file works too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
from pydantic import BaseModel, ValidationError

from finexpert.errors import DataError
from finexpert.warehouse.profile import date_of
from finexpert.warehouse.quoting import quote
from finexpert.warehouse.schema import MAX_CATEGORIES, Column, ForeignKey, TableSchema

METADATA_TABLE = "_finexpert"
_MOST_METADATA = 16 << 20
_IS_TABLE = (
    "SELECT 1 FROM duckdb_tables() WHERE database_name = ? AND schema_name = 'main' AND table_name = ? AND NOT internal"
)


@dataclass(frozen=True)
class FileSchema:
    """What a file holds: its tables, its label, and notes of how its tables were read from files."""

    tables: tuple[TableSchema, ...]
    label: str | None
    read_notes: dict[str, list[str]]


class Declared(BaseModel):
    """What a file says of one of its tables."""

    date_column: str | None = None
    categories: dict[str, list[str]] = {}


class _Metadata(BaseModel):
    label: str | None = None
    tables: dict[str, Declared] = {}
    notes: dict[str, list[str]] = {}


def read_schema(
    connection: duckdb.DuckDBPyConnection,
    catalog: str,
    categories: Collection[str] = (),
    date_columns: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> FileSchema:
    """The tables of an attached file but those `without`; `categories` ("table.column") and `date_columns` add to what the file declares."""
    declared = _metadata(connection, catalog)
    grouped: dict[str, list[tuple[Any, ...]]] = {}
    for row in connection.execute(_COLUMNS, [catalog, METADATA_TABLE]).fetchall():
        if (name := table_name(row[0], row[1])) not in without:
            grouped.setdefault(name, []).append(row)
    _check_declared(grouped, categories, date_columns or {})
    keys = _keys(connection, catalog)
    tables = []
    for name, columns in grouped.items():
        known = declared.tables.get(name, Declared())
        listed = dict(known.categories)
        for _, _, column, *_ in columns:
            if f"{name}.{column}" in categories:
                listed[column] = _distinct(connection, catalog, columns[0][:2], column)
        made = TableSchema(
            name,
            columns[0][5] or "",
            tuple(_column(row, listed) for row in columns),
            rows=columns[0][6],
            **keys.get(name, {}),
        )
        named = (date_columns or {}).get(name) or known.date_column
        made = replace(
            made, date=date_of(made, named) if named else None, timeless=name in declared.tables and not named
        )
        tables.append(made)
    return FileSchema(tuple(tables), declared.label, declared.notes)


_COLUMNS = (
    "SELECT c.schema_name, c.table_name, c.column_name, c.data_type, c.comment, coalesce(t.comment, v.comment), t.estimated_size"
    " FROM duckdb_columns() AS c LEFT JOIN duckdb_tables() AS t USING (database_name, schema_name, table_name)"
    " LEFT JOIN duckdb_views() AS v ON v.database_name = c.database_name AND v.schema_name = c.schema_name"
    " AND v.view_name = c.table_name WHERE c.database_name = ? AND NOT c.internal AND c.table_name <> ?"
    " ORDER BY c.schema_name <> 'main', c.schema_name, c.table_name, c.column_index"
)
_CONSTRAINTS = (
    "SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names"
    " FROM duckdb_constraints() WHERE database_name = ? AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')"
    " ORDER BY constraint_index"
)


def table_name(schema: str, table: str) -> str:
    """How a table is called here: with its schema, where that is not the main one."""
    return table if schema == "main" else f"{schema}.{table}"


def _keys(connection: duckdb.DuckDBPyConnection, catalog: str) -> dict[str, dict[str, Any]]:
    """By table, what its constraints say, as fields of a TableSchema."""
    found: dict[str, dict[str, Any]] = {}
    for schema, table, kind, columns, other, referred in connection.execute(_CONSTRAINTS, [catalog]).fetchall():
        own = found.setdefault(table_name(schema, table), {})
        if kind == "PRIMARY KEY":
            own["primary_key"] = tuple(columns)
        elif kind == "UNIQUE":
            own["unique"] = (*own.get("unique", ()), tuple(columns))
        else:
            # DuckDB allows a key into the same schema alone.
            key = ForeignKey(tuple(columns), table_name(schema, other), tuple(referred))
            own["foreign_keys"] = (*own.get("foreign_keys", ()), key)
    return found


def _metadata(connection: duckdb.DuckDBPyConnection, catalog: str) -> _Metadata:
    """The label and what the file declares of its tables; of a file that was not written here nothing."""
    # A view of that name may read anything.
    if not connection.execute(_IS_TABLE, [catalog, METADATA_TABLE]).fetchall():
        return _Metadata()
    try:
        row = connection.execute(
            f"SELECT value FROM {quote(catalog)}.main.{METADATA_TABLE} WHERE strlen(value) <= {_MOST_METADATA} LIMIT 1"
        ).fetchone()
        return _Metadata.model_validate_json(row[0]) if row else _Metadata()
    except (duckdb.Error, ValidationError):
        return _Metadata()


def _check_declared(
    grouped: Mapping[str, list[tuple[Any, ...]]], categories: Collection[str], date_columns: Mapping[str, str]
) -> None:
    known = {f"{name}.{row[2]}" for name, rows in grouped.items() for row in rows}
    for name in [*categories, *(f"{table}.{column}" for table, column in date_columns.items())]:
        if name not in known:
            raise DataError(
                f'"{name}" is no column of this warehouse: write table.column, as in {min(known, default="-")}'
            )


def _distinct(connection: duckdb.DuckDBPyConnection, catalog: str, table: Sequence[str], column: str) -> list[str]:
    place = ".".join(quote(part) for part in (catalog, *table))
    rows = connection.execute(
        f"SELECT DISTINCT CAST({quote(column)} AS VARCHAR) AS value FROM {place} WHERE {quote(column)} IS NOT NULL"
        f" ORDER BY value LIMIT {MAX_CATEGORIES + 1}"
    ).fetchall()
    return [row[0] for row in rows]


def _column(row: tuple[Any, ...], listed: Mapping[str, Sequence[str]]) -> Column:
    values = listed.get(row[2])
    shown = None if values is None else tuple(values[:MAX_CATEGORIES])
    return Column(row[2], row[3], row[4] or "", shown, values is not None and len(values) > MAX_CATEGORIES)
