"""Fetching company facts from EDGAR, one file a company, in the form and under the rules of the SEC.

    https://www.sec.gov/files/company_tickers.json                        which symbol is which company
    https://data.sec.gov/api/xbrl/companyfacts/CIK0000320193.json         all tagged facts of a company

A file is written whole or not at all, and kept for a day: an interrupted download goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from finexpert.datasets.edgar.symbols import facts_file
from finexpert.filings.edgar.connection import Connection, Lists, Pace
from finexpert.filings.edgar.symbols import TICKERS_ENDPOINT, TICKERS_FILE, Listed, find, read_tickers

FACTS_ENDPOINT = "https://data.sec.gov/api/xbrl/companyfacts"
Progress = Callable[[str, int, int], None]

_INSTEAD = "load a folder of such files with `finexpert data edgar --from FOLDER`"


class Edgar:
    """Fetches the facts of companies into a folder."""

    def __init__(
        self,
        folder: Path,
        user_agent: str | None,
        *,
        refresh: bool = False,
        tickers_endpoint: str = TICKERS_ENDPOINT,
        facts_endpoint: str = FACTS_ENDPOINT,
        attempts: int = 4,
        pause: float = 0.5,
        pace: Pace | None = None,
    ) -> None:
        self._folder, self._refresh = folder, refresh
        self._tickers_endpoint, self._facts_endpoint = tickers_endpoint, facts_endpoint
        self._connection = Connection(user_agent, _INSTEAD, attempts=attempts, pause=pause, pace=pace)

    def download(self, symbols: Sequence[str], progress: Progress | None = None) -> list[Listed]:
        """Fetches the facts of companies by symbol or CIK into the folder; DataError names a symbol that nobody has."""
        lists = Lists(self._connection, self._folder, refresh=self._refresh)
        lists.fetch(TICKERS_FILE, self._tickers_endpoint, "the list of symbols")
        found = find(symbols, read_tickers(self._folder))
        for done, company in enumerate(found, start=1):
            name = facts_file(company.cik)
            lists.fetch(name, f"{self._facts_endpoint}/{name}", f"the facts of {company.ticker}")
            if progress:
                progress(company.ticker, done, len(found))
        return found

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()
