"""From what is wanted to pages: whose filings, of which years, and their pages ranked for all searches.

    found = best_pages(library, question, Wanted(companies=["Apple"], years=[2022], searches=["total current assets"]))
    found.pages[0].number, found.notes

Without a plan (`Wanted.of_words`) the question's own words, years and measures are searched: that takes no model. A filter that
leaves nothing is dropped, and said in the notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from finexpert.filings.library.library import Library
from finexpert.filings.records import FilingInfo
from finexpert.plans.pages import measures, whose
from finexpert.plans.pages.printed import Printed
from finexpert.plans.pages.ranking import Sought, ranked
from finexpert.plans.pages.shelf import Shelf
from finexpert.plans.pages.statements import Statement, statements_in

ELSEWHERE = 0.3
OF_A_MEASURE = 0.4
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_SHORT_YEAR = re.compile(r"\bFY\s?'?(\d\d)(?!\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Wanted:
    """Whose pages are looked for, of which fiscal years, and by which phrases and statements."""

    companies: Sequence[str] = ()
    years: Sequence[int] = ()
    searches: Sequence[str] = ()
    statements: Sequence[Statement] = ()

    @classmethod
    def of_words(cls, question: str) -> Wanted:
        """What the words of a question say by themselves.

        >>> Wanted.of_words("How did revenue change between FY22 and 2023?").years
        (2022, 2023)
        """
        years = {int(year) for year in _YEAR.findall(question)}
        years |= {2000 + int(year) for year in _SHORT_YEAR.findall(question)}
        return cls(years=tuple(sorted(years)))


@dataclass
class Found:
    """The pages of the filings chosen, best first, and which filters were dropped."""

    pages: list[Printed]
    filings: list[FilingInfo]
    notes: list[str] = field(default_factory=list)

    @property
    def companies(self) -> list[str]:
        return list(whose.companies_of(self.filings))


def best_pages(library: Library, question: str, wanted: Wanted) -> Found:
    """The pages that answer a question best: in the years asked for above all, and in the others."""
    filings, notes = _chosen(library.filings(), question, wanted.companies)
    in_years = _in_years(filings, question, wanted.years)
    if not in_years:
        notes.append(f"there is no filing of {', '.join(map(str, wanted.years))}: all years were searched")
    ids = frozenset(filing.id for filing in in_years or filings)
    named = measures.named_in(question)
    phrases = [*wanted.searches, question]
    sought = [Sought(phrase, ids) for phrase in phrases]
    sought += [Sought(phrase, weight=ELSEWHERE) for phrase in phrases]
    sought += [Sought(phrase, ids, OF_A_MEASURE) for measure in named for phrase in measure.phrases]
    kinds = {*wanted.statements, *statements_in(question), *(kind for measure in named for kind in measure.statements)}
    pages = ranked(Shelf.of(library).pages(filings, phrases), sought, kinds, ids)
    groups = [
        [each for each in some if each.id in ids]
        for some in whose.companies_of(whose.of_names(wanted.companies, filings)).values()
    ]
    groups = groups if len(groups) > 1 else []
    if wanted.years and not Wanted.of_words(question).years:
        # Who planned took a year that nobody asked for: what a later filing says of today has a page too.
        groups += [[last] for last in whose.latest(filings) if last.fiscal_year not in wanted.years]
    return Found(_one_each(pages, groups), filings, notes)


def _one_each(pages: list[Printed], groups: Sequence[Sequence[FilingInfo]]) -> list[Printed]:
    """The best page of each group of filings first: the pages of one would leave no room for another's."""
    theirs = [{filing.id for filing in group} for group in groups]
    first = {next((page.id for page in pages if page.filing.id in ids), "") for ids in theirs}
    return [*(page for page in pages if page.id in first), *(page for page in pages if page.id not in first)]


def _in_years(filings: list[FilingInfo], question: str, years: Sequence[int]) -> list[FilingInfo]:
    """The filings of some years; the last ones too where the question itself names no year, since today's state is meant then."""
    if not years:
        return filings
    found = {filing.id for filing in whose.in_years(filings, years)}
    if found and not Wanted.of_words(question).years:
        found |= {filing.id for filing in whose.latest(filings)}
    return [filing for filing in filings if filing.id in found]


def _chosen(filings: list[FilingInfo], question: str, companies: Sequence[str]) -> tuple[list[FilingInfo], list[str]]:
    """The filings of the companies that are meant; all of them, and said so, where none is theirs."""
    found = whose.of_names(companies, filings) or whose.named_in(question, filings)
    missing = [name for name in companies if not whose.of_names([name], filings)]
    notes = [f"there is no filing of {', '.join(missing)}" + ("" if found else ": all filings were searched")]
    return found or filings, notes if missing else []
