"""Companies: which companies a text names, and what their table says of them.

    >>> companies = Companies([Company("AAPL", "Apple Inc."), Company("GS", "Goldman Sachs"), Company("ALL", "Allstate")])
    >>> [(m.ticker, m.start, m.end) for m in companies.resolve("How did Goldman's revenue compare with AAPL's in ALL years?")]
    [('GS', 8, 15), ('AAPL', 39, 43)]

Names are found without their legal form, by known short and former names, by symbol in capitals, and with a slip of the
keyboard. A name that is an ordinary word (Target, Gap) needs a sign that it is meant as one. A company with several symbols
gives a mention for each of them, at the same place. The attributes of the table are a warehouse, so they are asked in SQL.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from finexpert.errors import LibraryError
from finexpert.filings.companies.known import KNOWN
from finexpert.filings.companies.matching import NameIndex, Span
from finexpert.filings.companies.names import family
from finexpert.filings.companies.table import Company, read_companies, write_companies_warehouse
from finexpert.filings.records import FilingInfo
from finexpert.settings import Settings
from finexpert.warehouse.local.building import UNWRITABLE
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

__all__ = ["Companies", "Company", "CompanyMention"]

_writing = threading.Lock()


@dataclass(frozen=True)
class CompanyMention:
    """A company that a text names at characters `start` to `end`; a score of 1 is an exact name, less an unsure one."""

    company: str
    ticker: str
    start: int
    end: int
    score: float


class Companies:
    """A table of companies. It never changes, so it may be used from many threads."""

    def __init__(self, companies: Iterable[Company]) -> None:
        self._by_ticker = {company.ticker: company for company in companies}
        self._index = NameIndex(list(self._by_ticker.values()))

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """The companies of a CSV file, see `finexpert.filings.companies.table`; LibraryError where it cannot be read."""
        return cls(read_companies(Path(path)))

    @classmethod
    def of_filings(cls, filings: Iterable[FilingInfo], table: Path | None = None) -> Self:
        """The companies that filings name; with a table, also those of the table, whose attributes they then have."""
        companies = {company.ticker: company for company in (read_companies(table) if table else ())}
        for filing in filings:
            ticker = filing.ticker.strip().upper()
            if not ticker and not filing.company.strip():
                continue
            name = "" if filing.company.strip().upper() == ticker else filing.company.strip()
            ticker = ticker or filing.company.strip()
            company = companies.get(ticker)
            if company is None:
                known = KNOWN.get(ticker)
                companies[ticker] = Company(ticker, name or (known.names[0] if known else ticker))
            elif name and name not in (company.name, *company.aliases):
                companies[ticker] = replace(company, aliases=(*company.aliases, name))
        return cls(companies.values())

    def __len__(self) -> int:
        return len(self._by_ticker)

    def __iter__(self) -> Iterator[Company]:
        return iter(self._by_ticker.values())

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what the table says."""
        rows = [asdict(self._by_ticker[ticker]) for ticker in sorted(self._by_ticker)]
        return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()

    def find(self, ticker: str) -> Company | None:
        """The company with a symbol, also with a former one of it."""
        return self._by_ticker.get(ticker) or next(
            (self._by_ticker[other] for other in family(ticker, self._by_ticker)[1:]), None
        )

    def name_of(self, ticker: str) -> str:
        """What a company is called; its symbol where nobody says.

        >>> Companies([]).name_of("UNP"), Companies([]).name_of("QQQQ")
        ('Union Pacific', 'QQQQ')
        """
        if company := self.find(ticker):
            return company.name
        known = KNOWN.get(ticker)
        return known.names[0] if known else ticker

    def fiscal_year_end(self, tickers: Iterable[str]) -> int:
        """The month with which the fiscal years of companies end: December where they differ, or nobody says.

        >>> known = Companies([Company("AAPL", "Apple Inc.", fiscal_year_end=9), Company("GS", "Goldman Sachs")])
        >>> known.fiscal_year_end(["AAPL"]), known.fiscal_year_end(["AAPL", "GS"]), known.fiscal_year_end([])
        (9, 12, 12)
        """
        months = {company.fiscal_year_end or 12 for ticker in tickers if (company := self.find(ticker))}
        return months.pop() if len(months) == 1 else 12

    def resolve(self, text: str) -> list[CompanyMention]:
        """The companies that a text names, in their order in the text."""
        return [mention for span in self._index.find(text) for mention in self._mentions(span)]

    def warehouse(self, path: Path | None = None) -> DuckDBWarehouse:
        """The attributes as the table `companies` of a warehouse; its file is kept in the home's cache if not said.

        Columns: ticker, company, market_cap (USD), price (USD), volume, relative_volume, pe, sector, headquarters, founded,
        roots, and fiscal_year_end where the table has it. A company that only filings name has a ticker and a name,
        and nothing else.
        """
        target = path or Settings().home / "cache" / f"companies-{self.fingerprint[:16]}.duckdb"
        with _writing:
            if path or not target.is_file():
                self._write(target)
        return DuckDBWarehouse(target)

    def _write(self, target: Path) -> None:
        if not self._by_ticker:
            raise LibraryError("there is no company to ask about: run `finexpert library companies FILE`")
        try:
            # Another process may write the same table: each its own file, and the last one stays.
            write_companies_warehouse(target, list(self))
        except UNWRITABLE as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise LibraryError(
                f"the table of companies {target} cannot be written ({reason}): see to its rights and to room on the "
                "disk, or name another home with FINEXPERT_HOME"
            ) from error

    def _mentions(self, span: Span) -> list[CompanyMention]:
        tickers = [ticker for owner in span.tickers for ticker in family(owner, self._by_ticker)]
        return [
            CompanyMention(self.name_of(ticker), ticker, span.start, span.end, span.score)
            for ticker in dict.fromkeys(tickers)
        ]
