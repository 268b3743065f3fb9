"""A warehouse answers one SELECT with one frame; the first of its kind is a DuckDB file.

    with DuckDBWarehouse("fred.duckdb") as warehouse:
        warehouse.query("SELECT date, unrate FROM unemployment", as_of=dt.date(2024, 9, 30)).data

                date  unrate
        0 1948-01-01     3.4
        1 1948-02-01     3.8

The file is attached read-only to a locked connection that reaches no other file and no network, and a SELECT sees it through views
alone: a view of a dated table ends at `as_of`. So no SELECT is rewritten, and a table can be seen neither past its date nor
under another name. What a file's own views hold back is up to them: `as_of` applies to a view that has a date column itself.

DuckDB's own limit of memory does not count all that a SELECT can take. So on Linux a SELECT runs in a process of its own, which has
the file and nothing else, a limit of memory set by the kernel, and is killed when its time is over (`query_child.py`). Elsewhere
it runs in this process, and what it can make of its texts and lists is bounded by rules alone (`growth_rules.py`).
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

import duckdb

from finexpert.errors import ConfigurationError, DataError, QueryError
from finexpert.sources.deadline import run_within
from finexpert.sources.frames import Frame, to_pandas
from finexpert.sources.locked_connection import checksum, open_locked, python_source, view
from finexpert.sources.query_answer import Known, Request, Rows, answer
from finexpert.sources.query_errors import took_too_long
from finexpert.sources.query_pool import QueryPool
from finexpert.sources.query_process import Opening
from finexpert.sources.query_zygote import problem
from finexpert.sources.schema_card import describe_frame, describe_schema
from finexpert.sources.table_selection import card_of, tables_for
from finexpert.sources.warehouse_file import Table, build_warehouse

__all__ = ["DuckDBWarehouse", "Frame", "Privacy", "Table", "Warehouse", "build_warehouse", "describe_frame"]

Privacy = Literal["schema", "samples"]
SAMPLE_ROWS = 3
PROCESS_BYTES = 2 << 30
PROCESSES = 4


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

    def schema_card(self, privacy: Privacy = "schema", question: str = "") -> str:
        """What a language model is told of the tables; the same for every vintage of the data.

        Of a schema with many tables, those that the question may need, and how many more there are.
        """

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

    `isolated` says whether SELECTs run in processes of their own: by default where the system allows it. There are up to
    `processes` of them, each with `process_bytes` of memory above what it starts with, which should be more than `memory`, DuckDB's
    own limit. Without `growth_rules` a SELECT is not refused early for what it may make of its texts.

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
        isolated: bool | None = None,
        processes: int = PROCESSES,
        process_bytes: int = PROCESS_BYTES,
        growth_rules: bool = True,
    ) -> None:
        if isolated and problem():
            raise ConfigurationError(f"isolated=True is not possible here: {problem()}; see `finexpert doctor`")
        self.path = Path(path)
        self.name = self.path.stem
        self.row_cap = row_cap
        self.seconds = seconds
        self._growth_rules = growth_rules
        self._connection, schema = open_locked(self.path, memory, threads, categories, date_columns)
        self.label = schema.label
        self._tables = schema.tables
        self._columns = {table.name: tuple(column.name for column in table.columns) for table in schema.tables}
        self._card = describe_schema(schema.tables)
        self._known = Known(self._columns, self._card)
        self._fingerprint: str | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._pool: QueryPool | None = None
        if isolated or (isolated is None and problem() is None):
            opening = Opening(
                *(str(self.path.absolute()), memory, threads, dict(date_columns or {}), process_bytes),
                *(dict(self._columns), self._card),
            )
            self._pool = QueryPool(opening, processes)

    @property
    def boundary(self) -> str:
        """What stands around a SELECT here, in words for people; it is tried out now."""
        if self._pool is None:
            return f"SELECTs run in this process, held by rules alone ({problem() or 'as asked'})"
        denied = ", ".join(f"{name}: {error}" for name, error in self._pool.denied)
        most = self._pool.opening.bytes >> 20
        return f"SELECTs run in a process of their own with at most {most} MB; self-test: {denied}"

    def schema_card(self, privacy: Privacy = "schema", question: str = "") -> str:
        # A question follows: while a model thinks about it, the process that answers comes up.
        if self._pool is not None and not self._closed:
            self._pool.warm()
        shown = tables_for(question, self._tables)
        if privacy == "schema":
            return self._card if len(shown) == len(self._tables) else card_of(shown, len(self._tables))
        samples = {}
        with closing(self._new_cursor()) as cursor:
            for table in shown:
                samples[table.name] = cursor.execute(f"SELECT * FROM {view(table.name)} LIMIT {SAMPLE_ROWS}").df()
        return card_of(shown, len(self._tables), samples)

    def query(self, select: str, *, as_of: dt.date | None = None) -> Frame:
        started = time.perf_counter()
        self._check_open()
        day = as_of.isoformat() if as_of is not None else None
        request = Request(select, day, self.row_cap, self.seconds, self._growth_rules)
        rows = self._pool.ask(request) if self._pool is not None else self._answer_here(request)
        data = to_pandas(rows.batches, rows.schema, rows.names, rows.kinds)
        return Frame(data, rows.truncated, select, time.perf_counter() - started)

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
        if self._pool is not None:
            self._pool.close()
        # A query that did not heed its interrupt still holds the connection: it ends with the query.
        with suppress(duckdb.Error):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise DataError(f"the warehouse {self.name} is closed: open {self.path} again")

    def _new_cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own for each call: variables and interrupts of one call do not reach another."""
        self._check_open()
        return self._connection.cursor()

    def _answer_here(self, request: Request) -> Rows:
        cursor = self._new_cursor()

        def work() -> Rows:
            with closing(cursor):
                return answer(cursor, request, self._known)

        def interrupt() -> None:
            # The cursor is closed by its own thread, perhaps just now.
            with suppress(duckdb.Error):
                cursor.interrupt()

        try:
            return run_within(request.seconds, work, interrupt)
        except TimeoutError:
            raise QueryError(took_too_long(request.seconds)) from None
