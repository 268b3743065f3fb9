"""A question asked of a library: one call plans the searches, one reads the best pages together, the program proves and computes.

    question ─ companies, years, searches (a call) ─ ranked pages ─ values, formulas, statements with quotes (a call)
             ─ every quote looked up, every formula computed ─ answer, or one more round of other searches, or not found

A sentence that rests on words or numbers that do not stand on their page is dropped and said. Nothing supported is "not found", with
what was searched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from finexpert.answers import recording
from finexpert.core import progress
from finexpert.core.answers import Answer, AnswerFormat, Kind
from finexpert.core.workspace import Turn, Value
from finexpert.errors import AnswerFormatError, FinexpertError, OutputError, SearchError
from finexpert.filings.library.library import Library
from finexpert.knowledge import injections
from finexpert.modules.flow.answering import Answering
from finexpert.modules.flow.filing_question import conversation
from finexpert.modules.flow.library_proof import cut, proved
from finexpert.modules.library.search import phrases
from finexpert.plans import execution, operations
from finexpert.plans.pages import measures, whose
from finexpert.plans.pages.answer import answer_of, citations_of, decimals_of, printed_format, typed_answer
from finexpert.plans.pages.printed import Printed, words_of
from finexpert.plans.pages.proved import Reading
from finexpert.plans.pages.ranking import within
from finexpert.plans.pages.reading import CarriedOut, carried_out, unsupported
from finexpert.plans.pages.searching import Wanted, best_pages
from finexpert.signatures import rules
from finexpert.text.periods.in_question import resolve_periods

ROUNDS = 2
_FROM_ANOTHER = re.compile(r"\b(?:before|earlier|prior|previous|preceding)\b", re.IGNORECASE)
MOST_COMPANIES_SHOWN = 60
_SURE, _FLAGGED = 90, 15


@dataclass
class Round:
    """One round: what was searched where, which pages were read, and what they lack."""

    companies: list[str]
    years: list[int]
    searches: list[str]
    pages: list[str] = field(default_factory=list)
    missing: str = ""


@dataclass(kw_only=True)
class LibraryJourney(Answering):
    """One question over many filings."""

    source: Library
    asked: str = field(init=False, default="")
    rounds: list[Round] = field(init=False, default_factory=list)
    notes: list[str] = field(init=False, default_factory=list)
    sharing: int = field(init=False, default=1)  # the companies that share the room of a prompt
    shown: dict[str, Printed] = field(init=False, default_factory=dict)
    reading: Reading = field(init=False, default_factory=Reading)
    carried: CarriedOut = field(init=False)

    def source_injections(self) -> Sequence[injections.Finding]:
        used = {page for page, _ in self.reading.cited}
        return [found for page in used for found in injections.in_page(self.source.page(page).as_filing())]

    def outcome(self) -> execution.Outcome:
        """Plan the searches, then read; once more where the pages lack something or a quote does not hold."""
        asked = self.asked = self._in_absolute_time(self.understood.question)
        with self.timed("planning"):
            planned = self.layers.library_search(
                question=asked,
                filings=self._filings_told(),
                measures=self._measures_told(),
                today=self.as_of.isoformat(),
                knowledge=self.knowledge,
                conversation=conversation(self.workspace),
            )
        wanted = Wanted(planned.companies, planned.years, planned.searches, planned.statements)
        pages = self._pages_for(wanted)
        feedback = rules.NONE
        part: tuple[dict[str, Printed], Any] | None = None
        for number in range(ROUNDS):
            last = number + 1 == ROUNDS
            try:
                made = self._read(asked, pages, feedback)
            except OutputError as error:
                if last and part is None:
                    raise
                feedback = str(error)
                continue
            carried, doubts, cut = self._carried(made)
            if made.answers and self._supported(carried):
                # Told that something is missing and where to look for it, one more round is better than a part of an answer.
                more = made.missing.strip() and phrases(made.searches)
                if last or not (more or cut):
                    return self._noted(carried, [*doubts, *cut])
                part = (self.shown, made)
            self.rounds[-1].missing = made.missing or "; ".join([*doubts, *cut, *carried.notes])
            if not last:
                feedback = self._feedback(made, [*doubts, *cut, *carried.notes])
                pages = self._more(pages, replace(wanted, searches=phrases(made.searches), statements=()))
        if part is not None:
            self.shown, made = part
            carried, doubts, cut = self._carried(made)
            self._supported(carried)
            lacks = [f"the pages lack: {made.missing.strip()}"] if made.missing.strip() else []
            return self._noted(carried, [*doubts, *cut, *lacks])
        raise execution.StepFailed(execution.FILING_SEARCH, SearchError(self._not_found(made)), ROUNDS)

    def _carried(self, made: Any) -> tuple[CarriedOut, list[str], list[str]]:
        """A reading, proved and computed; what of it does not stand on its pages, and the sentences that fell with it."""
        with progress.stage("checking"):
            self.reading, doubts = self._proved(made)
            carried = carried_out(self.reading, self.source.page)
            self.reading, fallen = cut(self.reading, carried)
            return carried_out(self.reading, self.source.page) if fallen else carried, doubts, fallen

    def _noted(self, carried: CarriedOut, doubts: Sequence[str]) -> execution.Outcome:
        self.notes += [*doubts, *carried.notes]
        return self._outcome(carried)

    def _in_absolute_time(self, question: str) -> str:
        """The question with "last year" and the like as years, by the fiscal year of the companies that it names."""
        companies = self.source.companies
        tickers = [mention.ticker for mention in companies.resolve(question)]
        periods = resolve_periods(question, self.as_of, companies.fiscal_year_end(tickers))
        # "The year before" the fiscal year of a filing is none of today's: who plans sees the filings' years.
        hanging = all(_FROM_ANOTHER.search(mention.text) for mention in periods.mentions if mention.years)
        return question if hanging else periods.rewritten

    # which pages

    def _filings_told(self) -> str:
        return filings_told(self.source, [self.question, *(turn.question for turn in self.workspace.turns)])

    def _measures_told(self) -> str:
        return measures.told(measures.named_in(self.understood.question)) or rules.NONE

    def _pages_for(self, wanted: Wanted) -> list[Printed]:
        """The pages for a round, best first; what was looked for is kept for the record."""
        self.sharing = max(1, len(wanted.companies))
        with progress.stage("reading", "pages are searched"):
            found = best_pages(self.source, self.asked, wanted)
        self.notes += [note for note in found.notes if note not in self.notes]
        self.rounds.append(Round(found.companies, list(wanted.years), list(wanted.searches)))
        return found.pages

    def _more(self, before: Sequence[Printed], wanted: Wanted) -> list[Printed]:
        """The pages for another round: those already quoted, then new ones; the same where there is nothing else to search."""
        if not wanted.searches:
            self.rounds.append(replace(self.rounds[-1], pages=[], missing=""))
            return list(before)
        quoted = {page for page, _ in self.reading.cited}
        kept = [page for page in self.shown.values() if any(part.id in quoted for part in page.parts)]
        seen = {page.id for page in self.shown.values()}
        new = [page for page in [*self._pages_for(wanted), *before] if page.id not in seen]
        return [*kept, *new]

    # what they say

    def _read(self, question: str, pages: Sequence[Printed], feedback: str) -> Any:
        asked = {word for phrase in [question, *self.rounds[-1].searches] for word in words_of(phrase)}
        fitting = within(pages, self.options.library_tokens, asked, self.sharing)
        self.shown = {f"P{number}": page for number, (page, _) in enumerate(fitting, 1)}
        self.rounds[-1].pages = [page.id for page, _ in fitting]
        told = [
            f"{name}: {_label(page)}\n{text}"
            for (name, page), (_, text) in zip(self.shown.items(), fitting, strict=True)
        ]
        with self.timed("reading"):
            return self.layers.library_reading(
                question=question,
                pages="\n\n".join(told) or rules.NONE,
                operations=operations.catalogue(),
                measures=self._measures_told(),
                knowledge=self.knowledge,
                conversation=conversation(self.workspace),
                answer_type=self.answer_format.instruction() if self.answer_format else rules.NONE,
                feedback=feedback,
            )

    def _proved(self, made: Any) -> tuple[Reading, list[str]]:
        """What of a reading stands on its pages, and what does not, in words."""
        return proved(made, self._pages)

    def _pages(self, name: str) -> list[Printed]:
        """The page of this name first, then the others that were shown: a quote proves itself wherever it stands."""
        named = self.shown.get(name.strip().upper().split(":")[0].split(" ")[0])
        others = [page for page in self.shown.values() if page is not named]
        return [named, *others] if named else others

    def _supported(self, carried: CarriedOut) -> bool:
        """Whether there is an answer, and it rests on something that was proved."""
        reading = self.reading
        rests = bool(reading.values or reading.statements)
        alone = reading.items if reading.kind == "list" else reading.kind == "number" and reading.result
        return rests and not carried.missing and bool(carried.sentences or alone)

    def _feedback(self, made: Any, doubts: Sequence[str]) -> str:
        said = [f"your answer was: {' '.join(each.says for each in made.answer)}"] if made.answers else []
        return "\n".join([*said, *doubts]) or f"the pages before lacked: {made.missing}"

    def _not_found(self, made: Any) -> str:
        searched = "; ".join(dict.fromkeys(phrase for each in self.rounds for phrase in each.searches))
        pages = ", ".join(dict.fromkeys(page for each in self.rounds for page in each.pages))
        first, more = self.rounds[0].companies[:5], len(self.rounds[0].companies[5:])
        companies = ", ".join(first) + (f" and {more} more" if more else "")
        years = " ".join(map(str, self.rounds[0].years))
        lacks = made.missing or "; ".join(self.rounds[-1].missing.splitlines()) or "what the answer needs"
        return f"not found in the library: {lacks} (searched {companies} {years} for {searched!r}; pages read: {pages})"

    # the answer

    def _outcome(self, carried: CarriedOut) -> execution.Outcome:
        self.carried, self.last_plan = carried, carried.plan
        made = answer_of(self.reading, carried)
        self.notes += [*made.notes, *self._later()]
        value = Value(made.value, unit=made.unit, citations=citations_of(self.reading, carried, self.source.page))
        return execution.Outcome(value=value, plan=carried.plan, registers={})

    def _later(self) -> list[str]:
        """A note for each company of which a later filing than the cited ones is at hand, where the question names no year."""
        if Wanted.of_words(self.asked).years:
            return []
        cited = {self.source.page(page).filing for page, _ in self.reading.cited}
        later = whose.later_than(cited, whose.of_forms(self.asked, self.source.filings()))
        return [f"no year is asked for, and {whose.form_of(last)} of {company} is later" for company, last in later]

    def answered(self, outcome: execution.Outcome) -> Answer:
        value = outcome.value
        number = isinstance(value.value, int | float)
        kind: Kind = "number" if number else "list" if isinstance(value.value, list) else "text"
        flags = list(self.notes)
        if loose := unsupported(self.reading, self.question):
            flags.append(f"stands in no quote: {', '.join(loose)}")
        wanted = self.answer_format or AnswerFormat(kind=kind, unit=value.unit, decimals=decimals_of(self.reading))
        wanted, other_unit = printed_format(self.reading, self.carried, wanted)
        flags += other_unit
        try:
            typed = typed_answer(self.reading, self.carried, wanted)
        except AnswerFormatError as error:
            return self.failed(execution.FILING_SEARCH, error)
        answer = Answer(
            question=self.question,
            status="answered",
            value=typed,
            format=wanted,
            period=value.period,
            # A type that was asked for is answered in it; else the sentences say all, and what is left to be shown is how it was computed.
            sentences=[] if self.answer_format else self.carried.sentences,
            explanation=outcome.plan.interpretation if self.answer_format else "\n".join(self.carried.lines) or None,
            citations=list(value.citations),
            flags=list(dict.fromkeys(flags)),
            confidence=max(20, _SURE - _FLAGGED * len(flags)),
        )
        searches = [vars(each) for each in self.rounds]
        answer.record = recording.of_library_reading(
            answer, outcome.plan, self.workspace, self.source, self.as_of, self.knowledge, searches, self.reading
        )
        return answer

    def turn(self, outcome: execution.Outcome | None) -> Turn:
        words = "" if outcome is None or self.answer_format else self.carried.text
        return replace(super().turn(outcome), words=words)

    def failed(self, layer: str, error: FinexpertError) -> Answer:
        answer = super().failed(layer, error)
        if isinstance(error, SearchError):
            answer.status = "not_found"
        answer.flags += self.notes
        return answer


def filings_told(library: Library, said: Sequence[str]) -> str:
    """The companies with forms and years; of many companies those that the question or an earlier turn names."""
    filings = library.filings()
    companies = whose.companies_of(filings)
    if (number := len(companies)) > MOST_COMPANIES_SHOWN:
        named = {filing.id for filing in whose.named_in(" ".join(said), filings)}
        companies = {name: some for name, some in companies.items() if any(f.id in named for f in some)}
        if not companies:
            return f"(the question names none of the {number} companies)"
    return "\n".join(f"{name}: {', '.join(map(whose.form_of, some))}" for name, some in companies.items()) or rules.NONE


def _label(page: Printed) -> str:
    section = f", {page.parts[0].section}" if page.parts[0].section else ""
    return f"{whose.name_of(page.filing)}, {whose.form_of(page.filing)}, p. {page.number}{section}"
