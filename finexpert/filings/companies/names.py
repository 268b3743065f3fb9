"""The ways in which a company's name is written: without its legal form, shortened, as initials, with its known other names.

    names_of(Company("AJG", "Arthur J. Gallagher & Co."))  ->  arthur j gallagher and co, arthur j gallagher, ...

A name is a tuple of folded words, "&" and "and" being one. Nothing is looked for in a text here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from finexpert.filings.companies.known import KNOWN
from finexpert.filings.companies.table import Company
from finexpert.filings.companies.words import LEGAL_FORMS, LOOK_ALIKES, ORDINARY

_WORD = re.compile(r"[^\W_]+|&")
_APOSTROPHES = "'\u2019\u2018`\u00b4"
_IN_BRACKETS = re.compile(r"\(([^)]*)\)")
_SHARE_CLASS = re.compile(r"\bclass\b", re.IGNORECASE)


class Word(NamedTuple):
    """A word of a text: folded, with where it stands and whether an owner's 's follows it."""

    text: str
    start: int
    end: int
    capital: bool
    possessive: bool


@dataclass(frozen=True)
class Name:
    """One way to write the name of a company; `needs_proof` where the word is an ordinary one."""

    words: tuple[str, ...]
    ticker: str
    score: float
    needs_proof: bool


def words_in(text: str) -> list[Word]:
    """The words of a text, an owner's 's taken off.

    >>> [word.text for word in words_in("AT&T's and McDonald\u2019s revenue")]
    ['at', 'and', 't', 'and', 'mcdonald', 'revenue']
    """
    words: list[Word] = []
    for found in _WORD.finditer(text):
        before = text[: found.start()].rstrip()[-1:]
        # FinQA and its like write the apostrophe of "company's" as the digits of its code point.
        if (found[0] in ("s", "S") and before and before in _APOSTROPHES) or found[0] == "2019s":
            if words:
                words[-1] = words[-1]._replace(possessive=True)
            continue
        words.append(Word(_folded(found[0]), found.start(), found.end(), found[0][0].isupper(), False))
    return words


def names_of(company: Company) -> list[Name]:
    """All ways to write a company's name, the fullest first, each once."""
    known = KNOWN.get(company.ticker)
    given = [*_spellings(company.name), *company.aliases, *(known.names if known else ())]
    written: dict[tuple[str, ...], float] = {}
    for text in given:
        for words in _shortened(tuple(word.text for word in words_in(text))):
            for spelling in (words, _joined_initials(words)):
                written.setdefault(spelling, 1.0)
        if (plain := words_in(text)) and plain[-1].possessive:
            written.setdefault((*(word.text for word in plain[:-1]), f"{plain[-1].text}s"), 1.0)
    sure = {tuple(word.text for word in words_in(text)) for text in (*company.aliases, *(known.names if known else ()))}
    return [
        Name(words, company.ticker, score, _needs_proof(words, sure))
        for words, score in sorted(written.items(), key=lambda item: -len(item[0]))
        if any(len(word) > 1 for word in words) or len(words) > 2
    ]


def first_words(companies: Sequence[Company]) -> list[Name]:
    """First words that belong to one company alone, such as "Lockheed"; ordinary words are left out."""
    owners: dict[str, set[str]] = defaultdict(set)
    for company in companies:
        for spelling in _spellings(company.name):
            if words := words_in(spelling):
                owners[words[0].text].add(_family(company.ticker))
    return [
        Name((word.text,), company.ticker, 0.9, False)
        for company in companies
        for spelling in _spellings(company.name)
        if len(words := words_in(spelling)) > 1
        and len(owners[(word := words[0]).text]) == 1
        and len(word.text) >= 5
        and word.text not in ORDINARY
    ]


def initials(companies: Sequence[Company]) -> dict[str, str]:
    """Initials in capitals to symbol, where one company alone has them and no symbol is written so.

    >>> initials([Company("MLM", "Martin Marietta Materials"), Company("IFF", "International Flavors & Fragrances")])
    {'MMM': 'MLM', 'IFF': 'IFF'}
    """
    symbols = {company.ticker for company in companies}
    owners: dict[str, set[str]] = defaultdict(set)
    for company in companies:
        for spelling in _spellings(company.name):
            words = [w.text for w in words_in(spelling) if w.text not in LEGAL_FORMS | {"of", "and"}]
            if len(words) >= 3 and (short := "".join(word[0] for word in words).upper()).isalpha():
                owners[short].add(company.ticker)
    return {
        short: next(iter(tickers))
        for short, tickers in owners.items()
        if len(tickers) == 1 and short not in LOOK_ALIKES and (short not in symbols or tickers == {short})
    }


def family(ticker: str, present: Iterable[str]) -> tuple[str, ...]:
    """The symbols of the same company that are present, the given one first.

    >>> family("BALL", {"BALL", "BLL", "AAPL"})
    ('BALL', 'BLL')
    """
    known = KNOWN.get(ticker)
    here = set(present)
    return (ticker, *(other for other in (known.tickers if known else ()) if other != ticker and other in here))


def _family(ticker: str) -> str:
    known = KNOWN.get(ticker)
    return known.tickers[0] if known else ticker


def _spellings(name: str) -> Iterator[str]:
    """A name without its brackets: "Lilly (Eli)" is also "Eli Lilly", "(The)" and share classes are dropped."""
    plain = _IN_BRACKETS.sub(" ", name)
    yield plain
    inner = " ".join(_IN_BRACKETS.findall(name))
    if inner and not _SHARE_CLASS.search(inner) and inner.casefold() != "the":
        yield f"{inner} {plain}"


def _shortened(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if words[:1] == ("the",):
        words = words[1:]
    while words:
        yield words
        if words[-1] not in LEGAL_FORMS or len(words) == 1:
            return
        words = words[:-1]
        while len(words) > 1 and words[-1] in ("and", "of"):
            words = words[:-1]


def _joined_initials(words: tuple[str, ...]) -> tuple[str, ...]:
    """("j", "b", "hunt") as ("jb", "hunt")."""
    count = next((place for place, word in enumerate(words) if len(word) > 1), 0)
    return ("".join(words[:count]), *words[count:]) if count > 1 else words


def _needs_proof(words: tuple[str, ...], sure: set[tuple[str, ...]]) -> bool:
    if len(words) > 1:
        return False
    word = words[0]
    return word in ORDINARY or len(word) <= 2 or (word.upper() in LOOK_ALIKES) or (len(word) == 3 and words not in sure)


def _folded(word: str) -> str:
    if word == "&":
        return "and"
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word)
    return "".join(c for c in plain if not unicodedata.combining(c)).casefold()
