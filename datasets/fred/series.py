"""The 31 series of the FRED warehouse and the eight tables they stand in, as data.

    >>> print(SERIES["UNRATE"].comment)
    Unemployment rate; percent; monthly; seasonally adjusted
    >>> [info.label for info in series_of("cpi")]
    ['CPI', 'Core CPI']

Long tables hold one row per date and index, wide ones a column per series. No value stands here: `fred` loads them.
"""

from __future__ import annotations

from dataclasses import dataclass


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

_SA, _NSA, _SAAR = "seasonally adjusted", "not seasonally adjusted", "seasonally adjusted annual rate"
_INDEX_1982, _CHAINED = "index, 1982-1984 = 100", "billions of chained 2017 dollars"
_BILLIONS = "billions of dollars"
_CLOSE = "index points at the close"

_ROWS = (
    ("CPIAUCSL", "cpi", "CPI", "Consumer price index, all items", _INDEX_1982, "monthly", _SA),
    (
        "CPILFESL",
        "cpi",
        "Core CPI",
        "Consumer price index, all items less food and energy",
        _INDEX_1982,
        "monthly",
        _SA,
    ),
    ("UMCSENT", "consumer_sentiment", "umcsent", "Consumer sentiment", "index, 1966 Q1 = 100", "monthly", _NSA),
    ("GDP", "gdp", "GDP", "Nominal gross domestic product", _BILLIONS, "quarterly", _SAAR),
    ("GDPC1", "gdp", "Real GDP", "Real gross domestic product", _CHAINED, "quarterly", _SAAR),
    ("GDPPOT", "gdp", "Real Potential GDP", "Real potential GDP, with projections", _CHAINED, "quarterly", _NSA),
    (
        "GDPDEF",
        "gdp",
        "GDP Implicit Price Deflator",
        "GDP implicit price deflator",
        "index, 2017 = 100",
        "quarterly",
        _SA,
    ),
    ("DSPI", "income", "dspi", "Disposable personal income", _BILLIONS, "monthly", _SAAR),
    ("DSPIC96", "income", "dspic96", "Real disposable personal income", _CHAINED, "monthly", _SAAR),
    ("PCE", "income", "pce", "Personal consumption expenditures", _BILLIONS, "monthly", _SAAR),
    ("PCEDG", "income", "pcedg", "Personal consumption of durable goods", _BILLIONS, "monthly", _SAAR),
    ("PSAVERT", "income", "psavert", "Personal saving rate", "percent of disposable income", "monthly", _SAAR),
    (
        "RRSFS",
        "income",
        "rrsfs",
        "Real retail and food services sales",
        "millions of 1982-1984 dollars",
        "monthly",
        _SA,
    ),
    (
        "IR14270",
        "money",
        "Gold Import Price",
        "Import price of nonmonetary gold",
        "index, Dec 2024 = 100",
        "monthly",
        _NSA,
    ),
    ("WM1NS", "money", "M1", "Money stock M1", _BILLIONS, "weekly", _NSA),
    ("WM2NS", "money", "M2", "Money stock M2", _BILLIONS, "weekly", _NSA),
    ("DFF", "rates", "dff", "Effective federal funds rate (every calendar day)", "percent", "daily", _NSA),
    ("DGS5", "rates", "dgs5", "Treasury yield at constant 5-year maturity", "percent", "daily", _NSA),
    ("DGS10", "rates", "dgs10", "Treasury yield at constant 10-year maturity", "percent", "daily", _NSA),
    ("DGS30", "rates", "dgs30", "Treasury yield at constant 30-year maturity", "percent", "daily", _NSA),
    ("DTB3", "rates", "dtb3", "3-month Treasury bill, secondary market, discount rate", "percent", "daily", _NSA),
    ("T5YIE", "rates", "t5yie", "5-year break-even inflation rate", "percent", "daily", _NSA),
    ("T10YIE", "rates", "t10yie", "10-year break-even inflation rate", "percent", "daily", _NSA),
    ("T5YIFR", "rates", "t5yifr", "5-year, 5-year forward inflation expectation rate", "percent", "daily", _NSA),
    ("DJIA", "stock", "DJIA", "Dow Jones Industrial Average", _CLOSE, "daily", _NSA),
    ("NASDAQCOM", "stock", "NASDAQCOM", "NASDAQ Composite", _CLOSE, "daily", _NSA),
    ("SP500", "stock", "SP500", "S&P 500", _CLOSE, "daily", _NSA),
    ("CIVPART", "unemployment", "civpart", "Labour force participation rate", "percent", "monthly", _SA),
    ("EMRATIO", "unemployment", "emratio", "Employment-population ratio", "percent", "monthly", _SA),
    ("UNEMPLOY", "unemployment", "unemploy", "Unemployed persons", "thousands of persons", "monthly", _SA),
    ("UNRATE", "unemployment", "unrate", "Unemployment rate", "percent", "monthly", _SA),
)

SERIES: dict[str, SeriesInfo] = {row[0]: SeriesInfo(*row) for row in _ROWS}


def series_of(table: str) -> list[SeriesInfo]:
    """The series of a table, in the order of its columns or labels."""
    return [info for info in SERIES.values() if info.table == table]
