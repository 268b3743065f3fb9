"""A question as a search: the companies it names as a filter, the years of filings it asks for, time made absolute.

    >>> from finexpert.filings.companies.companies import Company
    >>> companies = Companies([Company("AAPL", "Apple Inc."), Company("GS", "Goldman Sachs")])
    >>> request = request_for("What was AAPL's net income in fiscal 2014, against 2012?", companies, dt.date(2025, 3, 1))
    >>> sorted(request.tickers), sorted(request.years)
    (['AAPL'], [2014])

Which year's filing is asked for is only taken from words that say so (fiscal 2014, FY14, last year, the 2014 report). A
year that is only named ("due in 2018", "since 2012") stays a word: pages that print it are found, whatever filing they are
of. One question, one search; taking a question apart is the planner's.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Sequence
from functools import partial

from finexpert.filings.companies.companies import Companies
from finexpert.filings.records import SearchRequest
from finexpert.text.periods.in_question import PeriodMention, resolve_periods

SURE = 0.9
_REPORT = r"(?:annual|quarterly)?\s*(?:report|filing|10-?[kq])s?"
_AFTER = re.compile(rf"^['\u2019]?s?\s*{_REPORT}\b", re.IGNORECASE)
_BEFORE = re.compile(
    rf"\b{_REPORT}(?:\s+(?:of|by|from)\s+[^\d?:;]{{1,60}}?)?\s*(?:(?:of|for|from|in)\s+)?(?:the\s+year\s+)?$",
    re.IGNORECASE,
)


def request_for(
    question: str, companies: Companies, as_of: dt.date, limit: int = 10, about: Collection[str] = ()
) -> SearchRequest:
    """The search for one question, on the day that counts as today.

    `about` are symbols of companies whose fiscal year counts, where the question names none. What became a filter is
    cut out of the words: on the pages that pass it, it tells nothing.
    """
    named = [mention for mention in companies.resolve(question) if mention.score >= SURE]
    tickers = frozenset(mention.ticker for mention in named)
    periods = resolve_periods(question, as_of, companies.fiscal_year_end(tickers or about))
    asked = [mention for mention in periods.mentions if _names_filing(mention, question, as_of)]
    extent = partial(_extent, question)
    return SearchRequest(
        (_without(question, [*map(extent, asked), *((m.start, m.end) for m in named)]) or question,),
        tickers=tickers,
        years=frozenset(year for mention in asked for year in mention.years),
        quarters=frozenset(quarter for mention in asked for quarter in mention.quarters),
        limit=limit,
    )


def _names_filing(mention: PeriodMention, question: str, as_of: dt.date) -> bool:
    """Whether words about time say which filing is meant; of "the next three years" there is none yet."""
    if any(year > as_of.year for year in mention.years):
        return False
    if mention.fiscal or mention.relative:
        return True
    return bool(_AFTER.match(question[mention.end :]) or _BEFORE.search(question[: mention.start]))


def _extent(question: str, mention: PeriodMention) -> tuple[int, int]:
    """The words about time with those that speak of the report next to them."""
    before, after = _BEFORE.search(question[: mention.start]), _AFTER.match(question[mention.end :])
    return before.start() if before else mention.start, mention.end + (after.end() if after else 0)


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A text without some stretches of it, which may overlap.

    >>> _without("In FY14, what were sales?", [(3, 7), (5, 7)])
    'In , what were sales?'
    """
    cut = {place for start, end in spans for place in range(start, end)}
    return "".join(letter for place, letter in enumerate(text) if place not in cut).strip()
