"""Which company a symbol stands for, from the SEC's own list.

{"0": {"cik_str": 320193, "ticker": "AAPL", "title": "Apple Inc."}, "1": ...}
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, RootModel, ValidationError

from finexpert.errors import DataError
from finexpert.storage import foreign_json

TICKERS_FILE = "company_tickers.json"
_CIK = re.compile(r"(?:CIK)?(\d{1,10})")


@dataclass(frozen=True)
class Listed:
    """A company by its number at the SEC and the symbol that it goes by here."""

    cik: int
    ticker: str


class _Entry(BaseModel):
    cik_str: int
    ticker: str


class _Entries(RootModel[dict[str, _Entry]]):
    pass


def facts_file(cik: int) -> str:
    """The name of the file with a company's facts.

    >>> facts_file(320193)
    'CIK0000320193.json'
    """
    return f"CIK{cik:010d}.json"


def read_tickers(folder: Path) -> list[Listed]:
    """The SEC's list of a folder, the most traded symbol of a company first; empty where the folder has none."""
    path = folder / TICKERS_FILE
    if not path.is_file():
        return []
    try:
        entries = _Entries.model_validate(foreign_json.parse(path.read_bytes())).root
    except (OSError, json.JSONDecodeError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise DataError(
            f"{path} is not the SEC's list of symbols: {first}. Fetch it with `finexpert data edgar SYMBOL --refresh`"
        ) from None
    return [Listed(entry.cik_str, entry.ticker.upper()) for entry in entries.values()]


def find(symbols: Sequence[str], listed: Sequence[Listed]) -> list[Listed]:
    """The companies of symbols or CIKs, each once; DataError names what is unknown.

    >>> find(["brk.b", "CIK0000320193"], [Listed(1067983, "BRK-B"), Listed(320193, "AAPL")])
    [Listed(cik=1067983, ticker='BRK-B'), Listed(cik=320193, ticker='AAPL')]
    """
    by_ticker = {company.ticker: company for company in reversed(listed)}
    found: dict[int, Listed] = {}
    unknown = []
    for symbol in symbols:
        # The SEC writes a class of shares behind a hyphen.
        company = by_ticker.get(symbol.strip().upper().replace(".", "-"))
        if company is None and (match := _CIK.fullmatch(symbol.strip().upper())):
            company = named(int(match[1]), listed)
        if company is None:
            unknown.append(symbol)
        else:
            found.setdefault(company.cik, company)
    if unknown:
        raise DataError(
            f"EDGAR lists no company under {', '.join(map(repr, unknown))}: give a symbol such as AAPL, or a CIK such as 320193"
        )
    return list(found.values())


def named(cik: int, listed: Sequence[Listed]) -> Listed:
    """A company by its CIK, under its first symbol; under its CIK where it has none.

    >>> named(42, [])
    Listed(cik=42, ticker='CIK0000000042')
    """
    return next((one for one in listed if one.cik == cik), Listed(cik, f"CIK{cik:010d}"))


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
