"""The DuckDB file behind a warehouse: how it is built and how its schema is read.

A file that `build_warehouse` wrote holds one more table, `_finexpert(key, value)`, with one row of JSON, which no SELECT can reach:

    {"label": null, "tables": {"cpi": {"date_column": "date", "categories": {"cpi_index": ["CPI", "Core CPI"]}}}}

Comments are DuckDB's own COMMENT ON. Any other DuckDB file works too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from finexpert.errors import DataError
from finexpert.warehouse.profile import date_of
from finexpert.warehouse.schema import Column, ForeignKey, TableSchema
from finexpert.warehouse.schema_card import MAX_CATEGORIES

METADATA_TABLE = "_finexpert"
_MOST_METADATA = 16 << 20
_IS_TABLE = (
    "SELECT 1 FROM duckdb_tables() WHERE database_name = ? AND schema_name = 'main' AND table_name = ? AND NOT internal"
)


@dataclass(frozen=True)
class Table:
    """A table to put into a warehouse; units and frequencies belong into `column_comments`."""

    name: str
    data: pd.DataFrame
    comment: str = ""
    column_comments: Mapping[str, str] = field(default_factory=dict)
    categories: Collection[str] = ()
    date_column: str | None = None


@dataclass(frozen=True)
class FileSchema:
    """What a file holds: its tables and its label."""

    tables: tuple[TableSchema, ...]
    label: str | None


class Declared(BaseModel):
    """What a file says of one of its tables."""

    date_column: str | None = None
    categories: dict[str, list[str]] = {}


class _Metadata(BaseModel):
    label: str | None = None
    tables: dict[str, Declared] = {}


def build_warehouse(path: str | Path, tables: Sequence[Table], *, label: str | None = None) -> Path:
    """Writes a DuckDB file with these tables, whole or not at all; an older file is replaced.

    >>> import tempfile
    >>> rates = Table("rates", pd.DataFrame({"date": pd.to_datetime(["2024-01-02"]), "dff": [5.33]}), date_column="date")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     build_warehouse(Path(folder) / "small.duckdb", [rates], label="made up").name
    'small.duckdb'
    """
    target = Path(path)
    for table in tables:
        _check_table(table)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    leftovers = (unfinished, unfinished.with_name(unfinished.name + ".wal"))
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
    try:
        with duckdb.connect(str(unfinished)) as connection:
            _write(connection, tables, label)
        unfinished.replace(target)
    finally:
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)
    return target


def read_schema(
    connection: duckdb.DuckDBPyConnection,
    catalog: str,
    categories: Collection[str] = (),
    date_columns: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> FileSchema:
    """The tables of an attached file but those `without`; `categories` ("table.column") and `date_columns` add to what the file declares."""
    label, declared = _metadata(connection, catalog)
    grouped: dict[str, list[tuple[Any, ...]]] = {}
    for row in connection.execute(_COLUMNS, [catalog, METADATA_TABLE]).fetchall():
        if (name := table_name(row[0], row[1])) not in without:
            grouped.setdefault(name, []).append(row)
    _check_declared(grouped, categories, date_columns or {})
    keys = _keys(connection, catalog)
    tables = []
    for name, columns in grouped.items():
        known = declared.get(name, Declared())
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
        made = replace(made, date=date_of(made, named) if named else None, timeless=name in declared and not named)
        tables.append(made)
    return FileSchema(tuple(tables), label)


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


def quote(name: str) -> str:
    """A name as an SQL identifier.

    >>> print(quote('first "b" col'))
    "first ""b"" col"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL literal.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def _check_table(table: Table) -> None:
    named = [*table.column_comments, *table.categories, *([table.date_column] if table.date_column else [])]
    for column in named:
        if column not in table.data.columns:
            raise DataError(
                f'table {table.name} has no column "{column}": it has {", ".join(map(str, table.data.columns))}'
            )


def _write(connection: duckdb.DuckDBPyConnection, tables: Sequence[Table], label: str | None) -> None:
    connection.execute("SET python_enable_replacements = false")
    declared: dict[str, Any] = {}
    for table in tables:
        rows = pa.Table.from_pandas(table.data, preserve_index=False)
        connection.register("incoming_rows", rows)
        columns = ", ".join(_selected(name, table.data[name]) for name in table.data.columns)
        connection.execute(f"CREATE TABLE {quote(table.name)} AS SELECT {columns} FROM incoming_rows")
        connection.unregister("incoming_rows")
        if table.comment:
            connection.execute(f"COMMENT ON TABLE {quote(table.name)} IS {literal(table.comment)}")
        for column, comment in table.column_comments.items():
            connection.execute(f"COMMENT ON COLUMN {quote(table.name)}.{quote(column)} IS {literal(comment)}")
        categories = {
            name: sorted({str(value) for value in table.data[name].dropna()})[: MAX_CATEGORIES + 1]
            for name in table.categories
        }
        declared[table.name] = {"date_column": table.date_column, "categories": categories}
    connection.execute(f"CREATE TABLE {METADATA_TABLE} (key VARCHAR, value VARCHAR)")
    content = json.dumps({"label": label, "tables": declared}, sort_keys=True)
    connection.execute(f"INSERT INTO {METADATA_TABLE} VALUES ('metadata', ?)", [content])


def _selected(name: str, column: pd.Series[Any]) -> str:
    """Dates come from pandas as timestamps: those at midnight throughout are stored as dates."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return f"CAST({quote(name)} AS VARCHAR) AS {quote(name)}"
    if pd.api.types.is_datetime64_dtype(column.dtype) and bool(
        (column.dropna() == column.dropna().dt.normalize()).all()
    ):
        return f"CAST({quote(name)} AS DATE) AS {quote(name)}"
    return quote(name)


def _metadata(connection: duckdb.DuckDBPyConnection, catalog: str) -> tuple[str | None, dict[str, Declared]]:
    """The label and what the file declares of its tables; of a file that was not written here nothing."""
    # A view of that name may read anything.
    if not connection.execute(_IS_TABLE, [catalog, METADATA_TABLE]).fetchall():
        return None, {}
    try:
        row = connection.execute(
            f"SELECT value FROM {quote(catalog)}.main.{METADATA_TABLE} WHERE strlen(value) <= {_MOST_METADATA} LIMIT 1"
        ).fetchone()
        kept = _Metadata.model_validate_json(row[0]) if row else _Metadata()
    except (duckdb.Error, ValidationError):
        return None, {}
    return kept.label, kept.tables


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
