"""Time in a question: which years and quarters it means, by rules and against a day that counts as today.

    >>> found = resolve_periods("How did revenue change from 6 years ago to a year before that?", dt.date(2025, 3, 1))
    >>> [(mention.text, mention.years) for mention in found.mentions]
    [('6 years ago', (2019,)), ('a year before that', (2018,))]
    >>> found.rewritten
    'How did revenue change from 2019 to 2018?'

- A year or quarter that is only named is the company's own: with a fiscal year that ends in September, "Q1 2025" is October
  to December 2024, as is "Q1 FY2025". "Calendar 2024" and dates are put into the fiscal years and quarters they fall in.
- "6 years ago" and "last year" count from today's calendar year, "last fiscal year" from today's fiscal year.
- "The last three years" are the three before the current one. "Since 2012" ends with the current year.
- "A year before that" and "the prior year" count from the time named before them, else from the next one, else from today.

The same words give the same years, always: no model, no clock.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from finexpert.text.periods.calendar import FiscalCalendar
from finexpert.text.periods.reading import PeriodReading, Reader
from finexpert.text.periods.words import (
    COUNTED_AFTER,
    NOT_A_YEAR_AFTER,
    NOT_A_YEAR_BEFORE,
    TAKES_A_YEAR,
    YEAR_BEFORE,
    rules,
)

_LONGEST_QUESTION = 20_000


@dataclass(frozen=True)
class PeriodMention:
    """Words about time at characters `start` to `end`, and what they mean.

    `years` and `quarters` are those of the company; `quarters` is empty where whole years or a day are meant. `fiscal` says
    that the words call the year fiscal. `first` and `last` are the days, None for a quarter without a year.
    """

    text: str
    start: int
    end: int
    years: tuple[int, ...]
    quarters: tuple[int, ...]
    fiscal: bool
    first: dt.date | None = None
    last: dt.date | None = None
    relative: bool = False


@dataclass(frozen=True)
class Periods:
    """The time of a question: its mentions in order, all years and quarters, and the question with relative words replaced."""

    mentions: tuple[PeriodMention, ...]
    years: frozenset[int]
    quarters: frozenset[int]
    rewritten: str


def resolve_periods(question: str, as_of: dt.date, fiscal_year_end: int = 12) -> Periods:
    """The years and quarters that a question names; `fiscal_year_end` is the month with which the company's year ends.

    >>> resolve_periods("Q1 FY2025?", dt.date(2025, 3, 1), fiscal_year_end=9).mentions[0].first
    datetime.date(2024, 10, 1)
    """
    reader = Reader(FiscalCalendar(fiscal_year_end), as_of)
    matches = _matches(question[:_LONGEST_QUESTION])
    readings: list[PeriodReading | None] = [reader.read(rule, match) for rule, match in matches]
    for place, (rule, match) in enumerate(matches):
        if rule.startswith("chained"):
            readings[place] = reader.chained(rule, match, _anchor(readings, matches, place))
    mentions = tuple(
        PeriodMention(match[0], match.start(), match.end(), reading.years, reading.quarters, reading.fiscal,
                      reading.first, reading.last, reading.relative)
        for (_, match), reading in zip(matches, readings, strict=True)
        if reading
    )  # fmt: skip
    return Periods(
        mentions,
        frozenset(year for mention in mentions for year in mention.years),
        frozenset(quarter for mention in mentions for quarter in mention.quarters),
        _rewritten(question, mentions),
    )


def _matches(question: str) -> list[tuple[str, re.Match[str]]]:
    """What the rules find, leftmost and longest first, none over another."""
    found = [
        (match.start(), -len(match[0].rstrip()), order, name, match)
        for order, (name, pattern) in enumerate(rules())
        for match in pattern.finditer(question)
        if name not in ("bare_year", "span", "since") or _is_year(question, match, name)
    ]
    kept: list[tuple[str, re.Match[str]]] = []
    for _, _, _, name, match in sorted(found, key=lambda item: item[:3]):
        if not kept or match.start() >= kept[-1][1].end():
            kept.append((name, match))
    return kept


def _is_year(question: str, match: re.Match[str], rule: str) -> bool:
    """Whether four digits are a year and no amount, page or count."""
    before, after = question[max(0, match.start() - 20) : match.start()], question[match.end() : match.end() + 40]
    if NOT_A_YEAR_AFTER.match(after) or NOT_A_YEAR_BEFORE.search(before):
        return False
    return rule != "bare_year" or not COUNTED_AFTER.match(after) or bool(YEAR_BEFORE.search(before))


def _anchor(
    readings: Sequence[PeriodReading | None], matches: Sequence[tuple[str, re.Match[str]]], place: int
) -> PeriodReading | None:
    """What "that" and "the prior year" count from: the nearest reading with a year before them, else after them."""
    for reading in reversed(readings[:place]):
        if reading and reading.years:
            return reading
    for reading, (rule, _) in zip(readings[place + 1 :], matches[place + 1 :], strict=True):
        if reading and reading.years and not rule.startswith("chained"):
            return reading
    return None


def _rewritten(question: str, mentions: Sequence[PeriodMention]) -> str:
    text = question
    for mention in reversed(mentions):
        if not mention.relative or not (meaning := _meaning(mention)):
            continue
        before, after = text[: mention.start], text[mention.end :]
        if not TAKES_A_YEAR.search(before[-30:]) and not re.match(r"['\u2019]s?\b", after):
            preposition = "from" if " to " in meaning else "in"
            meaning = f"{preposition if before.strip() else preposition.capitalize()} {meaning}"
        text = before + meaning + after
    return text


def _meaning(mention: PeriodMention) -> str:
    """What a mention means, in absolute words.

    >>> _meaning(PeriodMention("last three years", 0, 16, (2022, 2023, 2024), (), False, relative=True))
    '2022 to 2024'
    """
    if not mention.years:
        return ""
    years = str(mention.years[0]) if len(mention.years) == 1 else f"{mention.years[0]} to {mention.years[-1]}"
    if mention.quarters and len(mention.quarters) == 1 and len(mention.years) == 1:
        return f"Q{mention.quarters[0]} {'fiscal ' if mention.fiscal else ''}{years}"
    if mention.quarters and mention.first and mention.last:
        return f"{mention.first.isoformat()} to {mention.last.isoformat()}"
    return f"fiscal {years}" if mention.fiscal else years
