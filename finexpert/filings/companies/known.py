"""Short, former and alternative names of listed companies that a table of companies does not spell out.

    KNOWN["BALL"].tickers  ->  ("BALL", "BLL")
    KNOWN["META"].names    ->  ("Meta Platforms", "Facebook")

The first name is the usual one; `tickers` are all symbols, the present one first, under which the same company's filings
may lie. A company's own table and filings come before what stands here. Attributes are no matter of this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class KnownNames:
    """All symbols of one company, the present one first, and its names, the usual one first."""

    tickers: tuple[str, ...]
    names: tuple[str, ...]


def _read(lines: str) -> dict[str, KnownNames]:
    found: dict[str, KnownNames] = {}
    for line in lines.strip().splitlines():
        symbols, names = line.split(" | ")
        known = KnownNames(tuple(symbols.split()), tuple(name.strip() for name in names.split(";")))
        for ticker in known.tickers:
            # A symbol with a line of its own keeps it, whichever line comes first.
            if ticker not in found or ticker == known.tickers[0]:
                found[ticker] = known
    return found


# Symbols | names
KNOWN = _read(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))
"""What is known of a company, by any of its symbols."""
