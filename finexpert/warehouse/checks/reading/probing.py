"""Small questions that the checks ask of the warehouse itself: is there such a row, which values has a column.

    probe.any_row(exp.select("1").from_("trades").where("status = 'DONE'"))   ->   True, False, or None where there was no time
    probe.unfinished                                                          ->   the checks that had no time, by their names

What comes back stays at home: it decides, or it is shown to a person, and stands in no prompt. Every question has a budget of seconds
of work, after which nothing more is asked; what was found is kept for the warehouse as long as it is open.
"""

from __future__ import annotations

import datetime as dt
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import pandas as pd
from sqlglot import exp

from finexpert.core.pace import Pace
from finexpert.errors import FinexpertError, QueryError
from finexpert.warehouse.checks.reading.select import Origin
from finexpert.warehouse.isolated.errors import ended_early
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import TableSchema

log = logging.getLogger(__name__)

MOST_VALUES = 1_000
# So many rows are looked through for the values of a column before it is searched for one of them.
FIRST_ROWS = 200_000
# Tables up to it are looked through for a row that is likely not to be there.
SMALL = 5_000_000
_SHORTEST = 0.05  # seconds


class Asked(Protocol):
    """The part of a warehouse that is asked. Must raise QueryError where a SELECT fails or takes longer than `seconds`."""

    dialect: str

    def ready(self) -> None: ...

    def query(
        self, select: str, *, as_of: dt.date | None = None, declared_only: bool = False, seconds: float | None = None
    ) -> Any: ...


class Known:
    """What was found of one warehouse, as long as it is open."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """What is known under a key, made where it is not; None is not kept, since there may be time for it later."""
        with self._lock:
            if key in self._found:
                return self._found[key]
        made = make()
        if made is not None:
            with self._lock:
                self._found[key] = made
        return made


_known: weakref.WeakKeyDictionary[Any, Known] = weakref.WeakKeyDictionary()


def known_of(warehouse: Any) -> Known:
    """What was found of a warehouse so far, shared by all who ask it."""
    return _known.setdefault(warehouse, Known())


class Probe:
    """Asks a warehouse within a budget of seconds, and as of a day, if there is one. One question's, of the thread that makes it.

    The seconds are those of an idle machine: where this one is busy, a check is given as many more as it goes slower.
    """

    def __init__(
        self,
        warehouse: Asked,
        seconds: float,
        as_of: dt.date | None = None,
        declared_only: bool = False,
        pace: Pace | None = None,
    ) -> None:
        self._warehouse = warehouse
        self._known = known_of(warehouse)
        self._left = seconds
        self._pace = pace or Pace()
        self._check = ""
        self._unfinished: dict[str, None] = {}
        self.broken: dict[str, str] = {}
        self._as_of, self._declared_only = as_of, declared_only
        self.dialect = warehouse.dialect

    @property
    def left(self) -> float:
        """The seconds that are left of the budget, as of an idle machine."""
        return self._left

    def idle(self, seconds: float) -> float:
        """How long something that took so many seconds here takes on an idle machine."""
        return seconds / self._pace.slowness

    @contextmanager
    def checking(self, check: str) -> Iterator[None]:
        """What is asked within it belongs to the check of this name. A fault of the check itself ends it, and is kept in `broken`."""
        self._check, before = check, self._check
        try:
            yield
        except FinexpertError:
            raise
        except Exception as error:
            # An answer that was not checked so is told to be; it need not end a batch.
            log.exception("a fault in the check %r", check)
            self.broken[check] = type(error).__name__
        finally:
            self._check = before

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The names of the checks that asked something and had no time or no memory for it."""
        return tuple(self._unfinished)

    def any_row(self, select: exp.Query | str) -> bool | None:
        """Whether a SELECT gives a row; None where it cannot be run, or there was no time."""
        sql = select if isinstance(select, str) else select.limit(1).sql(self.dialect)
        found = self._kept(sql)
        return None if found is None else len(found) > 0

    def distinct(self, origin: Origin) -> list[str] | None:
        """The values of a column of texts, sorted; None for more than a thousand, or where there was no time."""
        column, name = exp.column(origin.column.name, quoted=True), from_named(origin.table.name)
        select = exp.select(column).distinct().from_(name).where(column.copy().is_(exp.null()).not_())
        sql = select.limit(MOST_VALUES + 1).sql(self.dialect)
        found = self._kept(sql)
        if found is None or len(found) > MOST_VALUES:
            return None
        return sorted(str(value) for value in found.iloc[:, 0].dropna())

    def first_values(self, origin: Origin) -> tuple[frozenset[str], bool]:
        """The values in the first rows of a column, and whether these are all."""
        rows = origin.table.rows
        if rows is not None and rows <= FIRST_ROWS and (values := self.distinct(origin)) is not None:
            return frozenset(values), True
        column = exp.column(origin.column.name, quoted=True)
        first = exp.select(column).from_(from_named(origin.table.name)).limit(FIRST_ROWS).subquery("first_rows")
        found = self._kept(exp.select(column.copy()).distinct().from_(first).limit(MOST_VALUES).sql(self.dialect))
        return (frozenset(), False) if found is None else (frozenset(map(str, found.iloc[:, 0].dropna())), False)

    def values(self, origin: Origin, condition: exp.Expr, limit: int = 20) -> list[str]:
        """Some values of a column that meet a condition; none where there was no time."""
        column = exp.column(origin.column.name, quoted=True)
        select = exp.select(column).distinct().from_(from_named(origin.table.name)).where(condition).limit(limit)
        found = self._asked(select.sql(self.dialect))
        return [] if found is None else sorted(str(value) for value in found.iloc[:, 0].dropna())

    def first(self, select: exp.Select, rows: int) -> list[Any]:
        """The values in the first rows of a SELECT of one column; none where there was no time."""
        sql = select.limit(rows).sql(self.dialect)
        found = self._kept(sql)
        return [] if found is None else found.iloc[:, 0].tolist()

    def rows(self, select: exp.Select) -> list[tuple[Any, ...]]:
        """The rows of a small SELECT; none where there was no time."""
        found = self._kept(select.sql(self.dialect))
        return [] if found is None else list(found.itertuples(index=False, name=None))

    def _kept(self, sql: str) -> pd.DataFrame | None:
        """What a SELECT gave before, as of the same day, or gives now."""
        found: pd.DataFrame | None = self._known.get(
            f"{self._as_of} {self._declared_only} {sql}", lambda: self._asked(sql)
        )
        return found

    def _asked(self, sql: str) -> pd.DataFrame | None:
        if self._left < _SHORTEST:
            self._unfinished[self._check] = None
            return None
        # A process or a connection that has to start first takes nothing of the budget.
        slowness, started = self._pace.slowness, time.monotonic()
        try:
            with self._pace.elsewhere():
                self._warehouse.ready()
                started = time.monotonic()
                frame = self._warehouse.query(
                    sql, as_of=self._as_of, declared_only=self._declared_only, seconds=self._left * slowness
                )
        except QueryError as error:
            self._left -= (time.monotonic() - started) / slowness
            if ended_early(str(error)):
                self._unfinished[self._check] = None
            return None
        self._left -= frame.seconds / slowness
        data: pd.DataFrame = frame.data
        return data


def is_small(table: TableSchema) -> bool:
    """Whether a table may be looked through for a row that is likely not to be there."""
    return table.rows is not None and table.rows <= SMALL
