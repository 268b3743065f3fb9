"""`finexpert library companies`: the table of companies, by which names are understood and attributes asked.

finexpert library companies companies.csv          take a table into the library
finexpert library companies                        show what the library knows
finexpert library companies --find "Goldman's"     show whom words mean
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.taught import stores

if TYPE_CHECKING:
    from finexpert.filings.companies.companies import Companies
    from finexpert.filings.records import FilingInfo


def companies(
    file: Annotated[
        Path | None, typer.Argument(help="CSV: Symbol, Security, and what else there is; it replaces an earlier one.")
    ] = None,
    library: Annotated[
        Path | None,
        typer.Option("--library", help="Folder of the library; or FINEXPERT_LIBRARY; else one at home."),
    ] = None,
    find: Annotated[str | None, typer.Option(help="Words; show which companies they name.")] = None,
    as_json: common.Json = False,
) -> None:
    """Take a table of companies into the library, or show the companies that it knows."""
    from finexpert.filings.library.library import COMPANIES_FILE, Library, default_folder

    count = None if file is None else take(file, (library or default_folder()) / COMPANIES_FILE)
    with Library.open(library, make=file is not None) as opened:
        known = opened.companies
        filings = opened.filings()
    tickers = {filing.ticker for filing in filings}
    if find is not None:
        _show_found(known, find, as_json)
    elif count is not None and not as_json:
        stores.say(f"{count:,} companies taken into the library. Next: {_next(known, filings)}")
    elif as_json:
        stores.as_json([{"ticker": one.ticker, "company": one.name, "filings": one.ticker in tickers} for one in known])
    else:
        rows = [(c.ticker, c.name, c.sector or "", "yes" if c.ticker in tickers else "") for c in known]
        stores.table(("symbol", "company", "sector", "filings"), sorted(rows))


def _next(known: Companies, filings: Sequence[FilingInfo]) -> str:
    """What to do after a table was taken: pages that were added before it are still without the names that it tells."""
    from finexpert.filings.readers.files import RECORDS

    unnamed = [filing for filing in filings if not filing.company and known.name_of(filing.ticker) != filing.ticker]
    files = dict.fromkeys(filing.path for filing in unnamed if Path(filing.path).suffix.lower() in RECORDS)
    if not files:
        return "finexpert library companies --find NAME"
    return f"finexpert library add {shlex.join(files)}, into this library, for {len(unnamed):,} filings were added without a company's name"


def take(file: Path, target: Path) -> int:
    """Check a table of companies and put it at its place, whole or not at all; the number of its companies."""
    from finexpert.filings.companies.table import read_companies
    from finexpert.filings.library.file import cannot_use
    from finexpert.storage.private_files import write_whole

    count = len(read_companies(file))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, file.read_bytes())
    except OSError as error:
        raise cannot_use(target.parent, error) from error
    return count


def _show_found(known: Companies, words: str, as_json: bool) -> None:
    mentions = known.resolve(words)
    if as_json:
        stores.as_json(
            [
                {"ticker": m.ticker, "company": m.company, "words": words[m.start : m.end], "score": m.score}
                for m in mentions
            ]
        )
    elif not mentions:
        stores.say(f"Nobody that the library knows is named in {words!r}")
    else:
        rows = [(words[m.start : m.end], m.ticker, m.company, f"{m.score:.2f}") for m in mentions]
        stores.table(("words", "symbol", "company", "score"), rows)
