"""Rows of a database driver as the columns that DuckDB would give, and its errors without any value.

    Decimal('12.50'), of a result that is a DOUBLE   ->   12.5

What a SELECT gives has the type that DuckDB says it has, whatever the driver handed over.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import sqlalchemy as sa
import sqlalchemy.exc

from finexpert.errors import DataError, FinexpertError, QueryError
from finexpert.scrubbing import scrub
from finexpert.warehouse.engines.mysql_errors import state_of
from finexpert.warehouse.frames import FLOATS, INTEGERS, frame_columns, to_pandas
from finexpert.warehouse.isolated.answer import BATCH_ROWS, MAX_RESULT_BYTES, too_large
from finexpert.warehouse.isolated.errors import took_too_long

STATES = (
    ("57014", ""),
    ("22012", "it divides by zero: write a / NULLIF(b, 0)"),
    ("22003", "a value is out of the range of its type: cast to DOUBLE before computing"),
    (
        "22",
        "a value does not have the form that a cast or a function needs: filter such rows out, or select the plain column",
    ),
    ("21", "a subquery gave more than one row where one value is needed: aggregate it"),
    ("25", "it would write: only reading is allowed"),
    ("53", "it needs more memory or disk than it may use: filter or aggregate earlier"),
    ("54", "it is too large or nested too deeply: write it in plainer SQL"),
    ("42501", "the database user may not read one of these tables"),
)
REFUSALS = (
    ("28", "it refuses the user or the password: see that both in the address are right"),
    ("3D", "the server has no such database: see that its name in the address is right"),
)
RUNS = "see that it runs and that the address is right"
FIRST_ROWS = 16
MOST_GROWTH = 8
PART_BYTES = 16 << 20
KINDS = {bool: "boolean", int: "bigint", float: "double", Decimal: "double", str: "varchar", dt.datetime: "timestamp",
         dt.date: "date", dt.time: "varchar"}  # fmt: skip


class Fetching(Protocol):
    """A result that the driver hands over in parts."""

    def keys(self) -> Iterable[str]:
        """The names of the columns."""

    def fetchmany(self, size: int) -> Sequence[Sequence[Any]]:
        """The next rows, at most `size`; none at the end."""


def fetch(result: Fetching, planned: tuple[list[str], list[str]] | None, row_cap: int) -> tuple[pd.DataFrame, bool]:
    """The rows up to the cap, and whether there were more; `planned` are the names and kinds of the columns, if known.

    A result is taken in parts of a few rows at first, and of about 16 MB then, and given up once it passes 256 MB. A value
    of SQLite is at most 16 MB long, and PostgreSQL counts the bytes itself (`sizes.py`).
    """
    names, kinds = planned or (list(result.keys()), None)
    batches: list[pa.RecordBatch] = []
    read, size, step = 0, 0, FIRST_ROWS
    while read <= row_cap and (rows := result.fetchmany(min(step, row_cap + 1 - read))):
        kinds = kinds or kinds_of(rows, len(names))
        batches.append(batch(rows, kinds))
        read, size = read + len(rows), size + batches[-1].nbytes
        if size > MAX_RESULT_BYTES:
            raise too_large()
        # By the latest part: wide rows come in small steps, so that no step alone passes the limit by much.
        fitting = PART_BYTES * len(rows) // max(batches[-1].nbytes, 1)
        step = max(1, min(BATCH_ROWS, step * MOST_GROWTH, fitting))
    kinds = kinds or ["varchar"] * len(names)
    if not batches:
        batches.append(batch([], kinds))
    if read > row_cap:
        batches[-1] = batches[-1].slice(0, batches[-1].num_rows - 1)
    data = to_pandas(batches, batches[0].schema, names, kinds)
    return data.set_axis(frame_columns(names), axis=1), read > row_cap


def batch(rows: Sequence[Sequence[Any]], kinds: Sequence[str]) -> pa.RecordBatch:
    """The rows as one batch of Arrow, in types that `frames.to_pandas` takes for these kinds."""
    columns = []
    for position, kind in enumerate(kinds):
        convert, arrow = _converter(kind)
        try:
            values = [None if row[position] is None else convert(row[position]) for row in rows]
            columns.append(pa.array(values, arrow))
        except (ValueError, TypeError, OverflowError, pa.ArrowException):
            raise QueryError(f"column {position + 1} of the result holds values that are no {kind}: cast it") from None
    # A list of arrays keeps columns of the same name apart.
    return pa.RecordBatch.from_arrays(columns, names=[str(position) for position in range(len(kinds))])


def kinds_of(rows: Sequence[Sequence[Any]], width: int) -> list[str]:
    """The kinds of columns by their values, for a statement of which nothing is known before."""
    kinds = []
    for position in range(width):
        found = {type(row[position]) for row in rows} - {type(None)}
        names = {KINDS.get(one, one.__name__) for one in found}
        if names == {"bigint", "double"}:
            names = {"double"}
        if names - set(KINDS.values()) or len(names) > 1:
            raise QueryError(
                f"column {position + 1} has the type {min(names)}: select numbers, text, booleans or dates only"
            )
        kinds.append(next(iter(names), "varchar"))
    return kinds


def _converter(kind: str) -> tuple[Callable[[Any], Any], pa.DataType]:
    if kind in INTEGERS:
        return int, pa.int64()
    if kind in FLOATS:
        return float, pa.float64()
    if kind == "boolean":
        return bool, pa.bool_()
    if kind == "date":
        return _date, pa.date32()
    if kind.startswith("timestamp"):
        return _moment, pa.timestamp("us")
    return str, pa.string()


def _date(value: Any) -> dt.date:
    if isinstance(value, dt.datetime):
        return value.date()
    return value if isinstance(value, dt.date) else dt.date.fromisoformat(str(value)[:10])


def _moment(value: Any) -> dt.datetime:
    if isinstance(value, dt.datetime):
        return value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(value, dt.date):
        return dt.datetime.combine(value, dt.time())
    return dt.datetime.fromisoformat(str(value))


def sentence_of(state: str) -> str | None:
    """What a statement is told that failed with a state of the SQL standard, if the state is known."""
    return next((sentence for start, sentence in STATES if state.startswith(start)), None)


def failure(
    error: sqlalchemy.exc.SQLAlchemyError, select: str, known: Sequence[str], seconds: float, name: str
) -> FinexpertError:
    """What a failed statement is told: a QueryError without values, or a DataError where the database cannot be asked."""
    orig = getattr(error, "orig", None)
    state = state_of(orig) or str(getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None) or "")
    message = str(orig or "")
    if state == "57014" or "interrupted" in message:
        return QueryError(took_too_long(seconds))
    if sentence := sentence_of(state):
        return QueryError(sentence)
    if state.startswith("42") or any(
        said in message for said in ("no such function", "syntax error", "no such column")
    ):
        first = message.partition("\n")[0]
        return QueryError(f"the database cannot plan it ({scrub(first, [select, *known])}): write it in plainer SQL")
    if state.startswith(("08", "28", "3D", "57P")) or (not state and _is_lost(error)):
        why = next((said for start, said in REFUSALS if state.startswith(start)), RUNS)
        kind = " ".join(filter(None, [type(orig).__name__, state]))
        return DataError(f"the database {name} cannot be asked ({kind}): {why}")
    if "prohibited" in message or "not authorized" in message:
        return QueryError("it reaches for something that is not allowed: read the tables of the schema only")
    if (
        isinstance(error, sa.exc.DataError)
        or "too big" in message
        or "overflow" in message
        or "nomem" in type(orig).__name__.lower()
    ):
        return QueryError("a value is larger than it may be: filter or aggregate earlier")
    return QueryError(f"it failed while running ({state or type(orig or error).__name__}): write it in plainer SQL")


def _is_lost(error: sqlalchemy.exc.SQLAlchemyError) -> bool:
    if isinstance(error, sa.exc.TimeoutError):
        return True
    lost = bool(getattr(error, "connection_invalidated", False))
    return lost or (
        isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)
        and not hasattr(error.orig, "sqlite_errorcode")
    )
