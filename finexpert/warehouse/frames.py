"""Rows that a SELECT gave, as a pandas frame with plain column types.

One result on its way from the database (`SELECT date, sum(value) AS total FROM cpi GROUP BY date`):

    DATE, HUGEINT  ->  datetime64[us], int64

Lists, structs, intervals and bytes have no plain column type: such a column is refused by name. No row is read here that the
database did not hand over, and none is dropped without `truncated` saying so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from finexpert.errors import QueryError
from finexpert.warehouse.column_kinds import FLOATS, INTEGERS, TEXTS

FLOAT_DIGITS = 12
_EXACT = 1 << 53
INFINITY = (1 << 63) - 1
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Frame:
    """The rows of one SELECT: `truncated` says that the row cap cut them, `seconds` how long the database took, without a wait for it."""

    data: pd.DataFrame
    truncated: bool
    select: str
    seconds: float

    @property
    def fingerprint(self) -> str:
        """The sha256 of columns and rows, the same in every run and for every order of the rows.

        Floats count to 12 digits, since a database may add up in another order next time.

        >>> one = Frame(pd.DataFrame({"n": [1, 2], "x": [0.5, None]}), False, "SELECT 1", 0.1)
        >>> other = Frame(pd.DataFrame({"n": [2, 1], "x": [None, 0.5]}), False, "SELECT 2", 0.2)
        >>> one.fingerprint == other.fingerprint
        True
        """
        shape = [(str(name), str(self.data.dtypes[name])) for name in self.data.columns]
        digest = hashlib.sha256(repr((shape, len(self.data))).encode())
        codes = [_codes(self.data[name]) for name in self.data.columns]
        order = np.lexsort(codes) if codes else np.arange(0)
        for column in codes:
            digest.update(column[order].astype("<i8").tobytes())
        return digest.hexdigest()


def _codes(column: pd.Series[Any]) -> Codes:
    """One integer for each value, equal for equal values, in this run and in the next."""
    kind = column.dtype.kind
    if kind == "f":
        return _float_codes(column.to_numpy(dtype="float64"))
    if kind == "M":
        return column.to_numpy().astype("datetime64[us]").astype("int64")
    if kind in "iu":
        return column.to_numpy().astype("int64")
    numbers, values = pd.factorize(column)
    hashes = [hashlib.blake2b(str(value).encode("utf-8", "surrogatepass"), digest_size=8).digest() for value in values]
    return np.array([*(int.from_bytes(one, "little", signed=True) for one in hashes), 0], dtype="int64")[numbers]


def _float_codes(values: npt.NDArray[np.float64]) -> Codes:
    with np.errstate(all="ignore"):
        digits = FLOAT_DIGITS - 1 - np.floor(np.log10(np.abs(values)))
        rounded = np.rint(values * 10.0**digits) / 10.0**digits
    kept = np.where(np.isfinite(rounded), rounded, values) + 0.0
    return np.where(np.isnan(kept), np.nan, kept).view("int64")


def frame_columns(names: Sequence[str]) -> list[str]:
    """Column names, each made unique by a number.

    >>> frame_columns(["date", "value", "date"])
    ['date', 'value', 'date_1']
    """
    taken: set[str] = set(names)
    seen: set[str] = set()
    result = []
    for name in names:
        unique, number = name, 0
        while unique in seen or (number and unique in taken):
            number += 1
            unique = f"{name}_{number}"
        seen.add(unique)
        result.append(unique)
    return result


def to_pandas(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, names: Sequence[str], kinds: Sequence[str]
) -> pd.DataFrame:
    """The batches as one pandas frame; integers with gaps become float64, times of day and enums text."""
    table = pa.Table.from_batches(list(batches), schema=schema)
    columns = {}
    for name, kind, column in zip(frame_columns(names), kinds, table.columns, strict=True):
        _check_exact(name, kind, column)
        try:
            columns[name] = series(column, kind)
        except (pa.ArrowInvalid, OverflowError) as error:
            raise QueryError(f'column "{name}" of type {kind} holds values outside of what a frame can hold') from error
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows))


def _check_exact(name: str, kind: str, column: pa.ChunkedArray) -> None:
    """Refuses integers that could only be told as floats, which round them: beside missing ones, or beyond 64 bits."""
    if kind not in INTEGERS or len(column) == column.null_count:
        return
    ends = pc.min_max(column)
    least = int(ends["min"].as_py())
    most = max(abs(least), abs(int(ends["max"].as_py())))
    if kind == "uhugeint" and least < 0:
        # Arrow's numbers of 128 bits have a sign.
        raise QueryError(f'column "{name}" holds integers above 2^127: write CAST(... AS VARCHAR)')
    if most > _EXACT and (column.null_count or most >= 1 << 63):
        raise QueryError(
            f'column "{name}" holds integers above 2^53 {"beside missing ones" if column.null_count else "beyond 64 bits"}, which a frame'
            " would round: write CAST(... AS VARCHAR) where digits count, CAST(... AS DOUBLE) where they do not"
        )


def series(column: pa.ChunkedArray, kind: str) -> pd.Series[Any]:
    """A column as pandas has it."""
    found: pd.Series[Any] = plain(column, kind).to_pandas()
    if kind == "boolean":
        return found.astype("boolean" if column.null_count else "bool")
    return found.astype("str") if kind in TEXTS else found


def plain(column: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    """A column as one of the plain types of Arrow."""
    if kind == "boolean":
        return column
    if kind in FLOATS or (kind in INTEGERS and column.null_count):
        return column.cast(pa.float64())
    if kind in INTEGERS:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column.cast(pa.float64())
    if kind in TEXTS:
        return column.cast(pa.string())
    check_finite(column)
    if getattr(column.type, "tz", None) is not None:
        column = pc.local_timestamp(column.cast(pa.timestamp("us", "UTC")))
    return column.cast(pa.timestamp("us"), safe=pa.types.is_date(column.type))


def check_finite(column: pa.ChunkedArray) -> None:
    """Raises ArrowInvalid for infinity, which a database keeps as the last number of a moment, and for days outside of the years 1 to 9999."""
    if column.null_count == len(column):
        return
    if pa.types.is_timestamp(column.type):
        ends = pc.min_max(column.cast(pa.int64()))
        if INFINITY in (ends["max"].as_py(), -ends["min"].as_py()):
            raise pa.ArrowInvalid("infinity")
        column = column.cast(pa.timestamp(column.type.unit)).cast(pa.date32(), safe=False)
    ends = pc.min_max(column.cast(pa.date32()).cast(pa.int32()))
    if ends["min"].as_py() < -719_162 or ends["max"].as_py() > 2_932_896:
        raise pa.ArrowInvalid("a day outside of the years 1 to 9999")
