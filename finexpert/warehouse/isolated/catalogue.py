"""What a DuckDB file says of itself: its tables, its views, and what is left out of it.

    Catalogue(tables=(TableSchema("prices", ...),), label=None, left_out={"bad": "it reads itself"}, selects={}, read_notes={})

It is read where the file is held (`local/holding.py`), which is a locked process where the system allows one; what that process says is checked by type.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import duckdb

from finexpert.errors import DataError
from finexpert.warehouse.isolated.file_views import left_out, selects_of
from finexpert.warehouse.isolated.locked_connection import CATALOG
from finexpert.warehouse.isolated.warehouse_file import METADATA_TABLE, read_schema
from finexpert.warehouse.schema import TableSchema


@dataclass(frozen=True)
class Catalogue:
    """The tables with the reason of each that is left out, what the views select, and notes of how files were read."""

    tables: tuple[TableSchema, ...]
    label: str | None
    left_out: dict[str, str]
    selects: dict[str, str]
    read_notes: dict[str, list[str]]


def read_catalogue(
    connection: duckdb.DuckDBPyConnection, categories: Collection[str], date_columns: Mapping[str, str]
) -> Catalogue:
    """The catalogue of the attached file; DataError where it cannot be read, or where a named column is not in it."""
    try:
        found = left_out(connection, CATALOG, METADATA_TABLE)
        schema = read_schema(connection, CATALOG, categories, date_columns, found)
        selects = selects_of(connection, CATALOG, found)
    except (duckdb.Error, UnicodeError) as error:
        # No word of DuckDB's own, which may quote what stands in the file.
        raise DataError(
            f"its catalogue cannot be read ({type(error).__name__}): it is damaged, or of a newer DuckDB"
        ) from None
    return Catalogue(schema.tables, schema.label, found, selects, schema.read_notes)
