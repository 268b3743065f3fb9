"""Ranking the printed pages of a few filings for several searches: words, phrases and statements, joined by reciprocal rank.

    ranked(pages, [Sought("total current assets"), Sought("quick ratio", weight=0.5)], statements=["balance sheet"])

Everything is computed on the pages at hand when they are asked for: nothing is stored, no model and no vector is needed.
A search worded as the filing prints it counts as words (BM25) and as a run of words (a line that holds them all).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from finexpert.plans.pages.printed import Printed, words_of
from finexpert.plans.pages.statements import Statement, statement_of

K1, B = 1.4, 0.6
NEAR_RANK = 3
MOST_PROPOSED = 30
_WHOLE_LINE = 1.0
_STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "if",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "our",
        "per",
        "that",
        "the",
        "their",
        "this",
        "to",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
    ]
)


@dataclass(frozen=True)
class Sought:
    """One search: its words, in which filings it is made (all where none are named), and what it counts."""

    phrase: str
    filings: frozenset[str] = frozenset()
    weight: float = 1.0


class Pages:
    """The printed pages of some filings, with what ranking needs of each; it never changes."""

    def __init__(self, pages: Sequence[Printed]) -> None:
        self.pages = pages
        self._counts = [Counter(page.words) for page in pages]
        self._lengths = [max(1, len(page.words)) for page in pages]
        self._usual = sum(self._lengths) / max(1, len(pages))

    @cached_property
    def _on(self) -> Mapping[str, list[int]]:
        places: dict[str, list[int]] = defaultdict(list)
        for place, counts in enumerate(self._counts):
            for word in counts:
                places[word].append(place)
        return places

    @cached_property
    def statements(self) -> Mapping[int, Statement]:
        """The pages that print a main statement, by their place."""
        return {place: kind for place, page in enumerate(self.pages) if (kind := statement_of(page))}

    def best(self, sought: Sought) -> list[int]:
        """The places of the pages for one search, best first."""
        words = [word for word in words_of(sought.phrase) if word not in _STOP]
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(words):
            on = self._on.get(word, [])
            rare = math.log(1 + (len(self.pages) - len(on) + 0.5) / (len(on) + 0.5))
            for place in on:
                if not sought.filings or self.pages[place].filing.id in sought.filings:
                    count = self._counts[place][word]
                    length = 1 - B + B * self._lengths[place] / self._usual
                    scores[place] += rare * count * (K1 + 1) / (count + K1 * length)
        proposed = sorted(scores, key=lambda place: (-scores[place], place))[:MOST_PROPOSED]
        if len(words) > 1:
            most = scores[proposed[0]] if proposed else 0.0
            for place in proposed:
                scores[place] += _WHOLE_LINE * most * self._together(place, set(words))
        return sorted(proposed, key=lambda place: (-scores[place], place))

    def _together(self, place: int, words: set[str]) -> float:
        """Which share of the words stands in one line of the page at most, in a table's row above all."""
        best = 0.0
        for line in self.pages[place].lines:
            own = words_of(line.text)
            share = len(words & set(own)) / len(words)
            # A long paragraph has many words by chance; a row has them on purpose.
            best = max(best, share * min(1.0, (8 * len(words) + 20) / (len(own) + 1)))
        return best if best > 0.5 else 0.0


def ranked(
    pages: Pages, searches: Sequence[Sought], statements: Collection[Statement] = (), about: Collection[str] = ()
) -> list[Printed]:
    """All pages that any search finds, best first, by reciprocal rank over the searches.

    The statements named are pages that are meant, like the first page of a search, in the filings `about` which are asked.
    """
    scores: dict[int, float] = defaultdict(float)
    for sought in searches:
        for rank, place in enumerate(pages.best(sought)):
            scores[place] += sought.weight / (rank + NEAR_RANK)
    for place, kind in pages.statements.items():
        if kind in statements and (not about or pages.pages[place].filing.id in about):
            scores[place] += 1.5 / NEAR_RANK
    return [pages.pages[place] for place in sorted(scores, key=lambda place: (-scores[place], place))]


def within(
    pages: Sequence[Printed], tokens: int, asked: Collection[str], sharing: int = 1
) -> list[tuple[Printed, str]]:
    """As many of the first pages as fit into a budget of tokens, each with the text that is shown; at least one.

    Where several companies share the budget, a page takes no more than the share of its company.
    """
    room = tokens * CHARACTERS_A_TOKEN
    longest = max(_SHORTEST_PAGE, min(_LONGEST_PAGE, int(room / sharing)))
    shown: list[tuple[Printed, str]] = []
    for page in pages:
        text = page.shown(min(longest, max(int(room), _SHORTEST_PAGE)), asked)
        if shown and len(text) > room:
            break
        shown.append((page, text))
        room -= len(text)
    return shown


CHARACTERS_A_TOKEN = 3.5
_LONGEST_PAGE, _SHORTEST_PAGE = 7_000, 1_500
