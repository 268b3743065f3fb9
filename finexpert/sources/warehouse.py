"""A warehouse answers one SELECT with one frame; the first of its kind is a DuckDB file.

    with DuckDBWarehouse("fred.duckdb") as warehouse:
        warehouse.query("SELECT date, unrate FROM unemployment", as_of=dt.date(2024, 9, 30)).data

                date  unrate
        0 1948-01-01     3.4
        1 1948-02-01     3.8

The file is attached read-only to a locked connection that reaches no other file and no network, and a SELECT sees it through views
alone: a view of a dated table ends at `as_of`. So no SELECT is rewritten, and a table can be seen neither past its date nor
under another name. What a file's own views hold back is up to them: `as_of` applies to a view that has a date column itself.

What a SELECT can make of its texts and lists is bounded before it runs (`growth_rules.py`), as DuckDB's own limit of memory does not
count them. It is no limit of the operating system: where questions come from strangers, run the program under a memory limit.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

import duckdb
import pandas as pd
import pyarrow as pa

from finexpert.errors import DataError, QueryError
from finexpert.sources.deadline import run_within
from finexpert.sources.frames import Frame, check_types, to_pandas
from finexpert.sources.locked_connection import AS_OF, checksum, open_locked, python_source, view
from finexpert.sources.query_errors import plan_failure, run_failure, took_too_long
from finexpert.sources.schema_card import describe_frame, describe_schema
from finexpert.sources.select_rules import check_select
from finexpert.sources.warehouse_file import Table, build_warehouse

__all__ = ["DuckDBWarehouse", "Frame", "Privacy", "Table", "Warehouse", "build_warehouse", "describe_frame"]

Privacy = Literal["schema", "samples"]
SAMPLE_ROWS = 3
MAX_RESULT_BYTES = 256 << 20
BATCH_ROWS = 8_192


class Warehouse(Protocol):
    """A source of tables that is asked in SQL.

    It must run exactly one SELECT a call and nothing else, must be safe to call from many threads, must hide every row dated after
    `as_of`, must say in `Frame.truncated` that rows were cut, and must raise QueryError, without any cell value in its text, for
    whatever a better SELECT could repair; DataError or ConfigurationError for the rest.
    It may refuse functions, limit rows, memory and seconds, and keep connections open until `close`.
    It must not change data, must not return more than was asked for, and must not put anything into the schema card that depends
    on rows, other than the categories of declared columns, unless `privacy` says so.
    """

    name: str
    dialect: str
    label: str | None

    def schema_card(self, privacy: Privacy = "schema") -> str:
        """What a language model is told of the tables; the same for every vintage of the data."""

    def query(self, select: str, *, as_of: dt.date | None = None) -> Frame:
        """The rows of one SELECT, dated on or before `as_of`."""

    def fingerprint(self) -> str:
        """A hash of schema and data: the same hash, the same answers."""

    def columns(self) -> Mapping[str, Sequence[str]]:
        """The columns of every table; a table outside of the main schema is called `schema.table`."""

    def python_source(self, as_of: dt.date) -> str:
        """Plain Python that defines `query(select)` over the same data as of that day, for an exported answer."""

    def close(self) -> None:
        """Lets go of every connection; a later call raises DataError."""


class DuckDBWarehouse:
    """A DuckDB file, read-only and shut in.

    With `as_of`, rows of a dated table that have no date are hidden too. `categories` ("table.column") and `date_columns` (table
    to column) add to what the file declares itself. With more than one thread a query, large tables are summed and grouped in
    another order each time: answers then differ in rows without ORDER BY and in last digits.

    >>> import tempfile, pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> money = Table("money", pd.DataFrame({"date": pd.to_datetime(["2024-01-01", "2024-02-01"]), "m1": [18.0, 17.9]}),
    ...     column_comments={"m1": "trillion USD"}, date_column="date")
    >>> path = build_warehouse(folder.name + "/money.duckdb", [money])
    >>> with DuckDBWarehouse(path) as warehouse:
    ...     print(warehouse.schema_card())
    ...     warehouse.query("SELECT max(date) AS last FROM money", as_of=dt.date(2024, 1, 31)).data["last"].item()
    table money
      date DATE (date column)
      m1 DOUBLE: trillion USD
    Timestamp('2024-01-01 00:00:00')
    >>> folder.cleanup()
    """

    dialect = "duckdb"

    def __init__(
        self,
        path: str | Path,
        *,
        row_cap: int = 200_000,
        seconds: float = 10.0,
        memory: str = "1GB",
        threads: int = 1,
        categories: Collection[str] = (),
        date_columns: Mapping[str, str] | None = None,
    ) -> None:
        self.path = Path(path)
        self.name = self.path.stem
        self.row_cap = row_cap
        self.seconds = seconds
        self._connection, schema = open_locked(self.path, memory, threads, categories, date_columns)
        self.label = schema.label
        self._tables = schema.tables
        self._columns = {table.name: tuple(column.name for column in table.columns) for table in schema.tables}
        self._card = describe_schema(schema.tables)
        self._fingerprint: str | None = None
        self._lock = threading.Lock()
        self._closed = False

    def schema_card(self, privacy: Privacy = "schema") -> str:
        if privacy == "schema":
            return self._card
        samples = {}
        with closing(self._new_cursor()) as cursor:
            for table in self._tables:
                samples[table.name] = cursor.execute(f"SELECT * FROM {view(table.name)} LIMIT {SAMPLE_ROWS}").df()
        return describe_schema(self._tables, samples)

    def query(self, select: str, *, as_of: dt.date | None = None) -> Frame:
        started = time.perf_counter()
        cursor = self._new_cursor()
        try:
            data, truncated = run_within(self.seconds, partial(self._answer, cursor, select, as_of), cursor.interrupt)
        except TimeoutError:
            raise QueryError(took_too_long(self.seconds)) from None
        return Frame(data, truncated, select, time.perf_counter() - started)

    def fingerprint(self) -> str:
        with self._lock:
            if self._fingerprint is None:
                with closing(self._new_cursor()) as cursor:
                    self._fingerprint = checksum(cursor, self._tables)
            return self._fingerprint

    def columns(self) -> Mapping[str, Sequence[str]]:
        return dict(self._columns)

    def python_source(self, as_of: dt.date) -> str:
        return python_source(self.path.resolve(), self._tables, as_of)

    def close(self) -> None:
        self._closed = True
        # A query that did not heed its interrupt still holds the connection: it ends with the query.
        with suppress(duckdb.Error):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _new_cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own for each call: variables and interrupts of one call do not reach another."""
        if self._closed:
            raise DataError(f"the warehouse {self.name} is closed: open {self.path} again")
        return self._connection.cursor()

    def _answer(
        self, cursor: duckdb.DuckDBPyConnection, select: str, as_of: dt.date | None
    ) -> tuple[pd.DataFrame, bool]:
        with closing(cursor):
            used = check_select(select, cursor, self._columns)
            if as_of is not None:
                cursor.execute(f"SET VARIABLE {AS_OF} = DATE '{as_of.isoformat()[:10]}'")
            try:
                relation = cursor.sql(select)
            except duckdb.Error as error:
                raise QueryError(plan_failure(error, select, used, self._columns, self._card)) from None
            names, kinds = relation.columns, [kind.id for kind in relation.types]
            check_types(names, kinds)
            try:
                batches, schema, truncated = self._fetch(relation)
            except (duckdb.Error, pa.ArrowException, OSError) as error:
                raise QueryError(run_failure(error, select, self.seconds)) from None
            return to_pandas(batches, schema, names, kinds), truncated

    def _fetch(self, relation: duckdb.DuckDBPyRelation) -> tuple[list[pa.RecordBatch], pa.Schema, bool]:
        batches: list[pa.RecordBatch] = []
        rows = size = 0
        reader = relation.limit(self.row_cap + 1).to_arrow_reader(BATCH_ROWS)
        for batch in reader:
            batches.append(batch)
            rows += batch.num_rows
            size += batch.nbytes
            if size > MAX_RESULT_BYTES:
                raise QueryError(f"the result is larger than {MAX_RESULT_BYTES >> 20} MB: select fewer rows or columns")
        if rows > self.row_cap:
            batches[-1] = batches[-1].slice(0, batches[-1].num_rows - (rows - self.row_cap))
        return batches, reader.schema, rows > self.row_cap
