"""Rows of a database driver as a frame, and its errors without any value.

    Decimal('12.50')  ->  12.5        Decimal('12'), a sum of whole numbers  ->  12

A column has the type of its values. Where they have several, as they may in SQLite, nothing is guessed: the SELECT has to cast.
"""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
import sqlalchemy.exc

from finexpert.errors import DataError, FinexpertError, QueryError
from finexpert.text.scrubbing import scrub
from finexpert.warehouse.column_kinds import check_types
from finexpert.warehouse.engines.mysql_errors import state_of
from finexpert.warehouse.engines.sqlite_connection import RAISED
from finexpert.warehouse.frames import to_pandas
from finexpert.warehouse.isolated.answer import BATCH_ROWS, MAX_RESULT_BYTES, Rows, too_large
from finexpert.warehouse.isolated.errors import took_too_long
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.suggestions import unknown_column

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
# Of what engines call their types.
TYPE_WORDS = ("double precision character varying without with time zone timestamptz numeric jsonb record",)
FIRST_ROWS = 16
MOST_GROWTH = 8
PART_BYTES = 16 << 20
# The first that fits: a moment is a day too, and True is a number.
KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"), (int, "bigint"), (float, "double"), (Decimal, "decimal"), (str, "varchar"), (dt.datetime, "timestamp"),
    (dt.date, "date"), (dt.time, "time"), (uuid.UUID, "uuid"), (dt.timedelta, "interval"), (bytes, "blob"), (list, "list"),
    (dict, "struct"), (set, "list"),
)  # fmt: skip
# A part of a column, and the kind of its values.
Part = tuple[pa.Array | pa.ChunkedArray, str]


# By engine, the driver's numbers of types, for columns without any value.
_CODES = {
    "postgres": {16: "boolean", 20: "bigint", 21: "bigint", 23: "bigint", 700: "double", 701: "double", 1700: "double", 1082: "date",
                 1114: "timestamp", 1184: "timestamp"},
    "mysql": {1: "bigint", 2: "bigint", 3: "bigint", 8: "bigint", 9: "bigint", 13: "bigint", 0: "double", 4: "double", 5: "double",
              246: "double", 10: "date", 14: "date", 7: "timestamp", 12: "timestamp"},
}  # fmt: skip


def kinds_of(description: Iterable[Sequence[Any]] | None, dialect: str) -> list[str]:
    """The kinds of columns as a driver describes them."""
    codes = _CODES.get(dialect, {})
    return [codes.get(column[1], "varchar") for column in description or ()]


class Fetching(Protocol):
    """A result that the driver hands over in parts."""

    def keys(self) -> Iterable[str]:
        """The names of the columns."""

    def fetchmany(self, size: int) -> Sequence[Sequence[Any]]:
        """The next rows, at most `size`; none at the end."""


def fetch(
    result: Fetching, row_cap: int, kinds: Sequence[str] = (), *, texts: Collection[int] | None = None
) -> tuple[pd.DataFrame, bool]:
    """The rows up to the cap as a frame, and whether there were more: see `gathered`."""
    rows = gathered(result, row_cap, kinds, texts=texts)
    return to_pandas(rows.batches, rows.schema, rows.names, rows.kinds), rows.truncated


def gathered(
    result: Fetching, row_cap: int, kinds: Sequence[str] = (), *, texts: Collection[int] | None = None
) -> Rows:
    """The rows up to the cap, and whether there were more; `kinds` are those of the columns where no value tells.

    A result is taken in parts of a few rows at first, and of about 16 MB then, and given up once it passes 256 MB. A value
    of SQLite is at most 16 MB long, and PostgreSQL counts the bytes itself (`sizes.py`). Of SQLite `texts` are the places of columns
    that hold texts: of any other, where every text is a day or a moment in ISO form, the column is one of dates.
    """
    names = list(result.keys())
    parts: list[list[Part]] = []
    read, size, step = 0, 0, FIRST_ROWS
    while read <= row_cap and (rows := result.fetchmany(min(step, row_cap + 1 - read))):
        # The row above the cap is there to be counted.
        parts.append(columns_of(rows[: row_cap - read], names))
        read, latest = read + len(rows), sum(array.nbytes for array, _ in parts[-1])
        size += latest
        if size > MAX_RESULT_BYTES:
            raise too_large()
        # By the latest part: wide rows come in small steps, so that no step alone passes the limit by much.
        fitting = PART_BYTES * len(rows) // max(latest, 1)
        step = max(1, min(BATCH_ROWS, step * MOST_GROWTH, fitting))
    columns, found = [], []
    for position, name in enumerate(names):
        without = kinds[position] if position < len(kinds) else "varchar"
        array, kind = _whole([part[position] for part in parts], name, without)
        array, kind = _dates(array, kind) if texts is not None and position not in texts else (array, kind)
        columns.append(array)
        found.append(kind)
    # Columns of the same name are told apart by their places.
    table = pa.Table.from_arrays(columns, names=[str(position) for position in range(len(names))])
    return Rows(names, found, table.schema, table.to_batches(), read > row_cap)


def columns_of(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> list[Part]:
    """The columns of some rows as Arrow, with their kinds by their values: "null" where there is none.

    >>> [(array.to_pylist(), kind) for array, kind in columns_of([(1, "a", None), (2.5, None, None)], ["n", "t", "x"])]
    [([1.0, 2.5], 'double'), (['a', None], 'varchar'), ([None, None], 'null')]
    """
    return [_column([row[position] for row in rows], name) for position, name in enumerate(names)]


def _column(values: Sequence[Any], name: str) -> Part:
    kind = _kind([value for value in values if value is not None], name)
    convert, arrow = _CONVERTERS[kind]
    converted = [None if value is None else convert(value) for value in values]
    try:
        return pa.array(converted, arrow), kind
    except (OverflowError, pa.ArrowInvalid) as error:
        if kind == "bigint":
            return pa.array([None if value is None else float(value) for value in values], pa.float64()), "double"
        raise QueryError(f'column "{name}" holds values outside of what a frame can hold') from error


def _kind(values: Sequence[Any], name: str) -> str:
    types = set(map(type, values))
    kinds = {next((kind for base, kind in KINDS if issubclass(one, base)), one.__name__) for one in types}
    if "decimal" in kinds:
        kinds.remove("decimal")
        kinds.add("bigint" if all(_is_whole(one) for one in values if isinstance(one, Decimal)) else "double")
    if kinds == {"bigint", "double"}:
        return "double"
    if len(kinds) > 1:
        raise QueryError(f'column "{name}" holds {" and ".join(sorted(kinds))}: cast it to one of them')
    if not kinds:
        return "null"
    check_types([name], list(kinds))
    return kinds.pop()


def _is_whole(value: Decimal) -> bool:
    """Whether a decimal is written without digits behind the point, as a sum of whole numbers is."""
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= 0


def _whole(parts: Sequence[Part], name: str, without: str) -> Part:
    """The parts of one column as one; `without` is its kind where there is no value."""
    kinds = {kind for _, kind in parts} - {"null"}
    if kinds == {"bigint", "double"}:
        kinds = {"double"}
    if len(kinds) > 1:
        raise QueryError(f'column "{name}" holds {" and ".join(sorted(kinds))}: cast it to one of them')
    kind = kinds.pop() if kinds else without
    arrow = _CONVERTERS[kind][1]
    return pa.chunked_array([array.cast(arrow, safe=False) for array, _ in parts], arrow), kind


_DAY = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
_MOMENT = _DAY[:-1] + r"([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?)?$"


def _dates(array: pa.ChunkedArray, kind: str) -> Part:
    """A column of texts as one of dates, where every text is one in ISO form."""
    if kind != "varchar" or array.null_count == len(array):
        return array, kind
    for form, made, arrow in ((_DAY, "date", pa.date32()), (_MOMENT, "timestamp", pa.timestamp("us"))):
        if pc.all(pc.match_substring_regex(array, form)).as_py():
            try:
                return array.cast(arrow), made
            except pa.ArrowInvalid:  # the 30th of February
                return array, kind
    return array, kind


def _moment(value: dt.datetime) -> dt.datetime:
    return value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)


_CONVERTERS: dict[str, tuple[Callable[[Any], Any], pa.DataType]] = {
    "bigint": (int, pa.int64()),
    "double": (float, pa.float64()),
    "boolean": (bool, pa.bool_()),
    "date": (lambda value: value, pa.date32()),
    "timestamp": (_moment, pa.timestamp("us")),
    "time": (str, pa.string()),
    "uuid": (str, pa.string()),
    "varchar": (str, pa.string()),
    "null": (str, pa.null()),
}


def sentence_of(state: str) -> str | None:
    """What a statement is told that failed with a state of the SQL standard, if the state is known."""
    return next((sentence for start, sentence in STATES if state.startswith(start)), None)


def failure(
    error: sqlalchemy.exc.SQLAlchemyError, select: str, tables: Sequence[TableSchema], seconds: float, name: str
) -> FinexpertError:
    """What a failed statement is told: a QueryError without values, or a DataError where the database cannot be asked."""
    orig = getattr(error, "orig", None)
    state = state_of(orig) or str(getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None) or "")
    message = message_of(orig)
    if state == "57014" or "interrupted" in message:
        return QueryError(took_too_long(seconds))
    if "user-defined function raised" in message:
        return QueryError(RAISED)
    if sentence := sentence_of(state):
        return QueryError(sentence)
    if state.startswith("42") or any(said in message for said in _PLANNED):
        return QueryError(_not_planned(message, select, tables))
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


# How SQLite begins what is wrong with a statement before it runs.
_PLANNED = (
    "no such", "syntax error", "ambiguous column", "misuse of", "wrong number of arguments", "a GROUP BY clause", "HAVING clause",
    "do not have the same number", "sub-select returns", "row value misused", "ORDER BY term", "GROUP BY term", "must have an", "cannot join",
)  # fmt: skip
_UNKNOWN = (
    re.compile(r"no such column: (?P<name>.+)"),
    re.compile(r"Unknown column '(?P<name>[^']+)'"),
    re.compile(r'column "(?P<name>[^"]+)" (?:of relation .*)?does not exist'),
    re.compile(r"column (?P<name>\S+) does not exist"),
)


def _not_planned(message: str, select: str, tables: Sequence[TableSchema]) -> str:
    """What the engine says of a statement that it cannot plan, as far as it speaks of names; the nearest name beside it."""
    found = next((match for pattern in _UNKNOWN if (match := pattern.search(message))), None)
    name = found["name"].rpartition(".")[2] if found else ""
    if name and name.lower() in select.lower():
        used = [table.name for table in tables if re.search(rf"\b{re.escape(table.name)}\b", select, re.IGNORECASE)]
        said = unknown_column(name, used, {table.name: [one.name for one in table.columns] for table in tables})
        is_text = f'"{name}"' in select and not any(table.column(name) for table in tables)
        return f"{said}{'; if it is a text, write it in single quotes' if is_text else ''}"
    known = [table.name for table in tables] + [column.name for table in tables for column in table.columns]
    return f"the database cannot plan it: {scrub(message.partition(chr(10))[0], [select, *known, *TYPE_WORDS])}"


def message_of(orig: BaseException | None) -> str:
    """What a driver's error says: MySQL's stands behind its number."""
    arguments: tuple[Any, ...] = getattr(orig, "args", ())
    if len(arguments) > 1 and isinstance(arguments[0], int):
        return str(arguments[1])
    return str(orig or "")


def _is_lost(error: sqlalchemy.exc.SQLAlchemyError) -> bool:
    if isinstance(error, sa.exc.TimeoutError):
        return True
    lost = bool(getattr(error, "connection_invalidated", False))
    return lost or (
        isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)
        and not hasattr(error.orig, "sqlite_errorcode")
    )
