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
it runs in this process, and what it can make of its texts and lists is bounded by rules alone (`isolated/growth_rules.py`).
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd

from finexpert.errors import AsOfError, ConfigurationError, DataError, QueryError
from finexpert.isolation.guests.zygote import problem
from finexpert.storage.closing import Closing
from finexpert.warehouse.checks.reading.select import read
from finexpert.warehouse.frames import Frame, to_pandas
from finexpert.warehouse.isolated.answer import Known, Request
from finexpert.warehouse.isolated.file_views import reasons
from finexpert.warehouse.isolated.locked_connection import (
    check_there,
    view_name,
    views_of,
)
from finexpert.warehouse.isolated.pool import QueryPool
from finexpert.warehouse.isolated.process import Opening
from finexpert.warehouse.local.building import Table, build_warehouse
from finexpert.warehouse.local.export import python_source
from finexpert.warehouse.local.holding import Held, LocalFile
from finexpert.warehouse.profile import profiled
from finexpert.warehouse.quoting import quote
from finexpert.warehouse.schema import Metric, TableSchema, nameable
from finexpert.warehouse.schema_card import describe_schema
from finexpert.warehouse.semantic_model.applying import apply
from finexpert.warehouse.semantic_model.document import SemanticModel
from finexpert.warehouse.semantic_model.metrics import described, expand, metrics_of
from finexpert.warehouse.tables_shown import card_of, tables_for
from finexpert.warehouse.warehouse import SAMPLE_ROWS, Privacy

__all__ = ["DuckDBWarehouse", "Table", "build_warehouse"]

PROCESS_BYTES = 2 << 30
PROCESSES = 4
_LARGE = 256 << 20
_MOST_THREADS = 4

# What DuckDB says of a file whose blocks are not there.
_IO_ERROR = "(IO Error)"


class DuckDBWarehouse(Closing):
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
        # Where a record's data are found again.
        self.address: str | None = str(self.path.absolute())
        self.name = self.path.stem
        self.row_cap = row_cap
        self.seconds = seconds
        self._growth_rules = growth_rules
        threads = threads or _threads(self.path)
        check_there(self.path)
        self._snapshot, self._opened = _snapshot(self.path), _state(self.path)
        self._closed = False
        # What stands in the file is somebody else's: its catalogue is read behind the boundary as well.
        self._file: Held
        if isolated or (isolated is None and problem() is None):
            self._file = QueryPool(Opening(str(self.path.absolute()), memory, threads, process_bytes), processes)
        else:
            self._file = LocalFile(self.path, memory, threads)
        try:
            self._known = self._read(categories, date_columns or {}, cache, model)
        except BaseException:
            self._file.close()
            raise

    def _read(
        self,
        categories: Collection[str],
        date_columns: Mapping[str, str],
        cache: Path | None,
        model: SemanticModel | None,
    ) -> Known:
        found = self._file.catalogue(categories, date_columns)
        self.notes, self.label, self.read_notes = reasons(found.left_out), found.label, found.read_notes
        tables = self._profiled(found.tables, cache)
        self._tables = apply(model, tables) if model else tables
        self.metrics: Sequence[Metric] = metrics_of(model, self.dialect) if model else ()
        self._columns = {table.name: tuple(column.name for column in table.columns) for table in self._tables}
        self._card = self._with_metrics(describe_schema(self._tables))
        known = self._file.lock(Known(self._columns, self._card, views_of(self._tables, found.selects)))
        # A view that could not be made again is read as it stands in the file: what it is made of has no end.
        self._endless = {
            view.table for view in known.views if view.table in found.selects and not (view.select or view.declared)
        }
        return known

    def _profiled(self, tables: Sequence[TableSchema], cache: Path | None) -> tuple[TableSchema, ...]:
        def ask(select: str, seconds: float) -> pd.DataFrame | None:
            try:
                rows = self._file.look(select, seconds)
                return None if rows is None else to_pandas(rows.batches, rows.schema, rows.names, rows.kinds)
            except QueryError:
                return None

        state = f"{self.path.resolve()} {self._snapshot}"
        return tuple(profiled(nameable(tables), ask, "duckdb", cache=cache, state=state))

    @property
    def tables(self) -> Sequence[TableSchema]:
        return self._tables

    @property
    def boundary(self) -> str:
        """What stands around a SELECT here, in words for people; it is tried out now."""
        if not isinstance(self._file, QueryPool):
            return f"SELECTs run in this process, held by rules alone ({problem() or 'as asked'})"
        denied = ", ".join(f"{name}: {error}" for name, error in self._file.denied)
        most = self._file.opening.bytes >> 20
        return f"SELECTs run in a process of their own with at most {most} MB; self-test: {denied}"

    def schema_card(self, privacy: Privacy = "schema", question: str = "") -> str:
        shown = tables_for(question, self._tables)
        if privacy == "schema":
            return (
                self._card if len(shown) == len(self._tables) else self._with_metrics(card_of(shown, len(self._tables)))
            )
        samples = {table.name: self._first_rows(table) for table in shown}
        return self._with_metrics(card_of(shown, len(self._tables), samples))

    def _first_rows(self, table: TableSchema) -> pd.DataFrame:
        place = view_name(table.name).partition(".")[2]
        columns = [quote(column.name) for column in table.columns]
        try:
            return self.query(f"SELECT {', '.join(columns)} FROM {place} LIMIT {SAMPLE_ROWS}").data
        except QueryError:
            # Lists and structures are shown as texts.
            texts = ", ".join(f"CAST({column} AS VARCHAR) AS {column}" for column in columns)
            return self.query(f"SELECT {texts} FROM {place} LIMIT {SAMPLE_ROWS}").data

    def _with_metrics(self, card: str) -> str:
        return "\n\n".join(filter(None, (card, described(self.metrics, self.dialect))))

    def ready(self) -> None:
        self._check_open()
        self._file.ready()

    def query(
        self, select: str, *, as_of: dt.date | None = None, declared_only: bool = False, seconds: float | None = None
    ) -> Frame:
        self._check_open()
        day = as_of.isoformat() if as_of is not None else None
        least = self.seconds if seconds is None else min(seconds, self.seconds)
        ran = expand(select, self.metrics, self.dialect)
        if as_of is not None and not declared_only and self._endless:
            self._check_ends(ran, as_of)
        request = Request(ran, day, self.row_cap, least, self._growth_rules, declared_only)
        try:
            rows = self._file.ask(request)
        except QueryError as error:
            if _IO_ERROR not in str(error):
                raise
            # No other SELECT mends it: the file was cut or damaged since it was opened.
            raise DataError(f"{self.path} cannot be read any more; `finexpert doctor` says whether it opens") from None
        data = to_pandas(rows.batches, rows.schema, rows.names, rows.kinds)
        return Frame(data, rows.truncated, ran, rows.seconds)

    def _check_ends(self, select: str, day: dt.date) -> None:
        for table in read(select, self.dialect, self._tables).used:
            if table.name in self._endless and not table.timeless:
                raise AsOfError(
                    f"{table.name} cannot be seen as of {day}: it is a view that calls a macro of the file, through which later rows are "
                    "seen. Read its tables, say in the semantic model which column tells when a row became known, or ask without --as-of"
                )

    def snapshot(self) -> str | None:
        """When the file that was opened was last written, and its size."""
        return self._snapshot

    def state(self) -> tuple[int, ...] | None:
        """What tells the file that was opened from any other, without reading it; None where another lies in its place by now."""
        try:
            return self._opened if _state(self.path) == self._opened else None
        except OSError:
            return None

    def columns(self) -> Mapping[str, Sequence[str]]:
        return dict(self._columns)

    def python_source(self, as_of: dt.date | None, *, declared_only: bool = False) -> str:
        return python_source(self.path.resolve(), self._known.views, as_of, declared_only)

    def close(self) -> None:
        self._closed = True
        self._file.close()

    def _check_open(self) -> None:
        if self._closed:
            raise DataError(f"the warehouse {self.name} is closed: open {self.path} again")


def _threads(path: Path) -> int:
    large = path.is_file() and path.stat().st_size > _LARGE
    return min(_MOST_THREADS, len(os.sched_getaffinity(0))) if large and hasattr(os, "sched_getaffinity") else 1


def _snapshot(path: Path) -> str:
    found = path.stat()
    return f"{dt.datetime.fromtimestamp(found.st_mtime, dt.UTC).isoformat()}, {found.st_size} bytes"


def _state(path: Path) -> tuple[int, ...]:
    """The file, and what a writer that was killed has left beside it, which is read with it."""
    left = path.with_name(f"{path.name}.wal")
    found = [path.stat(), *([left.stat()] if left.exists() else [])]
    return tuple(number for each in found for number in (each.st_ino, each.st_mtime_ns, each.st_size))
