"""Which companies' facts lie in a folder: files such as CIK0000320193.json, and the SEC's list of symbols beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from finexpert.errors import DataError
from finexpert.filings.edgar.symbols import Listed, find, named, read_tickers


def facts_file(cik: int) -> str:
    """The name of the file with a company's facts.

    >>> facts_file(320193)
    'CIK0000320193.json'
    """
    return f"CIK{cik:010d}.json"


def in_folder(folder: Path, symbols: Sequence[str]) -> list[Listed]:
    """The companies whose facts lie in a folder: those of the symbols, or all; DataError names what is not there."""
    listed = read_tickers(folder)
    held = sorted(int(path.stem[3:]) for path in folder.glob("CIK*.json") if path.stem[3:].isdigit())
    if not held:
        raise DataError(
            f"{folder} holds no file such as {facts_file(320193)}: fetch one with `finexpert data edgar AAPL`"
        )
    if not symbols:
        return [named(cik, listed) for cik in held]
    found = find(symbols, listed)
    if missing := [company for company in found if company.cik not in held]:
        raise DataError(
            f"{folder} lacks {', '.join(facts_file(company.cik) for company in missing)} "
            f"({', '.join(company.ticker for company in missing)}): fetch it with `finexpert data edgar {missing[0].ticker}`"
        )
    return found
