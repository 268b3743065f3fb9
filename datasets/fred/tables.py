"""The series of a FRED warehouse as they stand on a day, for reference functions.

    fred = FredTables(warehouse, dt.date(2024, 9, 30))
    fred["UNRATE"].iloc[-1]                                # 4.1, of September 2024

It reads what it is asked for, once, through the warehouse itself: the rules of `as_of` are those of every other query.
"""

from __future__ import annotations

import datetime as dt
from functools import cached_property

import pandas as pd

from finexpert.datasets.fred.recessions import Recession, recessions
from finexpert.datasets.fred.series import SERIES, TABLES
from finexpert.errors import DataError
from finexpert.warehouse.warehouse import Warehouse


class FredTables:
    """The series of a FRED warehouse as they stand on a day."""

    def __init__(self, warehouse: Warehouse, as_of: dt.date | None) -> None:
        self._warehouse = warehouse
        self._as_of = as_of
        self._read: dict[str, pd.Series] = {}

    def __getitem__(self, series: str) -> pd.Series:
        """The values of a series by date, without missing ones, by FRED's id: `tables["UNRATE"]`."""
        if series not in self._read:
            info = SERIES[series]
            index_column = TABLES[info.table].index_column
            where = f"{index_column} = '{info.label}'" if index_column else f"{info.label} IS NOT NULL"
            column = "value" if index_column else info.label
            select = f"SELECT date, {column} AS value FROM {info.table} WHERE {where} ORDER BY date"
            frame = self._warehouse.query(select, as_of=self._as_of)
            if frame.truncated:
                raise DataError(
                    f"{series} has more rows than may be read: set FINEXPERT_ROW_CAP above {len(frame.data)}"
                )
            self._read[series] = pd.Series(
                frame.data["value"].to_numpy(dtype=float),
                index=pd.DatetimeIndex(frame.data["date"], name="date"),
                name=series,
            )
        return self._read[series]

    @cached_property
    def recessions(self) -> list[Recession]:
        """The recessions up to the day, oldest first."""
        return recessions(self["GDPC1"])
