"""DataFrames as Arrow streams, in both directions.

    >>> import datetime as dt
    >>> stream = encode_input(pd.DataFrame({"day": [dt.date(2020, 1, 31)], "value": [1.5]}))
    >>> [str(dtype) for dtype in decode_input(stream).dtypes]
    ['datetime64[us]', 'float64']

A column of dates becomes timestamps and one of decimals floats, so that a script sees ordinary pandas types. What comes
back from a script is checked in `gate.py`, not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.ipc

_CONVERT: dict[str, Callable[[Any], Any]] = {
    "date": lambda column: pd.to_datetime(column).astype("datetime64[us]"),
    "decimal": lambda column: column.astype("float64"),
}


class NotSendable(Exception):
    """A result cannot be sent; the message names the cause, never a value."""


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(memoryview(sink.getvalue()))


def _ordinary(column: pd.Series[Any]) -> pd.Series[Any]:
    if column.dtype != object:
        return column
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in _CONVERT:
        return pd.Series(_CONVERT[kind](column))
    return _as_text(column) if kind.startswith("mixed") else column


def _as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    return column.map(str, na_action="ignore").astype("str")


def encode_input(frame: pd.DataFrame) -> bytes:
    """A frame of the parent as an Arrow stream; the index is kept."""
    if any(dtype == object for dtype in frame.dtypes):
        frame = pd.DataFrame({name: _ordinary(frame[name]) for name in frame.columns}, index=frame.index)
    return _stream(pa.Table.from_pandas(frame, nthreads=1))


def decode_input(stream: bytes | bytearray) -> pd.DataFrame:
    """The frame of a trusted stream, as ordinary pandas types."""
    frame: pd.DataFrame = pa.ipc.open_stream(pa.py_buffer(stream)).read_all().to_pandas(use_threads=False)
    return frame


def _flat_names(frame: pd.DataFrame) -> list[str]:
    if isinstance(frame.columns, pd.MultiIndex):
        return [" / ".join(str(part) for part in name if str(part)) for name in frame.columns]
    return [str(name) for name in frame.columns]


def _sendable(column: pd.Series[Any]) -> pa.Array:
    """A column as an Arrow array of a plain type: what has none becomes text."""
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.start_time
    try:
        array = pa.Array.from_pandas(column)
    except (pa.ArrowException, TypeError, ValueError):
        array = pa.Array.from_pandas(_as_text(column))
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_null(array.type):
        return array.cast(pa.float64())
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if isinstance(array.type, pa.BaseExtensionType) or pa.types.is_nested(array.type) or pa.types.is_binary(array.type):
        return pa.Array.from_pandas(_as_text(column))
    return array


def longest_text(array: pa.Array | pa.ChunkedArray) -> int:
    """The bytes of the longest text in a column; 0 for a column of something else."""
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return 0
    return pa.compute.max(pa.compute.binary_length(array)).as_py() or 0


def encode_result(frame: pd.DataFrame, *, rows: int, columns: int, cells: int, text: int, size: int) -> bytes:
    """A frame of a script as an Arrow stream, with a named index as columns.

    Raises NotSendable if it has more than the given rows, columns, cells or bytes, or two columns of one name.
    """
    if not (isinstance(frame.index, pd.RangeIndex) and frame.index.name is None):
        frame = frame.copy()
        frame.columns = pd.Index(_flat_names(frame))
        taken = [name for name in frame.index.names if name in frame.columns]
        frame = frame.reset_index(drop=bool(taken))
    names = _flat_names(frame)
    if len(set(names)) != len(names):
        raise NotSendable("two columns of the table have the same name; rename one of them")
    if len(frame) > rows or len(names) > columns or frame.size > cells:
        raise NotSendable(
            f"the table is too large; at most {rows} rows, {columns} columns and {cells} cells are returned"
        )
    arrays = [_sendable(frame.iloc[:, place]) for place in range(len(names))]
    if any(longest_text(array) > text for array in arrays):
        raise NotSendable(f"a text in the table is too large; at most {text} bytes are returned")
    stream = _stream(pa.Table.from_arrays(arrays, names=names))
    if len(stream) > size:
        raise NotSendable(f"the table is too large; at most {size} bytes are returned")
    return stream
