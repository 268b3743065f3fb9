"""Fetching filings from EDGAR into a folder, each once, with a manifest beside them.

    with FilingServer(lists_folder, "Ada Example ada@example.com") as server, opened(Path("filings")) as manifest:
        for filing in server.find(["AAPL"], ["10-K"], [2022, 2023]).filings:
            fetch(server, manifest, filing, Path("filings")).outcome           # "fetched", "there", "changed", "failed"

A file is called AAPL_10-K_2023-09-30.htm; a second filing of the same company, form and day carries its accession number. A file that
was changed on disk is left as it is, and said. What is fetched is the main document of a filing, without its exhibits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Literal, Self

from finexpert.errors import NotFetched
from finexpert.filings.edgar.connection import MOST_BYTES, Connection, Lists, Pace, Saved
from finexpert.filings.edgar.manifest import Entry, Manifest
from finexpert.filings.edgar.submissions import ARCHIVES_ENDPOINT, Chosen, Filed, choose, read_submissions
from finexpert.filings.edgar.symbols import TICKERS_ENDPOINT, TICKERS_FILE, Listed, find, named, read_tickers
from finexpert.filings.readers.files import WHOLE, checksum

INSTEAD = "add files that you have with `finexpert library add PATH`"
_KINDS = ", ".join(sorted(WHOLE))
_NOT_THE_OLDER = 9999
_SUBMISSIONS_ENDPOINT = "https://data.sec.gov/submissions"


@dataclass(frozen=True)
class Addresses:
    """Where EDGAR's server answers."""

    tickers: str = TICKERS_ENDPOINT
    submissions: str = _SUBMISSIONS_ENDPOINT
    archives: str = ARCHIVES_ENDPOINT


EDGAR = Addresses()


@dataclass(frozen=True)
class Outcome:
    """What became of a filing; `entry` is its line of the manifest, None where it failed."""

    name: str
    outcome: Literal["fetched", "there", "changed", "failed"]
    entry: Entry | None = None
    message: str = ""


class FilingServer:
    """EDGAR as it is asked for filings; lists are kept in a folder for a day."""

    def __init__(
        self,
        lists: Path,
        user_agent: str | None,
        *,
        refresh: bool = False,
        addresses: Addresses | None = None,
        most_bytes: int = MOST_BYTES,
        attempts: int = 4,
        pause: float = 0.5,
        pace: Pace | None = None,
    ) -> None:
        self.refresh, self.addresses = refresh, addresses or EDGAR
        self._connection = Connection(
            user_agent, INSTEAD, attempts=attempts, pause=pause, pace=pace, most_bytes=most_bytes
        )
        self._tickers = Lists(self._connection, lists, refresh=refresh)
        # The folder above holds the facts of companies, which are called CIK....json too.
        self._submissions = Lists(self._connection, lists / "submissions", refresh=refresh)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def find(
        self,
        symbols: Sequence[str],
        forms: Sequence[str],
        years: Sequence[int],
        progress: Callable[[str], None] | None = None,
    ) -> Chosen:
        """The filings that are meant; DataError names a symbol that nobody has, and the nearest."""
        self._tickers.fetch(TICKERS_FILE, self.addresses.tickers, "the list of symbols")
        found = []
        for company in find(symbols, read_tickers(self._tickers.folder)):
            if progress:
                progress(company.ticker)
            found.append(self._of_company(company, forms, years))
        return Chosen(
            tuple(filing for each in found for filing in each.filings),
            tuple(text for each in found for text in each.missing),
            tuple(text for each in found for text in each.notes),
        )

    def save(self, filing: Filed, path: Path, seal: Callable[[Saved], None]) -> None:
        """Writes the document of a filing, whole; raises as `Connection.save`."""
        self._connection.save(self.url(filing), path, described(filing), seal)

    def url(self, filing: Filed) -> str:
        """The address of the document of a filing."""
        return f"{self.addresses.archives}/{filing.path}"

    def _of_company(self, company: Listed, forms: Sequence[str], years: Sequence[int]) -> Chosen:
        # A quarter of the next fiscal year may be filed in the year before.
        chosen = choose(self._listed(company, min(years) - 1 if years else _NOT_THE_OLDER), company, forms, years)
        if chosen.missing or chosen.notes:
            chosen = choose(self._listed(company, 0), company, forms, years)
        return chosen

    def _listed(self, company: Listed, since: int) -> list[Filed]:
        def listed(name: str) -> Path:
            address = f"{self.addresses.submissions}/{name}"
            return self._submissions.fetch(name, address, f"the list of filings of {company.ticker}")

        return read_submissions(listed(f"CIK{company.cik:010d}.json"), company, listed, since)


def described(filing: Filed) -> str:
    """
    >>> import datetime as dt
    >>> described(Filed(Listed(1, "ALDR"), "Alder", "10-K", dt.date(2023, 2, 1), dt.date(2022, 12, 31), "", ""))
    'the 10-K of ALDR for 2022-12-31'
    """
    when = f"for {filing.report_date}" if filing.report_date else f"filed {filing.filed}"
    return f"the {filing.form} of {filing.company.ticker} {when}"


def fetch(server: FilingServer, manifest: Manifest, filing: Filed, folder: Path) -> Outcome:
    """Fetches a filing where its file is missing. Raises DataError or LibraryError where EDGAR or the disk fails for others, too."""
    held = manifest.of(filing.accession)
    if held is not None and (outcome := _held(held, folder, server.refresh)) is not None:
        return outcome
    suffix = PurePosixPath(filing.path).suffix.lower()
    name = held.path if held else file_name(filing, suffix, manifest)
    if filing.leads_away:
        why = f"EDGAR names the document of {described(filing)} {filing.document!r}, which is no name of a document"
        return Outcome(name, "failed", message=why)
    if suffix not in WHOLE:
        return Outcome(name, "failed", message=f"{server.url(filing)} is of no kind that is read: {_KINDS}")
    if held is None and (folder / name).exists():
        why = f"{folder / name} is there and stands in no manifest: move it away, or name another folder with --out"
        return Outcome(name, "failed", message=why)
    try:
        # The line comes before the file gets its name: a file without a line is never ours, a line without a file is mended.
        server.save(filing, folder / name, lambda saved: manifest.add(_entry(server, filing, name, saved)))
    except NotFetched as error:
        return Outcome(name, "failed", message=str(error))
    return Outcome(name, "fetched", manifest.of(filing.accession))


def _held(held: Entry, folder: Path, refresh: bool) -> Outcome | None:
    """What is said of a filing that was fetched; None where it is to be fetched again."""
    path = folder / held.path
    if not path.is_file():
        return None
    if checksum(path) == held.sha256:
        return Outcome(held.path, "there", held)
    if refresh:
        return None
    why = f"{path} was changed after it was fetched: it is left as it is and is not added; --refresh fetches it again"
    return Outcome(held.path, "changed", message=why)


def file_name(filing: Filed, suffix: str, manifest: Manifest) -> str:
    """Company, form and end of the period; the accession number where there is no period, or another filing has the name."""
    symbol = re.sub(r"[^A-Z0-9-]+", "-", filing.company.ticker)
    base = f"{symbol}_{re.sub(r'[^A-Z0-9-]+', '-', filing.form)}"
    if filing.report_date is None:
        return f"{base}_{filing.accession}{suffix}"
    plain = f"{base}_{filing.report_date}{suffix}"
    if manifest.holder(plain) in (None, filing.accession):
        return plain
    return f"{base}_{filing.report_date}_{filing.accession}{suffix}"


def _entry(server: FilingServer, filing: Filed, name: str, saved: Saved) -> Entry:
    year, quarter = filing.period
    company = filing.company
    return Entry(
        path=name,
        symbol="" if company == named(company.cik, ()) else company.ticker,
        cik=company.cik,
        company=filing.name,
        form=filing.form,
        fiscal_year=year,
        quarter=quarter,
        report_date=str(filing.report_date or ""),
        filed=str(filing.filed),
        accession=filing.accession,
        url=server.url(filing),
        sha256=saved.sha256,
        size=saved.size,
    )
