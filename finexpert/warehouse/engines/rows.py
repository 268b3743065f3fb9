"""Rows of a database driver as a frame.

    Decimal('12.50')  ->  12.5        Decimal('12'), a sum of whole numbers  ->  12

A column has the type of its values. Where they have several, as they may in SQLite, nothing is guessed: the SELECT has to cast.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.column_kinds import check_types
from finexpert.warehouse.engines.type_names import type_read
from finexpert.warehouse.frames import to_pandas
from finexpert.warehouse.isolated.answer import BATCH_ROWS, MAX_RESULT_BYTES, Rows, too_large

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
                 1114: "timestamp", 1184: "timestamp", 790: "money"},
    "mysql": {1: "bigint", 2: "bigint", 3: "bigint", 8: "bigint", 9: "bigint", 13: "bigint", 0: "double", 4: "double", 5: "double",
              246: "double", 10: "date", 14: "date", 7: "timestamp", 12: "timestamp"},
    "snowflake": {0: "double", 1: "double", 3: "date", 4: "timestamp", 6: "timestamp", 7: "timestamp", 8: "timestamp", 13: "boolean"},
}  # fmt: skip


def kinds_of(description: Iterable[Sequence[Any]] | None, dialect: str) -> list[str]:
    """The kinds of columns as a driver describes them."""
    codes = _CODES.get(dialect, {})
    return [codes.get(column[1]) or _by_type(column[1], dialect) for column in description or ()]


def _by_type(code: object, dialect: str) -> str:
    """The kind of a type that a driver tells by its name, or as the Python type of its values.

    >>> [_by_type(code, "clickhouse") for code in ("Nullable(Float64)", "Date", int, 23)]
    ['double', 'date', 'bigint', 'varchar']
    """
    if isinstance(code, type):
        return next((kind for base, kind in KINDS if issubclass(code, base) and kind in _CONVERTERS), "varchar")
    read = type_read(code, dialect) if isinstance(code, str) else None
    return next((kind for types, kind in _BY_TYPE if read is not None and read.is_type(*types)), "varchar")


_BY_TYPE: tuple[tuple[Collection[Any], str], ...] = (
    (exp.DataType.INTEGER_TYPES, "bigint"),
    (exp.DataType.NUMERIC_TYPES, "double"),
    (("boolean",), "boolean"),
    (("date", "date32"), "date"),
    (exp.DataType.TEMPORAL_TYPES, "timestamp"),
)


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
    # A driver gives money as a text in the language of the server.
    check_types(
        [name for name, kind in zip(names, kinds, strict=False) if kind == "money"], ["money"] * kinds.count("money")
    )
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
