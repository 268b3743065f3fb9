"""The table of companies: a CSV file with one company a line, read into records and turned into a warehouse.

    Symbol,Security,Market cap,Price,Volume,Rel Volume,P/E,Sector,Headquarters Location,Founded
    AAPL,Apple Inc.,2.96 T USD,196.98 USD,52.16 M,0.47,31.31,Electronic technology,"Cupertino, California",1977

Only Symbol and Security must be there. An `Aliases` column and a `Former names` column hold more names, parted by ";" or "|".
"2013 (1888)" is founded 2013, with roots in 1888. A `Fiscal year end` column holds the month with which the company's
year ends, as "September" or 9; December where it says nothing. A dash is a missing value.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pandas as pd

from finexpert.errors import DataError, LibraryError
from finexpert.storage import foreign_files
from finexpert.text.periods.words import MONTHS
from finexpert.warehouse.local.duckdb_warehouse import Table, build_warehouse

T = TypeVar("T")
TABLE = "companies"
_TAKE = "`finexpert library companies FILE` takes a CSV file with the columns Symbol and Security"
_SIZES = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_AMOUNT = re.compile(r"^\s*(-?[\d,]*\.?\d+)\s*([KMBT]?)\s*(USD)?\s*$")
_MISSING = ("", "-", "\u2014", "\u2013", "n/a", "N/A")
_COLUMNS = {
    "ticker": "ticker symbol, such as AAPL",
    "company": "name of the company",
    "market_cap": "market capitalisation, USD",
    "price": "price of a share, USD",
    "volume": "shares traded in a day",
    "relative_volume": "volume as a multiple of its usual volume",
    "pe": "price-to-earnings ratio; missing where there were no earnings",
    "sector": "sector of business",
    "headquarters": "city and state, or country, of the headquarters",
    "founded": "year in which the company was founded, as the table names it first",
    "roots": "earliest year that the table gives for the company or a predecessor",
}
# A column of the warehouse only where the table has it: what a model is shown of other tables stays the same.
_YEAR_END = {"fiscal_year_end": "month, 1 to 12, with which the company's fiscal year ends; missing where not known"}


@dataclass(frozen=True)
class Company:
    """A company: its symbol, its name, other names, and what the table says of it, None where it says nothing."""

    ticker: str
    name: str
    aliases: tuple[str, ...] = ()
    market_cap: float | None = None
    price: float | None = None
    volume: float | None = None
    relative_volume: float | None = None
    pe: float | None = None
    sector: str | None = None
    headquarters: str | None = None
    founded: int | None = None
    roots: int | None = None
    fiscal_year_end: int | None = None


def read_companies(path: Path) -> list[Company]:
    """The companies of a CSV file; LibraryError names file and line where one cannot be read."""
    try:
        with open(path, encoding="utf-8-sig", newline="", opener=foreign_files.regular) as file:
            lines = csv.DictReader(file)
            header = [name.strip() for name in lines.fieldnames or ()]
            lines.fieldnames = header
            if missing := [name for name in ("Symbol", "Security") if name not in header]:
                raise LibraryError(f"{path}, line 1: there is no column {' and no column '.join(missing)}")
            companies = [_company(line, f"{path}, line {lines.line_num}") for line in lines]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise LibraryError(f"{path} cannot be read as a table of companies ({reason}): {_TAKE}") from error
    if not companies:
        raise LibraryError(f"{path} holds no company: write one a line under Symbol,Security,...; {_TAKE}")
    seen: set[str] = set()
    for number, company in enumerate(companies, start=1):
        if company.ticker in seen:
            raise LibraryError(f"{path}, company {number}: the symbol {company.ticker!r} stands there a second time")
        seen.add(company.ticker)
    return companies


def write_companies_warehouse(path: Path, companies: Sequence[Company]) -> Path:
    """Write the attributes of companies into a DuckDB file with one table, typed and commented."""
    columns = _COLUMNS | (_YEAR_END if any(company.fiscal_year_end for company in companies) else {})
    rows = pd.DataFrame([{name: _attribute(company, name) for name in columns} for company in companies])
    for name in columns.keys() & {"founded", "roots", "fiscal_year_end"}:
        rows[name] = rows[name].astype("Int64")
    for name in ("market_cap", "price", "volume", "relative_volume", "pe"):
        rows[name] = rows[name].astype("Float64")
    for name in ("ticker", "company", "sector", "headquarters"):
        rows[name] = rows[name].astype("string")
    comment = "one row a company, as of the day on which the table was made"
    return build_warehouse(path, [Table(TABLE, rows, comment, columns, ("sector",))])


def amount(text: str) -> float | None:
    """A printed amount at full size.

    >>> amount("29.22 B USD"), amount("1,908.69 USD"), amount("1.77 M"), amount("\u2014")
    (29220000000.0, 1908.69, 1770000.0, None)
    """
    if text.strip() in _MISSING:
        return None
    found = _AMOUNT.match(text)
    if not found:
        raise DataError(f"{text[:40]!r} is no amount such as 29.22 B USD")
    return round(float(found[1].replace(",", "")) * _SIZES[found[2]], 4)


def years_of(text: str) -> tuple[int | None, int | None]:
    """The first year in a text, and the earliest.

    >>> years_of("2013 (1888)"), years_of("1904/1946/1959"), years_of("")
    ((2013, 1888), (1904, 1904), (None, None))
    """
    years = [int(year) for year in re.findall(r"\b(1[5-9]\d\d|20\d\d)\b", text)]
    return (years[0], min(years)) if years else (None, None)


def month_of(text: str) -> int | None:
    """The month that a text names, by number or by name.

    >>> month_of("9"), month_of("September"), month_of("sept."), month_of("-")
    (9, 9, 9, None)
    """
    name = text.strip().rstrip(".").casefold()
    if text.strip() in _MISSING:
        return None
    if name in MONTHS:
        return MONTHS[name]
    if name.isdecimal() and 1 <= int(name) <= 12:
        return int(name)
    raise DataError(f"{text[:40]!r} is no month such as September or 9")


def _attribute(company: Company, name: str) -> object:
    value: object = getattr(company, "name" if name == "company" else name)
    return value


def _company(line: Mapping[str, str | None], place: str) -> Company:
    cells = {name: (value or "").strip() for name, value in line.items() if isinstance(value, str | None) and name}
    if not cells.get("Symbol") or not cells.get("Security"):
        raise LibraryError(f"{place}: a company needs a symbol and a name")
    founded, roots = years_of(cells.get("Founded", ""))
    names = ";".join(cells.get(column, "") for column in ("Aliases", "Former names")).replace("|", ";").split(";")

    def read(column: str, reader: Callable[[str], T]) -> T:
        try:
            return reader(cells.get(column, ""))
        except DataError as error:
            raise LibraryError(f"{place}: {column}: {error}") from error

    return Company(
        cells["Symbol"].upper(),
        cells["Security"],
        tuple(name.strip() for name in names if name.strip()),
        read("Market cap", amount),
        read("Price", amount),
        read("Volume", amount),
        read("Rel Volume", amount),
        read("P/E", amount),
        cells.get("Sector") or None,
        cells.get("Headquarters Location") or None,
        founded,
        roots,
        read("Fiscal year end", month_of),
    )
