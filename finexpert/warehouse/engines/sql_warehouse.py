"""A database behind a URL as a warehouse: PostgreSQL, MySQL, MariaDB and SQLite.

    with SQLWarehouse("postgresql+psycopg://desk@db/markets", schema="macro") as warehouse:
        warehouse.query("SELECT date, unrate FROM unemployment ORDER BY date", as_of=dt.date(2024, 9, 30))

SELECTs come in DuckDB SQL, whatever the database: they are tried on an empty copy of the tables, translated, led to the rows up to
`as_of`, checked once more, and run in a read-only transaction with a time limit. A SELECT without ORDER BY may give its
rows in another order each time. SQLite has dates as text in ISO form, and fewer functions: what it lacks is refused.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import pandas as pd
import sqlalchemy as sa
import sqlalchemy.exc

from finexpert.errors import DataError, QueryError
from finexpert.warehouse.deadline import run_within
from finexpert.warehouse.engines.connections import engine_of, interrupter, place_of, reading, without_schema
from finexpert.warehouse.engines.dialects import Translator
from finexpert.warehouse.engines.export import python_source
from finexpert.warehouse.engines.reflection import Declared, reflect
from finexpert.warehouse.engines.rows import failure, fetch
from finexpert.warehouse.engines.shadow import Shadow
from finexpert.warehouse.engines.sizes import Counted, counted
from finexpert.warehouse.frames import Frame
from finexpert.warehouse.isolated.errors import took_too_long
from finexpert.warehouse.local.warehouse_file import quote
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.schema_card import MAX_CATEGORIES, describe_schema
from finexpert.warehouse.semantic_model.metrics import Metric
from finexpert.warehouse.table_selection import card_of, tables_for
from finexpert.warehouse.warehouse import SAMPLE_ROWS, Privacy


class SQLWarehouse:
    """A schema of a database, read-only.

    `tables` narrows it to some tables and views. `categories` ("table.column") have their values read from the rows, beside those
    that enum types and CHECK constraints declare; `date_columns` (table to column, or None for none) and `comments` ("table" or
    "table.column") add to what the database says. With `dialect="native"` a SELECT is written in the database's own SQL.
    The schema may stand in the address too, as `?schema=macro`. The address is never shown: it may hold a password.
    """

    metrics: Sequence[Metric] = ()

    def __init__(
        self,
        url: str,
        *,
        schema: str | None = None,
        tables: Collection[str] | None = None,
        dialect: Literal["duckdb", "native"] = "duckdb",
        label: str | None = None,
        row_cap: int = 200_000,
        seconds: float = 10.0,
        categories: Collection[str] = (),
        date_columns: Mapping[str, str | None] | None = None,
        comments: Mapping[str, str] | None = None,
    ) -> None:
        url, named = without_schema(url)
        schema = schema or named
        self._engine, self.dialect = engine_of(url)
        self.name = Path(sa.make_url(url).database or self.dialect).stem
        self.label, self.row_cap, self.seconds = label, row_cap, seconds
        self._closed = False
        try:
            with reading(self._engine, (), None) as connection:
                values = {name: self._distinct(connection, schema, name) for name in categories}
                declared = Declared(comments or {}, date_columns or {}, values)
                self._tables, self._places = reflect(connection, schema, tables, declared, self.dialect)
        except (sa.exc.SQLAlchemyError, DataError) as error:
            self._engine.dispose()
            if isinstance(error, DataError):
                raise
            reason = failure(error, "", (), seconds, place_of(self._engine))
            raise DataError(f"the schema of {self.name} cannot be read: {reason}") from None
        self._card = describe_schema(self._tables)
        native = dialect == "native"
        self._shadow = None if native else Shadow(self._tables, self._card)
        self._translator = Translator(self.dialect, self._tables, self._places, self.dialect if native else "duckdb")

    def schema_card(self, privacy: Privacy = "schema", question: str = "") -> str:
        tables = tables_for(question, self._tables)
        if privacy == "schema":
            return self._card if len(tables) == len(self._tables) else card_of(tables, len(self._tables))
        samples = {}
        for table in tables:
            shown = ", ".join(quote(column.name) for column in table.columns)
            samples[table.name] = self.query(f"SELECT {shown} FROM {quote(table.name)} LIMIT {SAMPLE_ROWS}").data
        return card_of(tables, len(self._tables), samples)

    @property
    def tables(self) -> Sequence[TableSchema]:
        return self._tables

    def query(
        self, select: str, *, as_of: dt.date | None = None, declared_only: bool = False, seconds: float | None = None
    ) -> Frame:
        if self._closed:
            raise DataError(f"the warehouse {self.name} is closed: open it again")
        started = time.perf_counter()
        stop: list[Callable[[], None]] = []
        least = self.seconds if seconds is None else min(seconds, self.seconds)
        try:
            work = partial(self._answer, select, as_of, stop)
            data, truncated = run_within(least, work, partial(_stop_all, stop))
        except TimeoutError:
            raise QueryError(took_too_long(least)) from None
        return Frame(data, truncated, select, time.perf_counter() - started)

    def snapshot(self) -> str | None:
        """Nothing tells one state of a server's tables from the next without reading them."""
        return None

    def columns(self) -> Mapping[str, Sequence[str]]:
        return {table.name: tuple(column.name for column in table.columns) for table in self._tables}

    def python_source(self, as_of: dt.date | None, *, declared_only: bool = False) -> str:
        return python_source(self._engine, self._tables, self._places, as_of)

    def close(self) -> None:
        self._closed = True
        if self._shadow is not None:
            self._shadow.close()
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, select: str, as_of: dt.date | None, stop: list[Callable[[], None]]) -> tuple[pd.DataFrame, bool]:
        planned = self._shadow.plan(select) if self._shadow is not None else None
        sql = self._translator.translate(select, as_of)
        try:
            with reading(self._engine, [one.table for one in self._places.values()], self.seconds) as connection:
                stop.append(interrupter(connection))
                connection = connection.execution_options(no_parameters=True)
                if self.dialect == "mysql":
                    from finexpert.warehouse.engines.mysql_connection import rows_of

                    with rows_of(connection, sql, self.row_cap) as rows:
                        return fetch(rows, planned, self.row_cap)
                sent, last = counted(connection, sql) if self.dialect == "postgres" else (sql, False)
                with connection.execution_options(stream_results=True).exec_driver_sql(sent) as result:
                    return fetch(Counted(result) if last else result, planned, self.row_cap)
        except sa.exc.SQLAlchemyError as error:
            raise failure(error, select, [sql, self._card], self.seconds, self.name) from None
        finally:
            stop.clear()

    def _distinct(self, connection: sa.Connection, schema: str | None, name: str) -> list[str]:
        table, _, column = name.partition(".")
        quoted = connection.dialect.identifier_preparer.quote_identifier
        within = schema or sa.inspect(connection).default_schema_name or "main"
        text = "CHAR" if self.dialect == "mysql" else "TEXT"
        found = (
            f"SELECT DISTINCT CAST({quoted(column)} AS {text}) FROM {quoted(within)}.{quoted(table)}"
            f" WHERE {quoted(column)} IS NOT NULL ORDER BY 1"
        )
        try:
            rows = connection.exec_driver_sql(
                f"{found} LIMIT {MAX_CATEGORIES + 1}", execution_options={"no_parameters": True}
            )
        except sa.exc.DBAPIError:
            raise DataError(f'"{name}" is no column of this database: write table.column') from None
        return sorted(str(row[0]) for row in rows)


def _stop_all(stop: Sequence[Callable[[], None]]) -> None:
    for one in list(stop):
        one()
