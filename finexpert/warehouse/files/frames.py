"""Frames as a warehouse: pandas, polars, Arrow, or whatever else gives its rows as Arrow.

    with open_frames({"trades": df}) as warehouse:
        warehouse.columns()     ->   {"trades": ("day", "price")}

They are written into a DuckDB file for this process alone, which goes when the warehouse is closed.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from finexpert.errors import DataError
from finexpert.settings import Settings
from finexpert.warehouse.files.files_warehouse import FilesWarehouse, write_parts
from finexpert.warehouse.files.found import name_of, unused
from finexpert.warehouse.files.own_types import select_plain
from finexpert.warehouse.files.process import Part
from finexpert.warehouse.files.table_read import Read
from finexpert.warehouse.local.options import options
from finexpert.warehouse.quoting import quote

ALONE = "data"


class FramesWarehouse(FilesWarehouse):
    """Tables that were frames; their file goes with it."""

    def __init__(self, folder: Path, name: str, **given: Any) -> None:
        self._removed = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        super().__init__(folder / "frames.duckdb", name, None, **given)

    def close(self) -> None:
        super().close()
        self._removed()


def is_frame(data: object) -> bool:
    """Whether it is a frame, or a dict of frames."""
    if isinstance(data, Mapping):
        return bool(data) and all(is_frame(each) for each in data.values())
    return isinstance(data, pd.DataFrame) or hasattr(data, "__arrow_c_stream__")


def open_frames(data: Any, *, settings: Settings | None = None) -> FramesWarehouse:
    """The warehouse of a frame, which is the table `data`, or of a dict of frames by the names of their tables.

    >>> with open_frames(pd.DataFrame({"price": [1.5, 2.5]})) as warehouse:
    ...     float(warehouse.query("SELECT sum(price) AS total FROM data").data["total"][0])
    4.0
    """
    frames = data if isinstance(data, Mapping) else {ALONE: data}
    folder = Path(tempfile.mkdtemp(prefix="finexpert-frames-"))
    try:
        write_parts(folder / "frames.duckdb", _parts(frames))
        warehouse = FramesWarehouse(folder, "frames", **{**options(settings or Settings()), "cache": None})
        warehouse.address = None
        return warehouse
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _parts(frames: Mapping[Any, Any]) -> Iterator[Part]:
    taken: set[str] = set()
    with duckdb.connect(config={"python_enable_replacements": "false"}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for key, frame in frames.items():
            name = unused(name_of(str(key)), taken)
            connection.register("incoming_frame", _arrow(frame, str(key)))
            read = Read(name, "", Path(), comment="in the frame's order of rows")
            select_plain(connection, "incoming_frame", read)
            if not read.select:
                raise DataError(f"the frame {key!r} has no column that could be asked about")
            rows = connection.sql(f"SELECT {_days(connection, read.select)} FROM ({read.select})").to_arrow_table()
            connection.unregister("incoming_frame")
            yield Part(name, read.comment, read.comments, read.notes, rows)


def _arrow(frame: Any, key: str) -> pa.Table:
    try:
        return pa.table(frame) if not isinstance(frame, pd.DataFrame) else _of_pandas(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"the frame {key!r} cannot be read as a table: {error}. Give each column values of one type"
        ) from None


def _of_pandas(frame: pd.DataFrame) -> pa.Table:
    """With its index, if that says anything: a name, days, texts; not where rows were only filtered."""
    index = frame.index
    if isinstance(index, pd.MultiIndex) or index.name is not None or not pd.api.types.is_integer_dtype(index.dtype):
        named = index.rename(index.name or "date") if isinstance(index, pd.DatetimeIndex | pd.PeriodIndex) else index
        frame = frame.set_axis(named).reset_index()
    frame = frame.set_axis([_title(column) for column in frame.columns], axis=1)
    periods = [name for name in frame.columns if isinstance(frame[name].dtype, pd.PeriodDtype)]
    frame = frame.assign(**{name: frame[name].dt.start_time for name in periods})
    return pa.Table.from_pandas(frame, preserve_index=False)


def _title(column: Any) -> str:
    return " ".join(str(part) for part in column if str(part)) if isinstance(column, tuple) else str(column)


def _days(connection: duckdb.DuckDBPyConnection, select: str) -> str:
    """The columns, those of times that are midnight throughout as dates."""
    relation = connection.sql(select)
    times = [
        name
        for name, kind in zip(relation.columns, relation.types, strict=True)
        if str(kind.id).startswith("timestamp")
    ]
    tests = ", ".join(f"bool_and(CAST({quote(name)} AS TIME) = TIME '00:00:00')" for name in times)
    found = connection.execute(f"SELECT {tests} FROM ({select})").fetchall()[0] if times else ()
    days = {name for name, whole in zip(times, found, strict=True) if whole}
    columns = [(quote(name), name in days) for name in relation.columns]
    return ", ".join(f"CAST({name} AS DATE) AS {name}" if whole else name for name, whole in columns)
