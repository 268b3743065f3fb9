"""Whose filings are meant: by symbol, legal name, short name, former name, the file's name, and with a slip of the keyboard.

    >>> info = _example("3M_2018_10K.pdf", company="3M", year=2018)
    >>> [filing.fiscal_year for filing in named_in("What were 3M Company's sales?", [info])]
    [2018]
    >>> of_names(["the minnesota mining and manufacturing company"], [info])[0].company
    '3M'

A symbol is one more name here, never the key: a filing without one is found as well.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from rapidfuzz.distance import OSA

from finexpert.filings.companies.known import KNOWN
from finexpert.filings.companies.matching import dictionary
from finexpert.filings.companies.names import words_in
from finexpert.filings.companies.words import LEGAL_FORMS, ORDINARY
from finexpert.filings.readers.cover import name_in
from finexpert.filings.records import FilingInfo
from finexpert.text.texts import one_line

# Other names stand in brackets, as `companies_of` writes them.
_BRACKETS = re.compile(r"\s*[()]\s*")
_LONGEST_NAME = 6
_LONGEST_LINE = 200
_SHORTEST_SLIP = 6
_LONG = 10
_SHORTEST_FIRST_WORD = 5
_FILLING = frozenset({"and", "of", "the"})


def of_names(names: Iterable[str], filings: Sequence[FilingInfo]) -> list[FilingInfo]:
    """The filings of the companies with these names, in the order of the filings; those that nobody has are left out.

    >>> info = _example("BLOCK_2020_10K.pdf", company="SQUARE, INC.", year=2020)
    >>> len(of_names(["SQUARE, INC. (BLOCK)"], [info]))
    1
    """
    wanted = [key for name in names for part in (name, *_BRACKETS.split(name)) if (key := _key(part))]
    return [filing for filing in filings if any(_is(key, filing) for key in wanted)]


def named_in(text: str, filings: Sequence[FilingInfo]) -> list[FilingInfo]:
    """The filings of the companies that a text names; a name of several words wins over one of fewer."""
    read = words_in(text)
    words = [word.text for word in read]
    # An ordinary word (Block, Gap) is a name where it is written as one, and not because a sentence begins with it.
    capitals = {word.text for place, word in enumerate(read) if word.capital and (place or word.text not in ORDINARY)}
    capitals |= {word for word in words if text.islower() and word not in ORDINARY}
    found: dict[str, FilingInfo] = {}
    taken: set[int] = set()
    for count in range(_LONGEST_NAME, 0, -1):
        for place in range(len(words) - count + 1):
            here = set(range(place, place + count))
            run = words[place : place + count]
            if taken & here or not _may_name(run, capitals):
                continue
            key = "".join(_plain(run))
            meant = [filing for filing in filings if key and _is(key, filing)]
            if meant:
                taken |= here
                found |= {filing.id: filing for filing in meant}
    return [filing for filing in filings if filing.id in found]


def name_of(filing: FilingInfo) -> str:
    """What the company of a filing is called: by its cover, its symbol's usual name, or its file."""
    known = KNOWN.get(filing.ticker)
    usual = known.names[0] if known else ""
    return filing.company or usual or filing.ticker or one_line(name_in(Path(filing.path)) or filing.id, _LONGEST_LINE)


def form_of(filing: FilingInfo) -> str:
    """The form of a filing and the period that it is about, as in "10-Q Q2 2023"."""
    period = f"Q{filing.quarter} {filing.fiscal_year}" if filing.quarter else f"FY {filing.fiscal_year or 'unknown'}"
    return f"{filing.kind or 'filing'} {period}"


def companies_of(filings: Iterable[FilingInfo]) -> dict[str, list[FilingInfo]]:
    """The filings by company, each under one name; a file that is called otherwise adds its name in brackets.

    >>> filings = [_example(path, company=name, year=2020) for path, name in (("BLOCK_2020_10K.pdf", "SQUARE, INC."),)]
    >>> list(companies_of(filings))
    ['SQUARE, INC. (BLOCK)']
    """
    groups: list[tuple[set[str], list[FilingInfo]]] = []
    for filing in filings:
        own = {key for key in (filing.ticker.lower(), _key(name_of(filing))) if key}
        group = next((group for group in groups if group[0] & own), None)
        if group is None:
            groups.append((own, [filing]))
        else:
            group[0].update(own)
            group[1].append(filing)
    return {_called(some): some for _, some in groups}


def _called(filings: Sequence[FilingInfo]) -> str:
    name = name_of(filings[0])
    others = {one_line(name_in(Path(filing.path)), _LONGEST_LINE) for filing in filings}
    known = _keys(name, filings[0].ticker, "")
    alike = "".join(sorted(known))
    other = sorted(text for text in others if text and _key(text) not in known and _key(text) not in alike)
    return f"{name} ({', '.join(other)})" if other else name


def in_years(filings: Sequence[FilingInfo], years: Iterable[int]) -> list[FilingInfo]:
    """The filings of these years; where there is none of a year, those of the two after it, which print it again.

    >>> filings = [_example("a.pdf", company="A", year=year) for year in (2019, 2021)]
    >>> [filing.fiscal_year for filing in in_years(filings, [2018, 2021])]
    [2019, 2021]
    """
    chosen: dict[str, FilingInfo] = {}
    for year in years:
        for late in (0, 1, 2):
            found = [filing for filing in filings if filing.fiscal_year in (year + late, None)]
            if any(filing.fiscal_year is not None for filing in found):
                chosen |= {filing.id: filing for filing in found}
                break
    return [filing for filing in filings if filing.id in chosen]


def latest(filings: Sequence[FilingInfo]) -> list[FilingInfo]:
    """The last filing of each company by the period that it is about; a year's report is later than its quarters.

    >>> filings = [_example(f"{year}.pdf", company="A", year=year) for year in (2019, 2021)]
    >>> [filing.fiscal_year for filing in latest(filings)]
    [2021]
    """
    dated = [[filing for filing in some if filing.fiscal_year] for some in companies_of(filings).values()]
    return [max(some, key=_when) for some in dated if some]


def later_than(cited: Collection[str], filings: Sequence[FilingInfo]) -> Iterator[tuple[str, FilingInfo]]:
    """The last filing of each company that is cited by an earlier one alone; `cited` are ids."""
    for company, some in companies_of(filings).items():
        used = [filing for filing in some if filing.id in cited]
        if used and (later := [last for last in latest(some) if _when(last) > max(map(_when, used))]):
            yield company, later[0]


def of_forms(text: str, filings: Sequence[FilingInfo]) -> list[FilingInfo]:
    """The filings of the forms that a text names; all of them where it names none.

    >>> filings = [_example("a.pdf", company="A", year=2021)]
    >>> len(of_forms("as this 10K says", filings)), len(of_forms("as it says", filings))
    (1, 1)
    """
    words = text.lower().replace("-", "")
    return [each for each in filings if each.kind and each.kind.lower().replace("-", "") in words] or list(filings)


def _when(filing: FilingInfo) -> tuple[int, int]:
    """The fiscal year and quarter that a filing is about, to compare by; a whole year stands after its quarters."""
    return filing.fiscal_year or 0, filing.quarter or 5


def _may_name(run: Sequence[str], capitals: set[str]) -> bool:
    if run[0] in _FILLING or run[-1] in _FILLING:
        return False
    if len(run) > 1:
        return True
    (word,) = run
    return word not in LEGAL_FORMS and (word in capitals or not word.isalpha())


def _is(key: str, filing: FilingInfo) -> bool:
    keys = _keys(filing.company, filing.ticker, filing.path)
    if key in keys:
        return True
    # A word that is spelt right is no slip of another one.
    if len(key) < _SHORTEST_SLIP or key in dictionary():
        return False
    return any(len(own) >= _SHORTEST_SLIP and own[0] == key[0] and _is_slip(key, own) for own in keys)


def _is_slip(key: str, own: str) -> bool:
    most = 2 if len(own) >= _LONG else 1
    return OSA.distance(key, own, score_cutoff=most) <= most


@lru_cache(maxsize=4096)
def _keys(company: str, ticker: str, path: str) -> frozenset[str]:
    """All names of a filing's company, each in one word without legal forms."""
    names = [company, name_in(Path(path))]
    keys = {_key(name) for name in names} | ({ticker.lower()} if len(ticker) > 1 else set())
    keys |= {key for name in names if (key := _first_word(name))}
    for symbol, known in KNOWN.items():
        own = {_key(name) for name in known.names}
        if ticker in (symbol, *known.tickers) or own & keys:
            keys |= own | {symbol.lower() for symbol in known.tickers if len(symbol) > 1}
    return frozenset(keys - {""})


def _first_word(name: str) -> str:
    words = [word.text for word in words_in(name) if word.text not in _FILLING]
    first = words[0] if words else ""
    return first if len(first) >= _SHORTEST_FIRST_WORD and first not in ORDINARY | LEGAL_FORMS else ""


def _key(name: str) -> str:
    """
    >>> _key("The Boeing Company"), _key("JOHNSON JOHNSON") == _key("Johnson & Johnson")
    ('boeing', True)
    """
    words = [word.text for word in words_in(name)]
    return "".join(_plain(words)) or "".join(words)


def _plain(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word not in LEGAL_FORMS and word not in _FILLING:
            yield word


def _example(path: str, *, company: str, year: int) -> FilingInfo:
    return FilingInfo(f"{company}/{year}", company, "", year, None, "10-K", "", path, path, 1, dt.datetime(2024, 1, 1))
