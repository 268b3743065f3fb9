"""A DuckDB file as a warehouse.

    with DuckDBWarehouse("fred.duckdb") as warehouse:
        warehouse.query("SELECT date, unrate FROM unemployment", as_of=dt.date(2024, 9, 30)).data

                date  unrate
        0 1948-01-01     3.4
        1 1948-02-01     3.8

The file is attached read-only to a locked connection that reaches no other file and no network, and a SELECT sees it through views
alone: a view of a dated table ends at `as_of`. So no SELECT is rewritten, and a table can be seen neither past its date nor
under another name. What a file's own views hold back is up to them: `as_of` applies to a view that has a date column itself.

DuckDB's own limit of memory does not count all that a SELECT can take. So on Linux a SELECT runs in a process of its own, which has
the file and nothing else, a limit of memory set by the kernel, and is killed when its time is over (`isolated/child.py`). Elsewhere
it runs in this process, and what it can make of its texts and lists is bounded by rules alone (`growth_rules.py`).
"""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pandas as pd

from finexpert.errors import ConfigurationError, DataError, QueryError
from finexpert.warehouse.deadline import run_within
from finexpert.warehouse.frames import Frame, to_pandas
from finexpert.warehouse.isolated.answer import Known, Request, Rows, answer
from finexpert.warehouse.isolated.errors import took_too_long
from finexpert.warehouse.isolated.pool import QueryPool
from finexpert.warehouse.isolated.process import Opening
from finexpert.warehouse.isolated.zygote import problem
from finexpert.warehouse.local.file_views import left_out, reasons, selects_of
from finexpert.warehouse.local.locked_connection import CATALOG, lock, open_file, python_source, view_name, views_of
from finexpert.warehouse.local.warehouse_file import METADATA_TABLE, FileSchema, Table, build_warehouse, read_schema
from finexpert.warehouse.profile import profiled
from finexpert.warehouse.schema import TableSchema, nameable
from finexpert.warehouse.schema_card import describe_schema
from finexpert.warehouse.semantic_model.applying import apply
from finexpert.warehouse.semantic_model.document import SemanticModel
from finexpert.warehouse.semantic_model.metrics import Metric, described, expand, metrics_of
from finexpert.warehouse.table_selection import card_of, tables_for
from finexpert.warehouse.warehouse import SAMPLE_ROWS, Privacy

__all__ = ["DuckDBWarehouse", "Table", "build_warehouse"]

PROCESS_BYTES = 2 << 30
PROCESSES = 4
_LARGE = 256 << 20
_MOST_THREADS = 4


class DuckDBWarehouse:
    """A DuckDB file, read-only and shut in.

    With `as_of`, rows of a dated table that have no date are hidden too. `categories` ("table.column") and `date_columns` (table
    to column) add to what the file declares itself. A large file is read by several threads, unless `threads` says how many: rows
    without ORDER BY then come in another order each time, and sums differ in their last digits.

    `isolated` says whether SELECTs run in processes of their own: by default where the system allows it. There are up to
    `processes` of them, each with `process_bytes` of memory above what it starts with, which should be more than `memory`, DuckDB's
    own limit. Without `growth_rules` a SELECT is not refused early for what it may make of its texts. What is found of the file that
    its catalogue does not say (forms of dates, keys) is kept in the folder `cache`. A semantic `model` adds what an owner says of the tables.

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
        seconds: float = 30.0,
        memory: str = "1GB",
        threads: int | None = None,
        categories: Collection[str] = (),
        date_columns: Mapping[str, str] | None = None,
        isolated: bool | None = None,
        processes: int = PROCESSES,
        process_bytes: int = PROCESS_BYTES,
        growth_rules: bool = True,
        cache: Path | None = None,
        model: SemanticModel | None = None,
    ) -> None:
        if isolated and problem():
            raise ConfigurationError(f"isolated=True is not possible here: {problem()}; see `finexpert doctor`")
        self.path = Path(path)
        self.name = self.path.stem
        self.row_cap = row_cap
        self.seconds = seconds
        self._growth_rules = growth_rules
        threads = threads or _threads(self.path)
        self._connection = open_file(self.path, memory, threads)
        self._snapshot = _snapshot(self.path)
        try:
            found = left_out(self._connection, CATALOG, METADATA_TABLE)
            self.notes = reasons(found)
            schema = read_schema(self._connection, CATALOG, categories, date_columns, found)
            self.label = schema.label
            tables = self._profiled(schema, cache)
            self._tables = apply(model, tables) if model else tables
            self.metrics: Sequence[Metric] = metrics_of(model, self.dialect) if model else ()
            views = lock(self._connection, views_of(self._tables, selects_of(self._connection, CATALOG, found)))
        except BaseException:
            self._connection.close()
            raise
        self._columns = {table.name: tuple(column.name for column in table.columns) for table in self._tables}
        self._card = self._with_metrics(describe_schema(self._tables))
        self._known = Known(self._columns, self._card, views)
        self._closed = False
        self._pool: QueryPool | None = None
        if isolated or (isolated is None and problem() is None):
            opening = Opening(
                *(str(self.path.absolute()), memory, threads, views, process_bytes),
                *(dict(self._columns), self._card),
            )
            self._pool = QueryPool(opening, processes)

    def _profiled(self, schema: FileSchema, cache: Path | None) -> tuple[TableSchema, ...]:
        def ask(select: str, seconds: float) -> pd.DataFrame | None:
            # A cursor of its own: what does not heed its interrupt holds nothing else up.
            cursor = self._connection.cursor()
            try:
                cursor.execute(f"USE {CATALOG}")
                return run_within(seconds, lambda: cursor.execute(select).df(), cursor.interrupt)
            except (duckdb.Error, TimeoutError):
                return None

        found = profiled(
            nameable(schema.tables), ask, "duckdb", cache=cache, state=f"{self.path.resolve()} {self._snapshot}"
        )
        return tuple(found)

    @property
    def tables(self) -> Sequence[TableSchema]:
        return self._tables

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
            return (
                self._card if len(shown) == len(self._tables) else self._with_metrics(card_of(shown, len(self._tables)))
            )
        samples = {}
        with closing(self._new_cursor()) as cursor:
            for table in shown:
                samples[table.name] = cursor.execute(f"SELECT * FROM {view_name(table.name)} LIMIT {SAMPLE_ROWS}").df()
        return self._with_metrics(card_of(shown, len(self._tables), samples))

    def _with_metrics(self, card: str) -> str:
        return "\n\n".join(filter(None, (card, described(self.metrics))))

    def query(
        self, select: str, *, as_of: dt.date | None = None, declared_only: bool = False, seconds: float | None = None
    ) -> Frame:
        started = time.perf_counter()
        self._check_open()
        day = as_of.isoformat() if as_of is not None else None
        least = self.seconds if seconds is None else min(seconds, self.seconds)
        ran = expand(select, self.metrics, self.dialect)
        request = Request(ran, day, self.row_cap, least, self._growth_rules, declared_only)
        rows = self._pool.ask(request) if self._pool is not None else self._answer_here(request)
        data = to_pandas(rows.batches, rows.schema, rows.names, rows.kinds)
        return Frame(data, rows.truncated, ran, time.perf_counter() - started)

    def snapshot(self) -> str | None:
        """When the file that was opened was last written, and its size."""
        return self._snapshot

    def columns(self) -> Mapping[str, Sequence[str]]:
        return dict(self._columns)

    def python_source(self, as_of: dt.date | None, *, declared_only: bool = False) -> str:
        return python_source(self.path.resolve(), self._known.views, as_of, declared_only)

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


def _threads(path: Path) -> int:
    large = path.is_file() and path.stat().st_size > _LARGE
    return min(_MOST_THREADS, len(os.sched_getaffinity(0))) if large and hasattr(os, "sched_getaffinity") else 1


def _snapshot(path: Path) -> str:
    found = path.stat()
    return f"{dt.datetime.fromtimestamp(found.st_mtime, dt.UTC).isoformat()}, {found.st_size} bytes"
