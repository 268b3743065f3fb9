"""Labels of rows and columns: which of them a name means.

    >>> labels = [Label("net sales ( 1 )"), Label("cost of sales"), Label("net sales growth")]
    >>> find(labels, "Net Sales")
    [Match(place=0, kind='normalised', score=100.0)]
    >>> find([Label("december 31 2017"), Label("12/31/16")], "fiscal 2016")
    [Match(place=1, kind='year', score=100.0)]

Tried in this order: the same text, the same letters and digits, the same words and dates, the same words and years, then
a fuzzy comparison. Two names that speak of different years never match. Several matches of the best kind all come
back: choosing among them is the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from rapidfuzz import fuzz

from finexpert.filings.page.folding import fold

MatchKind = Literal["exact", "normalised", "date", "year", "fuzzy"]
FUZZY_THRESHOLD = 85.0
_TIE = 1.0

_MONTHS = {name: number for number, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1)}  # fmt: skip
_MONTH = (
    r"\b(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\s*\.?"
)
_DAY_YEAR = re.compile(_MONTH + r"\s*(\d{1,2})(?:st|nd|rd|th)?\s*,?\s*((?:19|20)\d\d)(?!\d)")
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\s*" + _MONTH + r"\s*,?\s*((?:19|20)\d\d)(?!\d)")
_MONTH_YEAR = re.compile(_MONTH + r"\s*,?\s*((?:19|20)\d\d)(?!\d)")
_NUMERIC = re.compile(r"\b(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})\b")
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d{2})-(\d{2})\b")
_NUMERIC_MONTH = re.compile(r"(?<![\d/])(\d{1,2})/((?:19|20)\d\d|\d{2})(?![\d/])")
_FISCAL = re.compile(r"\b(?:fy|fiscal(?:\s+year)?)\s*'?\s*((?:19|20)\d\d|\d{2})(?!\d)|(?<![\w])'(\d{2})(?!\d)")
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_MARKS = re.compile(r"\(\s*(?:[a-z]{1,2}|\d{1,2})\s*\)|\[\s*\w{1,2}\s*\]|[*#\u2020\u2021]")
_SCALE_NOTE = re.compile(
    r"\(?\s*(?:[$\u20ac\u00a3]|dollars?|amounts?|dollar amounts?)?\s*\bin\s+(?:[$\u20ac\u00a3]\s*)?"
    r"(?:thousands|millions|billions|percentages?)\b(?:\s+of\s+(?:u\.?s\.?\s*)?dollars)?\s*\)?"
)
_FILLER = frozenset(
    {"the", "of", "for", "as", "at", "and", "a", "an", "in", "to", "on"}
    | {"year", "years", "ended", "ending", "end", "fiscal", "fy", "calendar", "full", "period", "annual"}
)
_WORD = re.compile(r"[^\W_]+|%")
_PREFIX = re.compile(r"^\s*[rc]\d{1,5}\s*[:=]\s*", re.IGNORECASE)


class Match(NamedTuple):
    """A label that fits: its place in the list, how it fits, and the score from 0 to 100."""

    place: int
    kind: MatchKind
    score: float


@dataclass(frozen=True)
class Label:
    """A label and its spellings, each computed once."""

    text: str

    @cached_property
    def folded(self) -> str:
        return _PREFIX.sub("", fold(self.text))

    @cached_property
    def squeezed(self) -> str:
        """Letters and digits alone, footnote marks left out."""
        return "".join(_WORD.findall(_MARKS.sub(" ", self.folded)))

    @cached_property
    def _parts(self) -> tuple[str, frozenset[str], str]:
        text = _SCALE_NOTE.sub(" ", self.folded)
        rest, dates = _take_dates(_MARKS.sub(" ", text))
        words = " ".join(word for word in _WORD.findall(rest) if word not in _FILLER)
        return words.replace(" ", ""), frozenset(dates), words

    @property
    def core(self) -> str:
        """The words that are neither dates nor filler, squeezed."""
        return self._parts[0]

    @property
    def words(self) -> str:
        return self._parts[2]

    @property
    def dates(self) -> frozenset[str]:
        """The dates named, as '2017', '2017-12' or '2017-12-31'."""
        return self._parts[1]

    @cached_property
    def years(self) -> frozenset[str]:
        return frozenset(date[:4] for date in self.dates)


def find(labels: Sequence[Label], name: str, threshold: float = FUZZY_THRESHOLD) -> list[Match]:
    """All labels that fit a name in the best way in which any fits; an empty list where none does."""
    wanted = Label(name)
    if not wanted.squeezed:
        return []
    for kind in ("exact", "normalised", "date", "year"):
        if found := [Match(i, kind, 100.0) for i, label in enumerate(labels) if _fits(label, wanted, kind)]:
            return found
    scores = [(similarity(label, wanted), i) for i, label in enumerate(labels)]
    best = max(scores, default=(0.0, 0))[0]
    if best < threshold:
        return []
    return [Match(i, "fuzzy", round(score, 1)) for score, i in scores if score >= best - _TIE]


def similarity(label: Label, wanted: Label) -> float:
    """How alike two labels are, 0 to 100; 0 where both name years and not the same ones.

    >>> similarity(Label("total net revenue 2016"), Label("net revenue 2017"))
    0.0
    >>> similarity(Label("weighted-averagegrant datefair value"), Label("weighted average grant date fair value"))
    100.0
    """
    if wanted.years and label.years and not wanted.years & label.years:
        return 0.0
    if not wanted.core or not label.core:
        return 0.0
    return max(
        fuzz.ratio(label.core, wanted.core),
        fuzz.token_sort_ratio(label.words, wanted.words),
        0.92 * fuzz.token_set_ratio(label.words, wanted.words),
    )


def nearest(labels: Sequence[Label], name: str, limit: int = 5) -> list[int]:
    """Places of the labels most like a name, whatever the years, best first: for an error message."""
    wanted = fold(name)
    scores = [(fuzz.WRatio(label.folded, wanted), -i) for i, label in enumerate(labels) if label.folded]
    return [-i for score, i in sorted(scores, reverse=True)[:limit] if score > 0]


def _fits(label: Label, wanted: Label, kind: MatchKind) -> bool:
    if kind == "exact":
        return label.folded == wanted.folded
    if kind == "normalised":
        return label.squeezed == wanted.squeezed
    if not wanted.dates or label.core != wanted.core:
        return False
    if kind == "date":
        return label.dates == wanted.dates
    return label.years == wanted.years and _agree(label.dates, wanted.dates)


def _agree(one: frozenset[str], other: frozenset[str]) -> bool:
    """Each date is the same as one of the other side as far as both are told."""
    return all(any(a.startswith(b) or b.startswith(a) for b in other) for a in one) and all(
        any(a.startswith(b) or b.startswith(a) for a in one) for b in other
    )


def _take_dates(text: str) -> tuple[str, set[str]]:
    """A folded text without its dates, and the dates.

    >>> sorted(_take_dates("year ended dec . 282013 and fy17")[1])
    ['2013-12-28', '2017']
    """
    dates: set[str] = set()

    def keep(year: str, month: int | str | None = None, day: str | None = None) -> str:
        number = _MONTHS[month[:3]] if isinstance(month, str) else month
        if number is not None and not 1 <= number <= 12:
            number = None
        dates.add(
            _full_year(year) + (f"-{number:02}" if number else "") + (f"-{int(day):02}" if number and day else "")
        )
        return " "

    if not any(c.isdigit() for c in text):
        return text, dates
    text = _ISO.sub(lambda m: keep(m[1], int(m[2]), m[3]), text)
    text = _DAY_YEAR.sub(lambda m: keep(m[3], m[1], m[2]), text)
    text = _DAY_FIRST.sub(lambda m: keep(m[3], m[2], m[1]), text)
    text = _MONTH_YEAR.sub(lambda m: keep(m[2], m[1]), text)
    text = _NUMERIC.sub(lambda m: keep(m[3], int(m[1]), m[2]), text)
    text = _NUMERIC_MONTH.sub(lambda m: keep(m[2], int(m[1])) if 1 <= int(m[1]) <= 12 else m[0], text)
    text = _FISCAL.sub(lambda m: keep(m[1] or m[2]), text)
    return _YEAR.sub(lambda m: keep(m[1]), text), dates


def _full_year(year: str) -> str:
    return year if len(year) == 4 else f"{'19' if int(year) > 50 else '20'}{year}"
