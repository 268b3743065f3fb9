"""Which company a symbol stands for, from the SEC's own list.

{"0": {"cik_str": 320193, "ticker": "AAPL", "title": "Apple Inc."}, "1": ...}
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, RootModel, ValidationError
from rapidfuzz import fuzz, process

from finexpert.errors import DataError
from finexpert.storage import foreign_files, foreign_json

TICKERS_FILE = "company_tickers.json"
TICKERS_ENDPOINT = "https://www.sec.gov/files/company_tickers.json"
_CIK = re.compile(r"(?:CIK)?(\d{1,10})")
_NEAR, _ALIKE = 3, 75


@dataclass(frozen=True)
class Listed:
    """A company by its number at the SEC and the symbol that it goes by here."""

    cik: int
    ticker: str
    title: str = field(default="", compare=False, repr=False)


class _Entry(BaseModel):
    cik_str: int
    ticker: str
    title: str = ""


class _Entries(RootModel[dict[str, _Entry]]):
    pass


def read_tickers(folder: Path) -> list[Listed]:
    """The SEC's list of a folder, the most traded symbol of a company first; empty where the folder has none.

    Raises DataError where the file is not that list.
    """
    path = folder / TICKERS_FILE
    if not path.is_file():
        return []
    try:
        entries = _Entries.model_validate(foreign_json.parse(foreign_files.read_bytes(path))).root
    except (OSError, json.JSONDecodeError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise DataError(
            f"{path} is not the SEC's list of symbols: {first}. Fetch it with `finexpert data edgar SYMBOL --refresh`"
        ) from None
    return [Listed(entry.cik_str, entry.ticker.upper(), entry.title) for entry in entries.values()]


def find(symbols: Sequence[str], listed: Sequence[Listed]) -> list[Listed]:
    """The companies of symbols or CIKs, each once; DataError names what is unknown, and the nearest.

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
        near = "".join(_said_near(symbol, listed) for symbol in unknown)
        raise DataError(
            f"EDGAR lists no company under {', '.join(map(repr, unknown))}{near}: "
            "give a symbol such as AAPL, or a CIK such as 320193"
        )
    return list(found.values())


def _said_near(symbol: str, listed: Sequence[Listed]) -> str:
    """
    >>> _said_near("appel", [Listed(320193, "AAPL", "Apple Inc."), Listed(320187, "NKE", "NIKE, Inc.")])
    '; near to APPEL is AAPL (Apple Inc.)'
    """
    asked = symbol.strip().upper()
    found = near(asked, listed)
    told = ", ".join(f"{one.ticker} ({one.title})" if one.title else one.ticker for one in found)
    return f"; near to {asked} {'is' if len(found) == 1 else 'are'} {told}" if found else ""


def near(asked: str, listed: Sequence[Listed]) -> list[Listed]:
    """The companies whose symbol or name is nearest to what was asked for, each once."""
    texts = [one.ticker for one in listed] + [_first_words(one.title, asked) for one in listed]
    found = process.extract(asked, texts, scorer=fuzz.ratio, limit=4 * _NEAR, score_cutoff=_ALIKE)
    each = {listed[at % len(listed)].cik: listed[at % len(listed)] for _, _, at in found}
    return list(each.values())[:_NEAR]


def _first_words(title: str, asked: str) -> str:
    """As much of a company's name as was asked for: nobody asks for `INC`."""
    return " ".join(re.sub(r"[^\w\s]", "", title).upper().split()[: len(asked.split())])


def named(cik: int, listed: Sequence[Listed]) -> Listed:
    """A company by its CIK, under its first symbol; under its CIK where it has none.

    >>> named(42, [])
    Listed(cik=42, ticker='CIK0000000042')
    """
    return next((one for one in listed if one.cik == cik), Listed(cik, f"CIK{cik:010d}"))
