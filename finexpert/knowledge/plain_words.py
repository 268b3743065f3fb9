"""Plain words: whether a question holds a word that only a house could explain.

    unfamiliar("How many stress months were there since 1990?")  ->  ["stress"]
    unfamiliar("How many months had inflation above 3%?")        ->  []

`plain_words.txt` lists what a financial analyst needs no explanation for. A word that is not on it is not wrong: it
only has to be looked at by someone who understands it. That a word is plain does not say that the question is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from finexpert.text.terms import ARTICLES, normalise, spans_in, words_of

FILE = Path(__file__).with_name("plain_words.txt")

# 30, 1990s, 20th, q2, 2q, h1, fy2020, 10y, 3m, 50bp, m2, 2s10s, 5y5y
_NUMBER = re.compile(r"\d[\d.,]*(?:st|nd|rd|th|bps?|pct|mo|yr|[a-z])?|[a-z]\d{1,3}|fy\d{2,4}|\d+[sy]\d+[sy]?")
_QUOTED = re.compile(
    '["\u201c\u201d\u00ab\u00bb]([^"\u201c\u201d\u00ab\u00bb]{2,80})["\u201c\u201d\u00ab\u00bb]'
    "|(?<!\\w)['\u2018]([^'\u2018\u2019]{2,80})['\u2019](?!\\w)"
)
_OWNER = re.compile(
    r"\b(?:our|my|(?:the )?(?:house|desk|team|committee|shop|strategist|boss)['\u2019]s|in[- ]house)\s+((?:[\w&-]+\s*){1,2})",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"(?<=[\w,;:] )(?:[A-Z][a-z]+[ -])+[A-Z][a-z]+")
_OWN_DATA = frozenset({"data", "database", "dataset", "sample", "table", "warehouse", "question", "answer", "series"})
_COMPARING = frozenset({"over", "on", "by", "to", "ago", "earlier", "before", "later"})


@dataclass(frozen=True)
class PlainWords:
    """The sections of the list, folded."""

    words: frozenset[str]
    nouns: frozenset[str]
    periods: frozenset[str]
    names: frozenset[str]
    excluded: frozenset[str]
    phrases: frozenset[str]


def unfamiliar(text: str, known: Collection[str] = ()) -> list[str]:
    """What in the text is neither plain nor known, each once; empty: there is nothing to look up.

    `known` are words that are explained elsewhere (of the schema card, of the conversation); an entry of several words
    is a term that is explained as a whole, also after "our". Else what someone calls their own is unfamiliar.

    >>> unfamiliar("Is the stress-month average above 5%?")
    ['stress']
    >>> unfamiliar("Is our core rate above 5%?", known={"core"}), unfamiliar("Is our core rate up?", known={"core rate"})
    (['our core rate'], [])
    """
    plain = plain_words()
    familiar = {_folded(entry) for entry in known}
    terms = {entry for entry in familiar if " " in entry}
    words = words_of(text)
    covered = {place for start, end, _ in spans_in(words, plain.phrases | terms) for place in range(start, end)}
    found = [*_own(text, terms), *_marked(text, familiar, terms, plain)]
    for place, word in enumerate(words):
        if place in covered:
            continue
        if word not in familiar and not _is_plain(word):
            found.append(word)
        elif word in plain.nouns and _makes_a_term(words[place + 1 : place + 3], plain):
            found.append(f"{word} {words[place + 1]}")
    return list(dict.fromkeys(found))


def everyday(name: str) -> bool:
    """Whether a name is a plain word alone, or a phrase that needs no explanation: it stands in questions that mean nothing by it.

    >>> everyday("the month"), everyday("stress month"), everyday("tense month")
    (True, False, False)
    """
    words = [word for word in words_of(name) if word not in ARTICLES]
    return (len(words) == 1 and _is_plain(words[0])) or normalise(name) in plain_words().phrases


@cache
def plain_words() -> PlainWords:
    """The list, read once."""
    sections: dict[str, list[str]] = {}
    for line in FILE.read_text("utf-8").splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    phrases = frozenset(normalise(phrase) for line in sections.pop("phrases") for phrase in line.split(",")) - {""}
    folded = {section: frozenset(words_of(" ".join(lines))) for section, lines in sections.items()}
    return PlainWords(phrases=phrases, **folded)


def _own(text: str, terms: Collection[str]) -> Iterator[str]:
    """What is said to be someone's own: `our stress months`, `the desk's measure`."""
    for match in _OWNER.finditer(text):
        words = words_of(match[1])
        if words and words[0] not in _OWN_DATA and not any(start == 0 for start, _, _ in spans_in(words, terms)):
            yield normalise(match[0])


def _marked(text: str, familiar: set[str], terms: set[str], plain: PlainWords) -> Iterator[str]:
    """What is marked as a term, by quotes or by capitals within a sentence."""
    for match in _QUOTED.finditer(text):
        if not _explained(quoted := match[1] or match[2], familiar, terms | plain.phrases):
            yield normalise(quoted)
    words = re.findall(r"[^\W\d_]{2,}", text)
    if sum(word.istitle() for word in words[1:]) > 0.6 * len(words[1:]):
        return  # a headline
    for match in _CAPITALISED.finditer(text):
        if not _explained(match[0], plain.names | familiar, terms | plain.phrases):
            yield normalise(match[0])


def _explained(phrase: str, familiar: Collection[str], phrases: Collection[str]) -> bool:
    words = words_of(phrase)
    covered = {place for start, end, _ in spans_in(words, phrases) for place in range(start, end)}
    return all(place in covered or word in familiar or _NUMBER.fullmatch(word) for place, word in enumerate(words))


def _makes_a_term(following: Sequence[str], plain: PlainWords) -> bool:
    """Whether a noun makes a term with the period after it: `inflation months`, but not `inflation year over year`."""
    return bool(following) and following[0] in plain.periods and not _COMPARING & set(following[1:])


@lru_cache(maxsize=20_000)
def _folded(entry: str) -> str:
    return normalise(entry)


@lru_cache(maxsize=20_000)
def _is_plain(word: str) -> bool:
    plain = plain_words()
    if word in plain.words or len(word) == 1 or _NUMBER.fullmatch(word):
        return True
    return word not in plain.excluded and any(stem in plain.words for stem in _stems(word))


def _stems(word: str) -> Iterator[str]:
    """What the word may be an inflection of: `crossed` and `crossing` of `cross`."""
    for suffix in ("ing", "ed", "ly"):
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) > 2:
            yield stem
            yield stem + "e"
            if stem[-1] == stem[-2]:
                yield stem[:-1]
            if stem[-1] == "i":
                yield stem[:-1] + "y"
