"""One search step over a library: find a page, ask whether it answers, read the value; search again where none did.

The effort is bounded twice: so many pages are read a round, and so many rounds are made. How it ended has a name:
"satisfied", "nothing new found", "out of iterations" or "no such company".
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from finexpert.core.plans import Cell, Plan, Search
from finexpert.core.workspace import Value
from finexpert.errors import CellError, OutputError, SearchError, StepError
from finexpert.filings.library import scores as library_scores
from finexpert.filings.library.index.question import request_for
from finexpert.filings.library.library import Library
from finexpert.filings.records import LibraryPage, PageHit, SearchRequest
from finexpert.modules.flow.layers import Layers
from finexpert.plans import execution
from finexpert.plans.pages.page import read_page
from finexpert.signatures import rules

Stop = Literal["satisfied", "nothing new found", "out of iterations", "no such company"]


@dataclass(frozen=True)
class Effort:
    """How much is done for one part of a question."""

    pages: int = 3
    iterations: int = 1


@dataclass
class Searched:
    """What one search step did, for the record: the phrases of each round, the pages read and what they lack."""

    question: str
    company: str
    year: int | None
    rounds: list[list[str]] = field(default_factory=list)
    read: dict[str, str] = field(default_factory=dict)
    page: str | None = None
    stop: Stop = "out of iterations"
    confidence: int = 0

    @property
    def lacks(self) -> str:
        """The pages read, and what each lacks, a line each."""
        return "\n".join(f"{page}: {lacks}" for page, lacks in self.read.items()) or rules.NONE

    @property
    def words(self) -> str:
        """What was searched, for an answer that says "not found"."""
        phrases = "; ".join(dict.fromkeys(phrase for phrases in self.rounds for phrase in phrases))
        who = " ".join(filter(None, [self.company, str(self.year or "")]))
        read = ", ".join(self.read) or "none"
        return f"searched {who or 'all filings'} for {phrases!r}; pages read: {read} ({self.stop})"


@dataclass
class LibrarySearch:
    """A `finexpert.plans.execution.PageFinder` that asks the program's layers. `searched` grows with every step, by question."""

    layers: Layers
    library: Library
    as_of: dt.date
    knowledge: str
    effort: Effort = Effort()
    searched: list[Searched] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, step: Search, company: str) -> tuple[Value, Search]:
        """The value and the step with its page and plan; SearchError where no page answers."""
        done = Searched(step.question, company, step.year)
        with self._lock:
            self.searched.append(done)
        tickers = self._tickers(company, done)
        first = request_for(step.question, self.library.companies, self.as_of, about=tickers)
        phrases, years = first.phrases, first.years
        if step.year and not years and str(step.year) not in step.question:
            years = frozenset([step.year])
        quarters = frozenset([step.quarter]) if step.quarter else first.quarters
        for round in range(self.effort.iterations + 1):
            done.rounds.append(list(phrases))
            limit = self.effort.pages + len(done.read) + 1
            request = SearchRequest(phrases, tickers or first.tickers, years, quarters, limit=limit)
            hits = [hit for hit in self.library.search(request) if hit.page.id not in done.read]
            for hit in hits[: self.effort.pages]:
                if (found := self._read(step, hit, hits, done)) is not None:
                    done.stop, done.page = "satisfied", hit.page.id
                    return found
            if not hits and round:
                done.stop = "nothing new found"
                break
            if round == self.effort.iterations:
                done.stop = "out of iterations" if hits[self.effort.pages :] else "nothing new found"
            else:
                phrases, years = self._next(step, done)
        raise SearchError(f"not found in the library: {step.question} ({done.words})")

    @cached_property
    def _here(self) -> set[str]:
        """The symbols of which the library has filings."""
        return {filing.ticker for filing in self.library.filings()}

    def _tickers(self, company: str, done: Searched) -> frozenset[str]:
        if not company.strip():
            return frozenset()
        named = {mention.ticker for mention in self.library.companies.resolve(company)}
        if company.strip() in self._here:
            named = {company.strip()}
        if not named & self._here:
            done.stop = "no such company"
            raise SearchError(f"not found in the library: it has no filing of {company} ({done.words})")
        return frozenset(named & self._here)

    def _next(self, step: Search, done: Searched) -> tuple[tuple[str, ...], frozenset[int]]:
        """Other words for the next round; those of the question, in any year, where the layer's text is of no use."""
        try:
            wanted = self.layers.filing_search(question=step.question, tried=done.lacks, knowledge=self.knowledge)
        except OutputError:
            return (step.question,), frozenset()
        return tuple(wanted.phrases) or (step.question,), frozenset(wanted.years)

    def _elsewhere(self, plan: Plan, hit: PageHit, hits: Sequence[PageHit]) -> list[tuple[LibraryPage, Value]]:
        """What other filings of the company print in the cell that a plan of one cell reads."""
        cell = plan.steps[0] if len(plan.steps) == 1 else None
        if not isinstance(cell, Cell):
            return []
        asked = Cell(id=1, row=cell.row, column=cell.column)
        found = []
        for other in hits:
            if other.page.filing == hit.page.filing or other.page.ticker != hit.page.ticker:
                continue
            try:
                found.append((other.page, other.page.as_filing().cell(asked)))
            except CellError:
                continue
        return found

    def _read(self, step: Search, hit: PageHit, hits: Sequence[PageHit], done: Searched) -> tuple[Value, Search] | None:
        """Ask whether the page answers; a plan that does not run goes back once. What the page lacks stands in `done`."""
        page, feedback, lacks = hit.page, rules.NONE, ""
        for _ in range(2):
            try:
                planned = self.layers.library_planning.over_page(
                    question=step.question, page=_shown(page), knowledge=self.knowledge, feedback=feedback
                )
                if planned.plan is None:
                    lacks = planned.lacks
                    break
                value, sure = read_page(page, planned.plan)
                value = value.with_flags(*library_scores.agreement(value, self._elsewhere(planned.plan, hit, hits)))
            except (execution.StepFailed, StepError) as error:
                feedback = lacks = str(error)
                continue
            done.read[page.id] = "answers"
            done.confidence = sure
            return value, step.model_copy(update={"page": page.id, "plan": planned.plan})
        done.read[page.id] = lacks
        return None


def _shown(page: LibraryPage) -> str:
    kind = f" ({page.kind})" if page.kind else ""
    return f"PAGE: {page.label}{kind}\n\n{page.as_filing().page_text()}"
