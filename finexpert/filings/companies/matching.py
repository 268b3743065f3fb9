"""Finding names and symbols of companies in a text.

    index = NameIndex([Company("TGT", "Target Corporation")])
    index.find("target ratio of Target Corp")   ->  one span, over "Target Corp"

The longest name wins; what it covers is not looked at again. Exact names first, then symbols and initials in capitals,
then, for words that are in no dictionary, names at a distance of a slip or two.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rapidfuzz import fuzz, process

from finexpert.embeddings.minilm import WORDPIECES
from finexpert.filings.companies.known import KNOWN
from finexpert.filings.companies.names import Name, Word, first_words, initials, names_of, words_in
from finexpert.filings.companies.table import Company
from finexpert.filings.companies.words import LEGAL_FORMS, LOOK_ALIKES, NAMES_WITHOUT_CAPITALS

FUZZY_THRESHOLD = 88.0
SHORTEST_FUZZY = 6
_LONGEST_NAME = 8
_SYMBOL = re.compile(r"(?<![\w.&-])(\$?)([A-Z]{1,5}(?:[.-][AB])?)(?![\w&])")
_NAMED_SYMBOL = re.compile(
    r"(?:\b(?:ticker|symbol|nyse|nasdaq)\b(?:\s+symbol)?\s*(?:is|of|for)?\s*[:=]?\s*[\"'(]?)([A-Za-z]{1,5}(?:\.[A-Za-z])?)\b",
    re.IGNORECASE,
)
_SMALL_SYMBOL = re.compile(
    r"(?<![\w.&-])([a-z]{3,5})(?:(?=\s*['\u2019]\s*s\b)|(?=\s+2019s\b)|(?=\s+(?:common\s+)?stock\b))"
)
_AFTER_SYMBOL = re.compile(r"\s*['\u2019]\s*s\b|\s+2019s\b|/(?:19|20)\d\d\b")
_SENTENCE_END = re.compile(r"(?:^|[.?!:;\"(])\s*$")


@dataclass(frozen=True)
class Span:
    """Characters `start` to `end` name a company, under these symbols."""

    tickers: tuple[str, ...]
    start: int
    end: int
    score: float


class NameIndex:
    """The names and symbols of companies."""

    def __init__(self, companies: Sequence[Company]) -> None:
        self._names: dict[tuple[str, ...], list[Name]] = defaultdict(list)
        self._longest: dict[str, int] = defaultdict(int)
        for name in [*(name for company in companies for name in names_of(company)), *first_words(companies)]:
            if all(name.ticker != known.ticker for known in self._names[name.words]):
                self._names[name.words].append(name)
            self._longest[name.words[0]] = max(self._longest[name.words[0]], len(name.words))
        self._symbols = {company.ticker: company.ticker for company in companies} | {
            former: company.ticker
            for company in companies
            for former in (KNOWN[company.ticker].tickers if company.ticker in KNOWN else ())
            if all(former != other.ticker for other in companies)
        }
        self._initials = initials(companies)
        self._in_one_word = {words[0] for words in self._names if len(words) == 1 and len(words[0]) >= SHORTEST_FUZZY}
        self._fuzzy = {
            " ".join(words): words
            for words, names in self._names.items()
            if len("".join(words)) >= SHORTEST_FUZZY and not all(name.needs_proof for name in names)
        }

    def find(self, text: str) -> list[Span]:
        """The places of a text that name a company, in order, none over another."""
        words = words_in(text)
        spans = self._exact(text, words)
        spans += self._by_symbol(text, spans)
        spans += self._near(words, spans)
        return sorted(spans, key=lambda span: span.start)

    def _exact(self, text: str, words: Sequence[Word]) -> list[Span]:
        spans: list[Span] = []
        mixed = _is_mixed(text)
        place = 0
        while place < len(words):
            longest = min(self._longest.get(words[place].text, 0), _LONGEST_NAME, len(words) - place)
            for count in range(longest, 0, -1):
                names = self._names.get(tuple(word.text for word in words[place : place + count]))
                if names and (proven := [n for n in names if not n.needs_proof or _proof(text, words, place, mixed)]):
                    end = words[place + count - 1].end
                    # A legal form behind a name belongs to it: "Target Corp", "Masco Corporation".
                    if place + count < len(words) and words[place + count].text in LEGAL_FORMS - {"the", "group"}:
                        end = words[place + count].end
                    spans.append(Span(tuple(n.ticker for n in proven), words[place].start, end, proven[0].score))
                    place += count - 1
                    break
            place += 1
        return spans

    def _by_symbol(self, text: str, taken: Sequence[Span]) -> list[Span]:
        spans: list[Span] = []
        for found in _NAMED_SYMBOL.finditer(text):
            ticker = self._symbols.get(found[1].upper())
            if ticker and _free(found.start(1), found.end(1), taken):
                spans.append(Span((ticker,), found.start(1), found.end(1), 1.0))
        for found in _SMALL_SYMBOL.finditer(text):
            ticker = self._symbols.get(found[1].upper()) if found[1] not in dictionary() else None
            if ticker and _free(found.start(1), found.end(1), [*taken, *spans]):
                spans.append(Span((ticker,), found.start(1), found.end(1), 0.9))
        mixed = _is_mixed(text)
        for found in _SYMBOL.finditer(text):
            symbol = found[2].replace("-", ".")
            if not _free(found.start(2), found.end(2), [*taken, *spans]):
                continue
            ticker = self._symbols.get(symbol) or (self._initials.get(symbol) if mixed else None)
            if ticker and self._is_meant(text, found, symbol, mixed):
                spans.append(Span((ticker,), found.start(2), found.end(2), 1.0))
        return spans

    def _is_meant(self, text: str, found: re.Match[str], symbol: str, mixed: bool) -> bool:
        if found[1] or _AFTER_SYMBOL.match(text, found.end()):
            return True
        if text[found.start() - 1 : found.start()] == "(" and text[found.end() : found.end() + 1] == ")":
            return symbol not in LOOK_ALIKES or len(symbol) == 1
        return mixed and len(symbol) > 1 and symbol not in LOOK_ALIKES

    def _near(self, words: Sequence[Word], taken: Sequence[Span]) -> list[Span]:
        spans: list[Span] = []
        for count in (4, 3, 2, 1):
            for place in range(len(words) - count + 1):
                window = words[place : place + count]
                start, end = window[0].start, window[-1].end
                if not _free(start, end, [*taken, *spans]):
                    continue
                joined = ("".join(word.text for word in window),)
                if count > 1 and joined[0] in self._in_one_word and joined in self._names:
                    spans.append(Span(tuple(name.ticker for name in self._names[joined]), start, end, 0.95))
                    continue
                if not _may_be_misspelt(window):
                    continue
                written = " ".join(word.text for word in window)
                found = process.extractOne(written, self._fuzzy.keys(), scorer=fuzz.ratio, score_cutoff=FUZZY_THRESHOLD)
                if found and found[0][0] == written[0]:
                    tickers = tuple(name.ticker for name in self._names[self._fuzzy[found[0]]] if not name.needs_proof)
                    spans.append(Span(tickers, start, end, round(found[1] / 100, 3)))
        return spans


def _proof(text: str, words: Sequence[Word], place: int, mixed: bool) -> bool:
    """Whether an ordinary word is meant as a name: see `finexpert.filings.companies.words`."""
    word = words[place]
    after = words[place + 1] if place + 1 < len(words) else None
    if after and after.text in LEGAL_FORMS - {"the", "group", "holding", "company", "co"}:
        return True
    if text.islower() and (word.text in NAMES_WITHOUT_CAPITALS or (word.text == "apple" and word.possessive)):
        return True
    if not (mixed and word.capital):
        return False
    if word.possessive:
        return True
    if after and after.capital and text[word.end : after.start].isspace():
        return False
    # A word inside of a name of several words, such as the city of Newport News, is not meant by itself.
    if place > 1 and words[place - 1].capital and text[words[place - 1].end : word.start].isspace():
        return False
    return not _SENTENCE_END.search(text[: word.start])


def _may_be_misspelt(window: Sequence[Word]) -> bool:
    written = [word.text for word in window]
    if len("".join(written)) < SHORTEST_FUZZY or any(word.isdigit() for word in written):
        return False
    ends = (written[0], written[-1])
    if any(word in dictionary() and len(word) <= 3 for word in ends):
        return False
    return any(word not in dictionary() and (len(window) > 1 or not _is_inflected(word)) for word in written)


def _is_inflected(word: str) -> bool:
    """Whether a word is one of the dictionary with an ending: "allegations", "modernised"."""
    endings = (
        "s",
        "es",
        "ed",
        "d",
        "ing",
        "ly",
        "ion",
        "ions",
        "er",
        "ers",
        "al",
        "able",
        "ity",
        "ic",
        "ments",
        "ment",
    )
    return any(word.endswith(ending) and word[: -len(ending)] in dictionary() for ending in endings)


def _is_mixed(text: str) -> bool:
    return sum(map(str.islower, text)) > sum(map(str.isupper, text))


def _free(start: int, end: int, taken: Sequence[Span]) -> bool:
    return all(end <= span.start or start >= span.end for span in taken)


@cache
def dictionary() -> frozenset[str]:
    """Words that are spelt right: the whole words that the packaged sentence model knows."""
    return frozenset(WORDPIECES.read_text(encoding="utf-8").splitlines())
