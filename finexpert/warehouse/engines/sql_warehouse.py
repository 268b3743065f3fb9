"""A database behind a URL as a warehouse: every engine of `kinds.py`.

    with SQLWarehouse("postgresql+psycopg://desk@db/markets", schema="macro") as warehouse:
        warehouse.query("SELECT date, unrate FROM unemployment ORDER BY date", as_of=dt.date(2024, 9, 30))

A SELECT is written in the database's own SQL. It is led to the rows up to `as_of`, checked, and run in a read-only transaction with a time
limit. What the database answers is the answer, but for what SQLite computes without a word where others raise an error
(`rules/sqlite.py`). Texts of SQLite that are dates in ISO form come as dates.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import sqlalchemy as sa
import sqlalchemy.exc
from sqlglot import exp

from finexpert.core.deadline import run_within
from finexpert.errors import DataError, QueryError
from finexpert.isolation.guests.zygote import problem
from finexpert.storage.closing import Closing
from finexpert.warehouse.database_address import public_address
from finexpert.warehouse.engines.connections import (
    engine_of,
    interrupter,
    place_of,
    reading,
    schema_in,
    without_schema,
)
from finexpert.warehouse.engines.export import python_source
from finexpert.warehouse.engines.failures import failure
from finexpert.warehouse.engines.kinds import EngineLimits
from finexpert.warehouse.engines.reflection import Declared, Reflected
from finexpert.warehouse.engines.rows import fetch, kinds_of
from finexpert.warehouse.engines.rules.sqlite import plain_texts
from finexpert.warehouse.engines.schemas import reflect_schemas
from finexpert.warehouse.engines.sizes import Counted, counted
from finexpert.warehouse.engines.sqlite_process import SqliteFile
from finexpert.warehouse.engines.statements import Place, Statements, result_names
from finexpert.warehouse.frames import Frame, to_pandas
from finexpert.warehouse.isolated.errors import took_too_long
from finexpert.warehouse.isolated.file_views import reasons
from finexpert.warehouse.profile import from_named, profiled
from finexpert.warehouse.schema import Metric, TableSchema, nameable
from finexpert.warehouse.schema_card import describe_schema
from finexpert.warehouse.semantic_model.applying import apply
from finexpert.warehouse.semantic_model.document import SemanticModel
from finexpert.warehouse.semantic_model.metrics import described, expand, metrics_of
from finexpert.warehouse.tables_shown import card_of, tables_for
from finexpert.warehouse.warehouse import SAMPLE_ROWS, Privacy


class SQLWarehouse(Closing):
    """A schema of a database, or several, read-only.

    `tables` narrows it to some tables and views. `categories` ("table.column") have their values read from the rows and published;
    `date_columns` (table to column, or None for none) and `comments` ("table" or "table.column") add to what the database says.
    What is found of a file that its catalogue does not say (forms of dates, keys) is kept in the folder `cache`;
    a SQLite file is held by processes that are shut in and may take `memory_mb`.
    A semantic `model` adds what an owner says of the tables. The schema may stand in the address too, as `?schema=macro`;
    `?schema=core,fin` reads two and `?schema=*` all, whose tables are called `core.policies` then. The address is never shown: it may hold a password.
    """

    def __init__(
        self,
        url: str,
        *,
        schema: str | None = None,
        tables: Collection[str] | None = None,
        label: str | None = None,
        row_cap: int = 200_000,
        seconds: float = 10.0,
        categories: Collection[str] = (),
        date_columns: Mapping[str, str | None] | None = None,
        comments: Mapping[str, str] | None = None,
        cache: Path | None = None,
        model: SemanticModel | None = None,
        memory_mb: int = 2048,
    ) -> None:
        self.address: str | None = public_address(url)
        url, named = without_schema(url)
        schema = schema or named or schema_in(url)
        self._engine, self.dialect = engine_of(url, EngineLimits(seconds, row_cap))
        self._file = Path(sa.make_url(url).database or "") if self.dialect == "sqlite" else None
        if self._file is not None:
            self.address = f"sqlite:///{self._file.absolute()}"
        is_locked = self._file is not None and problem() is None
        self._locked = SqliteFile(self._file, memory_mb) if self._file and is_locked else None
        self.name = Path(sa.make_url(url).database or self.dialect).stem
        self.label, self.row_cap, self.seconds = label, row_cap, seconds
        self._closed = False
        try:
            declared = Declared(comments or {}, date_columns or {})
            reflected = self._reflected(schema, tables, declared, categories)
            found, places = tuple(nameable(reflected.tables)), reflected.places
            self._statements = Statements(self.dialect, found, places)
            known = self._profiled(found, places, cache)
        except (sa.exc.SQLAlchemyError, DataError) as error:
            self._engine.dispose()
            if isinstance(error, DataError):
                raise
            raise DataError(f"the schema of {self.name} cannot be read: {self._why(error)}") from None
        self.notes = reasons(reflected.left_out)
        self._tables = apply(model, known) if model else known
        self.metrics: Sequence[Metric] = metrics_of(model, self.dialect) if model else ()
        self._statements = Statements(self.dialect, self._tables, places)
        self._card = self._with_metrics(describe_schema(self._tables, dialect=self.dialect))

    def _why(self, error: sa.exc.SQLAlchemyError) -> str:
        if self._file is None:
            return str(failure(error, "", (), self.seconds, place_of(self._engine)))
        return (
            "its SQLite file is damaged, locked by another program, or has a log (-wal) without what belongs to it (-shm);"
            f" `sqlite3 {self._file} .schema` says more"
        )

    def _reflected(
        self, schema: str | None, tables: Collection[str] | None, declared: Declared, listed: Collection[str]
    ) -> Reflected:
        if self._locked is not None:
            return self._locked.reflect(schema, tables, declared, listed)
        with reading(self._engine, (), None) as connection:
            return reflect_schemas(connection, schema, tables, declared, listed, self.dialect)

    def _profiled(
        self, tables: Sequence[TableSchema], places: Mapping[str, Place], cache: Path | None
    ) -> tuple[TableSchema, ...]:
        def ask(select: str, seconds: float) -> pd.DataFrame | None:
            try:
                return self._asked(select, self._statements.prepare(select), seconds, as_texts=True).data
            except QueryError:
                return None

        where = f"{self._engine.url.render_as_string()} {sorted({place.schema for place in places.values()})}"
        snapshot = self.snapshot()
        state = f"{where} {snapshot}" if snapshot else None
        return tuple(profiled(tables, ask, self.dialect, cache=cache, state=state))

    @property
    def tables(self) -> Sequence[TableSchema]:
        return self._tables

    def schema_card(self, privacy: Privacy = "schema", question: str = "") -> str:
        tables = tables_for(question, self._tables)
        if privacy == "schema":
            shown = len(tables) == len(self._tables)
            if shown:
                return self._card
            return self._with_metrics(card_of(tables, len(self._tables), dialect=self.dialect))
        samples = {}
        for table in tables:
            columns = [exp.column(column.name, quoted=True) for column in table.columns]
            select = exp.select(*columns).from_(from_named(table.name)).limit(SAMPLE_ROWS)
            samples[table.name] = self.query(select.sql(self.dialect)).data
        return self._with_metrics(card_of(tables, len(self._tables), samples, self.dialect))

    def _with_metrics(self, card: str) -> str:
        return "\n\n".join(filter(None, (card, described(self.metrics, self.dialect))))

    def ready(self) -> None:
        """It was connected when it was opened, and keeps its connections."""

    def query(
        self, select: str, *, as_of: dt.date | None = None, declared_only: bool = False, seconds: float | None = None
    ) -> Frame:
        if self._closed:
            raise DataError(f"the warehouse {self.name} is closed: open it again")
        ran = expand(select, self.metrics, self.dialect)
        sent = self._statements.prepare(ran, as_of, declared_only=declared_only)
        return self._asked(ran, sent, self.seconds if seconds is None else min(seconds, self.seconds))

    def _asked(self, select: str, sent: str, seconds: float, *, as_texts: bool = False) -> Frame:
        if self._locked is not None:
            return self._asked_locked(self._locked, select, sent, seconds, as_texts)
        stop: list[Callable[[], None]] = []
        try:
            work = partial(self._answer, select, sent, seconds, stop, as_texts)
            return run_within(seconds, work, partial(_stop_all, stop))
        except TimeoutError:
            raise QueryError(took_too_long(seconds)) from None

    def _asked_locked(self, held: SqliteFile, select: str, sent: str, seconds: float, as_texts: bool) -> Frame:
        try:
            rows = held.fetch(sent, self._readable, self._texts(select, as_texts), self.row_cap, seconds)
            data = to_pandas(rows.batches, rows.schema, rows.names, rows.kinds)
            return Frame(data, rows.truncated, select, rows.seconds)
        except sa.exc.SQLAlchemyError as error:
            raise failure(error, select, self._statements.tables, seconds, self.name) from None

    @property
    def _readable(self) -> list[str]:
        return [place.table for place in self._statements.places.values()]

    def _texts(self, select: str, as_texts: bool) -> Collection[int] | None:
        """The places of columns that hold texts as they stand, in SQLite; None where none is taken for one of dates."""
        is_asked = self.dialect == "sqlite" and not as_texts
        return plain_texts(select, self._statements.tables) if is_asked else None

    def snapshot(self) -> str | None:
        """When a file was last written, and its size; nothing tells one state of a server's tables from the next without reading them."""
        if self._file is None:
            return None
        parts = [path.stat() for path in (self._file, Path(f"{self._file}-wal")) if path.exists()]
        last = dt.datetime.fromtimestamp(max(one.st_mtime for one in parts), dt.UTC).isoformat()
        return f"{last}, {sum(one.st_size for one in parts)} bytes"

    def columns(self) -> Mapping[str, Sequence[str]]:
        return {table.name: tuple(column.name for column in table.columns) for table in self._tables}

    def python_source(self, as_of: dt.date | None, *, declared_only: bool = False) -> str:
        return python_source(self._statements, as_of, declared_only)

    def close(self) -> None:
        self._closed = True
        self._engine.dispose()
        if self._locked is not None:
            self._locked.close()

    def _answer(self, select: str, sql: str, seconds: float, stop: list[Callable[[], None]], as_texts: bool) -> Frame:
        try:
            with reading(self._engine, self._readable, seconds, self.row_cap) as connection:
                started = time.monotonic()
                stop.append(interrupter(connection))
                connection = connection.execution_options(no_parameters=True)
                if self.dialect == "mysql":
                    from finexpert.warehouse.engines.mysql_connection import rows_of

                    with rows_of(connection, sql, self.row_cap) as rows:
                        data, cut = fetch(rows, self.row_cap, kinds_of(rows.description, self.dialect))
                        return Frame(data, cut, select, time.monotonic() - started)
                sent, last = counted(connection, sql) if self.dialect == "postgres" else (sql, False)
                with connection.execution_options(stream_results=True).exec_driver_sql(sent) as result:
                    kinds = kinds_of(result.cursor.description, self.dialect)
                    texts = self._texts(select, as_texts)
                    data, cut = fetch(Counted(result) if last else result, self.row_cap, kinds, texts=texts)
                    if self.dialect == "snowflake":
                        data = data.set_axis(result_names(select, self.dialect, list(data.columns)), axis=1)
                    return Frame(data, cut, select, time.monotonic() - started)
        except sa.exc.SQLAlchemyError as error:
            raise failure(error, select, self._statements.tables, seconds, self.name) from None
        finally:
            stop.clear()


def _stop_all(stop: Sequence[Callable[[], None]]) -> None:
    for one in list(stop):
        one()
