"""The 31 series of the FRED warehouse and the eight tables they stand in, as data.

    >>> print(SERIES["UNRATE"].comment)
    Unemployment rate; percent; monthly; seasonally adjusted
    >>> [info.label for info in series_of("cpi")]
    ['CPI', 'Core CPI']

Long tables hold one row per date and index, wide ones a column per series. No value stands here: `fred` loads them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TableInfo:
    """A table: `dates` says what its dates mean, `index_column` names the labels of a long table (None for a wide one)."""

    name: str
    comment: str
    dates: str
    index_column: str | None = None


@dataclass(frozen=True)
class SeriesInfo:
    """A series: `label` is its column in a wide table, its value of the index column in a long one."""

    id: str
    table: str
    label: str
    description: str
    unit: str
    frequency: str
    adjustment: str

    @property
    def measure(self) -> str:
        """Unit, frequency and seasonal adjustment on one line."""
        return f"{self.unit}; {self.frequency}; {self.adjustment}"

    @property
    def comment(self) -> str:
        """Description, unit, frequency and seasonal adjustment on one line."""
        return f"{self.description}; {self.measure}"


_MONTH, _QUARTER, _DAY = "first day of the month", "first day of the quarter", "the day itself"
_WEEK = "M1 and M2: the Monday of a week; gold: first day of the month"
_LONG = "long: one row per date and index"

TABLES: dict[str, TableInfo] = {
    table.name: table
    for table in (
        TableInfo("cpi", f"Consumer price indexes of all urban consumers ({_LONG})", _MONTH, "cpi_index"),
        TableInfo("consumer_sentiment", "Consumer sentiment of the University of Michigan's survey", _MONTH),
        TableInfo("gdp", f"Gross domestic product and its deflator ({_LONG})", _QUARTER, "gdp_index"),
        TableInfo("income", "Personal income, saving and consumption, and retail sales", _MONTH),
        TableInfo("money", f"Money stock and the import price of gold ({_LONG})", _WEEK, "money_index"),
        TableInfo("rates", "Interest rates and break-even inflation (NULL where a series has no value that day)", _DAY),
        TableInfo("stock", f"Closing values of stock indexes ({_LONG})", _DAY, "stock_index"),
        TableInfo("unemployment", "Labour market of the household survey", _MONTH),
    )
}

with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as _file:
    SERIES = {row["id"]: SeriesInfo(**row) for row in csv.DictReader(_file)}


def series_of(table: str) -> list[SeriesInfo]:
    """The series of a table, in the order of its columns or labels."""
    return [info for info in SERIES.values() if info.table == table]
