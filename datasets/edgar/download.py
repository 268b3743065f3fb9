"""Fetching company facts from EDGAR, one file a company, in the form and under the rules of the SEC.

    https://www.sec.gov/files/company_tickers.json                        which symbol is which company
    https://data.sec.gov/api/xbrl/companyfacts/CIK0000320193.json         all tagged facts of a company

The SEC asks every program to name a person with an address of mail, and to ask at most ten times a second. A file is written
whole or not at all, and kept for a day: an interrupted download goes on where it stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential, wait_random

from finexpert.datasets.edgar.symbols import TICKERS_FILE, Listed, facts_file, find, read_tickers
from finexpert.datasets.evaluations.downloading import write_atomically
from finexpert.errors import ConfigurationError, DataError
from finexpert.storage import foreign_json

TICKERS_ENDPOINT = "https://www.sec.gov/files/company_tickers.json"
FACTS_ENDPOINT = "https://data.sec.gov/api/xbrl/companyfacts"
MOST_A_SECOND = 10
DAY = 24 * 3600
Progress = Callable[[str, int, int], None]

_NEXT = "Load a folder of such files with `finexpert data edgar --from FOLDER`"
_FATAL = (400, 401, 403, 404, 410)


class _Passing(Exception):
    """What may go away by itself: a server error, a cut connection, a page in place of the file."""


@dataclass
class Pace:
    """Lets at most so many requests a second through."""

    a_second: float = MOST_A_SECOND
    _next: float = field(default=0.0, init=False)

    def wait(self) -> None:
        """Sleeps until the next request may go out."""
        now = time.monotonic()
        if self._next > now:
            time.sleep(self._next - now)
        # A tenth more than asked for: the server's clock counts, and it may start a second anywhere.
        self._next = max(now, self._next) + 1.1 / self.a_second


def check_user_agent(text: str | None) -> str:
    """The name and address of mail that the SEC asks for; ConfigurationError where there is none.

    >>> check_user_agent("Ada Example ada@example.com")
    'Ada Example ada@example.com'
    """
    if text is None or "@" not in text or not text.isascii() or not text.isprintable():
        given = "none is set" if text is None else f"{text!r} is none"
        raise ConfigurationError(
            f"EDGAR asks every program for a name and an address of mail, and {given}: set "
            "FINEXPERT_EDGAR_USER_AGENT='Name name@example.com', or load files with `finexpert data edgar --from FOLDER`"
        )
    return text


class Edgar:
    """A connection to EDGAR that names its user, keeps the pace, tries again, and keeps what it fetched in a folder."""

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
        self._folder, self._refresh, self._pace = folder, refresh, pace or Pace()
        self._tickers_endpoint, self._facts_endpoint = tickers_endpoint, facts_endpoint
        self._attempts = attempts
        self._retrying = Retrying(
            stop=stop_after_attempt(attempts),
            wait=wait_exponential(multiplier=pause, max=20 * pause) + wait_random(0, pause),
            retry=retry_if_exception_type(_Passing),
            reraise=True,
        )
        self._client = httpx.Client(
            timeout=httpx.Timeout(60.0, connect=10.0),
            follow_redirects=True,
            headers={"User-Agent": check_user_agent(user_agent)},
        )

    def download(self, symbols: Sequence[str], progress: Progress | None = None) -> list[Listed]:
        """Fetches the facts of companies by symbol or CIK into the folder; DataError names a symbol that nobody has."""
        _make(self._folder)
        self._fetch(TICKERS_FILE, self._tickers_endpoint, "the list of symbols")
        found = find(symbols, read_tickers(self._folder))
        for done, company in enumerate(found, start=1):
            name = facts_file(company.cik)
            self._fetch(name, f"{self._facts_endpoint}/{name}", f"the facts of {company.ticker}")
            if progress:
                progress(company.ticker, done, len(found))
        return found

    def close(self) -> None:
        """Ends the connection."""
        self._client.close()

    def _fetch(self, name: str, address: str, what: str) -> None:
        path = self._folder / name
        if not self._refresh and path.is_file() and time.time() - path.stat().st_mtime < DAY:
            return
        try:
            content = self._retrying(self._get, address, what)
        except _Passing as error:
            raise DataError(
                f"{what} could not be fetched from {address} in {self._attempts} attempts: {error}. {_NEXT}"
            ) from error
        write_atomically(path, content)

    def _get(self, address: str, what: str) -> bytes:
        self._pace.wait()
        try:
            response = self._client.get(address)
        except httpx.TransportError as error:
            raise _Passing(f"{type(error).__name__}: {error}") from error
        if response.status_code in _FATAL:
            why = f"{address} answered {response.status_code} {response.reason_phrase}"
            if response.status_code == 403:
                why += ", which is what EDGAR says to a user agent that it does not accept, or to too many requests"
            raise DataError(f"{what} could not be fetched: {why}. {_NEXT}")
        if not response.is_success:
            raise _Passing(f"the answer was {response.status_code} {response.reason_phrase}")
        _check(response.content)
        return response.content


def _check(content: bytes) -> None:
    """Refuses what is no object of JSON: a page that says to wait, or a file that was cut off."""
    try:
        value: Any = foreign_json.parse(content)
    except json.JSONDecodeError as error:
        raise _Passing(f"the answer is no JSON: {error}") from None
    if not isinstance(value, dict) or not value:
        raise _Passing("the answer is no object of JSON")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder} cannot be made: {error}. Set FINEXPERT_HOME to a folder of yours") from error
