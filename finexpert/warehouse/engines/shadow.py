"""The empty shadow of a database in DuckDB, on which a SELECT is tried before the database sees it.

    SELECT unrat FROM unemployment   ->   there is no column "unrat" in unemployment; nearest: unrate

It has the tables without rows, so what is wrong with a SELECT is said in the words that a DuckDB file would use, and the
names and types of the result are known before a row is read.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import closing

import duckdb

from finexpert.errors import QueryError
from finexpert.warehouse.frames import check_types
from finexpert.warehouse.isolated.errors import plan_failure
from finexpert.warehouse.local.select_rules import check_select
from finexpert.warehouse.local.warehouse_file import quote
from finexpert.warehouse.schema import TableSchema

MEMORY = "200MB"


class Shadow:
    """The tables of a database, empty.

    >>> from finexpert.warehouse.schema import Column
    >>> Shadow([TableSchema("cpi", "", (Column("date", "DATE"), Column("value", "DOUBLE")))], "").plan("SELECT max(date) AS last FROM cpi")
    (['last'], ['date'])
    """

    def __init__(self, tables: Sequence[TableSchema], card: str) -> None:
        self._columns: Mapping[str, Sequence[str]] = {
            one.name: [column.name for column in one.columns] for one in tables
        }
        self._card = card
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "threads": "1",
            "temp_directory": "",
            "python_enable_replacements": "false",
        }
        settings |= {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        self._connection = duckdb.connect(":memory:", config=settings)
        self._connection.execute("SET TimeZone = 'UTC'")
        for table in tables:
            columns = ", ".join(f"{quote(column.name)} {column.type}" for column in table.columns)
            self._connection.execute(f"CREATE TABLE {quote(table.name)} ({columns})")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self._lock = threading.Lock()

    def plan(self, select: str) -> tuple[list[str], list[str]]:
        """The names and kinds of the columns that the SELECT gives; QueryError says what is wrong with it."""
        with self._lock:
            cursor = self._connection.cursor()
        with closing(cursor):
            used = check_select(select, cursor, self._columns)
            try:
                relation = cursor.sql(select)
            except duckdb.Error as error:
                raise QueryError(plan_failure(error, select, used, self._columns, self._card)) from None
            names, kinds = list(relation.columns), [str(kind.id) for kind in relation.types]
            check_types(names, kinds)
            return names, kinds

    def close(self) -> None:
        self._connection.close()
