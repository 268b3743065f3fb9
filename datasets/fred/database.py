"""FRED as a warehouse: 31 macroeconomic series in eight tables of one DuckDB file.

A series comes as a CSV file named after it, `GDPC1.csv`, in FRED's own form or with the header `date,value`:

    observation_date,GDPC1
    1947-01-01,2182.681

Empty and "." are missing values and are dropped. Files are fetched by `fred_download`; where there are none,
`sample_economy` makes up numbers under the same names.
"""

from __future__ import annotations

import csv
import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from finexpert.datasets.fred.sample_economy import LABEL, make_series
from finexpert.datasets.fred.series import SERIES, TABLES, TableInfo, series_of
from finexpert.errors import DataError
from finexpert.settings import Settings
from finexpert.warehouse import opening
from finexpert.warehouse.local.building import UNWRITABLE
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse
from finexpert.warehouse.local.options import options

if TYPE_CHECKING:
    from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse

__all__ = ["build", "load_folder", "open_data", "open_fred", "read_series", "tables"]

_DATE_HEADERS = ("date", "observation_date")
_MISSING = ("", ".")


def load_folder(folder: Path) -> dict[str, pd.Series]:
    """The 31 series of a folder of CSV files: values by date, by series id. DataError names what is missing."""
    absent = [series for series in SERIES if not (folder / f"{series}.csv").is_file()]
    if absent:
        raise DataError(
            f"{folder} lacks {len(absent)} of {len(SERIES)} series: {', '.join(f'{name}.csv' for name in absent)}. "
            f"Fetch them with `finexpert data fred`"
        )
    return {series: read_series(folder / f"{series}.csv") for series in SERIES}


def read_series(path: Path) -> pd.Series:
    """One CSV file as values by date, missing ones dropped. DataError names the file, the line and the value."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path} cannot be read as CSV: {error}. Fetch it with `finexpert data fred --refresh`"
        ) from error
    if len(header) != 2 or header[0].strip().lower() not in _DATE_HEADERS:
        line = ",".join(header)[:60]
        raise DataError(f"{path}, line 1: {line!r} is not the header 'date,value' or 'observation_date,{path.stem}'")
    while rows and not rows[-1]:
        rows.pop()
    _refuse(
        path, [",".join(row) for row in rows], np.array([len(row) != 2 for row in rows]), "is not a date and a value"
    )
    texts = [[row[column].strip() for row in rows] for column in (0, 1)]
    dates = pd.Series(pd.to_datetime(pd.Series(texts[0], dtype=str), format="%Y-%m-%d", errors="coerce"))
    values = pd.to_numeric(pd.Series(texts[1], dtype=str), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    missing = np.isin(texts[1], _MISSING)
    _refuse(path, texts[0], dates.isna().to_numpy(), "is not a date YYYY-MM-DD")
    _refuse(path, texts[1], ~missing & ~np.isfinite(values), "is not a number")
    _refuse(path, texts[0], dates.duplicated().to_numpy(), "stands twice")
    if missing.all():
        raise DataError(f"{path} holds no value. Fetch it with `finexpert data fred --refresh`")
    series = pd.Series(values, index=pd.DatetimeIndex(dates, name="date"), name=path.stem)
    return series[~missing].sort_index()


def _refuse(path: Path, texts: list[str], bad: NDArray[np.bool_], why: str) -> None:
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        # The header is line 1, and the first row line 2.
        raise DataError(f"{path}, line {row + 2}: {texts[row][:40]!r} {why}")


def tables(series: Mapping[str, pd.Series]) -> list[Table]:
    """The eight tables with their comments, made from values by date."""
    return [_long(table, series) if table.index_column else _wide(table, series) for table in TABLES.values()]


def _long(table: TableInfo, series: Mapping[str, pd.Series]) -> Table:
    index_column = str(table.index_column)
    infos = series_of(table.name)
    parts = [
        pd.DataFrame({"date": series[info.id].index, index_column: info.label, "value": series[info.id].to_numpy()})
        for info in infos
    ]
    data = pd.concat(parts).sort_values(["date", index_column], kind="stable", ignore_index=True)
    comments = {
        index_column: "; ".join(f"{info.label}: {info.description}" for info in infos),
        "value": " | ".join(f"{info.label}: {info.measure}" for info in infos),
    }
    return _table(table, data, comments, (index_column,))


def _wide(table: TableInfo, series: Mapping[str, pd.Series]) -> Table:
    infos = series_of(table.name)
    data = pd.concat({info.label: series[info.id] for info in infos}, axis=1, sort=True)
    data = data.rename_axis("date").reset_index()
    return _table(table, data, {info.label: info.comment for info in infos}, ())


def _table(table: TableInfo, data: pd.DataFrame, comments: dict[str, str], categories: tuple[str, ...]) -> Table:
    comments = {"date": table.dates, **comments}
    return Table(table.name, data, table.comment, comments, categories, "date")


def build(series: Mapping[str, pd.Series], path: Path, *, label: str | None = None) -> Path:
    """Write the eight tables into a DuckDB file, atomically, and give its path back."""
    try:
        return build_warehouse(path, tables(series), label=label)
    except UNWRITABLE as error:
        raise DataError(
            f"{path} cannot be written: {error}. Name another file with --out, or another home with FINEXPERT_HOME"
        ) from error


def open_data(data: Path | None = None, *, settings: Settings | None = None) -> DuckDBWarehouse | SQLWarehouse:
    """The warehouse of `data`, see `warehouse.opening`; the one of FRED without any, and for a folder of its series."""
    if data is None or _is_fred(data):
        return open_fred(data, settings=settings)
    return opening.open_data(data, settings=settings)


def _is_fred(folder: Path) -> bool:
    """Whether most series stand in a folder: then the others are missing, and it is no folder of other tables."""
    return folder.is_dir() and sum((folder / f"{series}.csv").is_file() for series in SERIES) * 2 > len(SERIES)


def open_fred(data: Path | None = None, *, settings: Settings | None = None) -> DuckDBWarehouse:
    """The FRED warehouse of a `.duckdb` file or of a folder of CSV files.

    Without `data` it is the one that `finexpert data fred` built, or else the sample economy, whose label says
    that its numbers are made up. A folder and the sample are built once and kept in the home's cache.
    """
    settings = settings or Settings()
    path = _warehouse_file(data, settings.home)
    warehouse = DuckDBWarehouse(path, **options(settings, data))
    # The standard data have no place of their own: they are found by the home.
    warehouse.address = None if data is None else str(data.absolute())
    return warehouse


def _warehouse_file(data: Path | None, home: Path) -> Path:
    if data is None:
        built = home / "fred.duckdb"
        return built if built.is_file() else _cached(home, "sample-economy", code_key(), make_series, LABEL)
    if data.is_dir():
        return _cached(home, "fred", _folder_key(data), lambda: load_folder(data), None)
    if not data.exists():
        raise DataError(
            f"{data} does not exist: give a .duckdb file or a folder of CSV files, or run `finexpert data fred`"
        )
    return data


def _cached(home: Path, name: str, key: str, make: Callable[[], Mapping[str, pd.Series]], label: str | None) -> Path:
    path = home / "cache" / f"{name}-{key[:16]}.duckdb"
    if path.is_file():
        return path
    return build(make(), path, label=label)


def _folder_key(folder: Path) -> str:
    digest = hashlib.sha256(code_key().encode())
    for series in SERIES:
        path = folder / f"{series}.csv"
        digest.update(path.read_bytes() if path.is_file() else b"missing")
    return digest.hexdigest()


@functools.cache
def code_key() -> str:
    """A hash of the code and the list of series that make the tables, so that a cache does not outlive them."""
    here = Path(__file__).parent
    names = ("database.py", "series.py", "series.csv", "sample_economy.py", "sample_economy_paths.py")
    return hashlib.sha256(b"\0".join((here / name).read_bytes() for name in names)).hexdigest()
