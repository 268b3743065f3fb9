"""How the DuckDB file behind a warehouse is built from frames; what it holds beside them stands in `isolated/warehouse_file.py`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from finexpert.errors import DataError
from finexpert.storage.whole_files import building
from finexpert.warehouse.isolated.warehouse_file import METADATA_TABLE
from finexpert.warehouse.quoting import literal, quote
from finexpert.warehouse.schema import MAX_CATEGORIES

# What a disk that is full, or may not be written, has DuckDB say: where a commit fails, that it is of a transaction.
UNWRITABLE = (OSError, duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)


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
class StoredView:
    """A view to put into a warehouse, over its tables and the views before it; with `as_of` all that it is made of ends too."""

    name: str
    select: str
    comment: str = ""
    date_column: str | None = None


def build_warehouse(
    path: str | Path, tables: Sequence[Table], *, views: Sequence[StoredView] = (), label: str | None = None
) -> Path:
    """Writes a DuckDB file with these tables and views, whole or not at all; an older file is replaced.

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
    with building(target) as unfinished, duckdb.connect(str(unfinished)) as connection:
        _write(connection, tables, views, label)
    return target


def _check_table(table: Table) -> None:
    named = [*table.column_comments, *table.categories, *([table.date_column] if table.date_column else [])]
    for column in named:
        if column not in table.data.columns:
            raise DataError(
                f'table {table.name} has no column "{column}": it has {", ".join(map(str, table.data.columns))}'
            )


def _write(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[Table], views: Sequence[StoredView], label: str | None
) -> None:
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
    for view in views:
        connection.execute(f"CREATE VIEW {quote(view.name)} AS {view.select}")
        if view.comment:
            connection.execute(f"COMMENT ON VIEW {quote(view.name)} IS {literal(view.comment)}")
        declared[view.name] = {"date_column": view.date_column, "categories": {}}
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
