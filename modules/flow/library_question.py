"""A question asked of a library of filings: time and companies by rules, then parts, pages, values, and how sure they are.

A question about one company and one period goes to its page as it is; others are split first. What no page answers is
said to be not found, with what was searched; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from finexpert.answers import recording
from finexpert.core.answers import Answer
from finexpert.core.plans import Compute, Plan, Search
from finexpert.errors import AnswerFormatError, FinexpertError, OutputError, PlanError, SearchError
from finexpert.filings.companies.companies import CompanyMention
from finexpert.filings.library import scores as library_scores
from finexpert.filings.library.library import Library
from finexpert.filings.records import LibraryPage
from finexpert.knowledge import injections
from finexpert.modules.adversarial_review import CodeReviewing
from finexpert.modules.flow.answering import Answering
from finexpert.modules.flow.filing_question import conversation
from finexpert.modules.flow.library_difficulty import EFFORTS, SATISFIED, Difficulty, difficulty, number_of_companies
from finexpert.modules.flow.page_search import LibrarySearch, Searched
from finexpert.plans import execution
from finexpert.plans.pages.typed import typed
from finexpert.signatures import rules
from finexpert.signatures.library.planning import NOT_ON_ONE_PAGE
from finexpert.text.periods.in_question import Periods, resolve_periods
from finexpert.warehouse.schema_card import describe_schema

MOST_COMPANIES_SHOWN = 40
A_COMPUTE_STEP = 2
A_MARK_LOST = 40


@dataclass(kw_only=True)
class LibraryQuestion(Answering):
    """One question over many filings."""

    source: Library
    difficulty: Difficulty = field(init=False, default="standard")
    search: LibrarySearch = field(init=False)
    searched_before: list[Searched] = field(init=False, default_factory=list)

    def source_injections(self) -> Sequence[injections.Finding]:
        return [finding for page in self._pages().values() for finding in injections.in_page(page.as_filing())]

    def outcome(self) -> execution.Outcome:
        """Straight to a page where the question is about one; else, and where that finds nothing, in parts."""
        periods = self._periods(self.understood.question)
        mentions = self.source.companies.resolve(periods.rewritten)
        self.difficulty = difficulty(periods, mentions)
        if self.difficulty == "direct":
            year = max(periods.years, default=None)
            step = Search(id=1, question=periods.rewritten, company=mentions[0].ticker, year=year)
            self.last_plan = Plan(steps=[step], interpretation=periods.rewritten)
            try:
                return self._run(self.last_plan)
            except execution.StepFailed as failed:
                if not isinstance(failed.error, SearchError):
                    raise
                self.difficulty = "standard"
        return self._in_parts(periods.rewritten, mentions)

    def _in_parts(self, question: str, mentions: Sequence[CompanyMention]) -> execution.Outcome:
        """Split the question and find its parts; goes back once where a part may have been too much for one page."""
        write, repairs = partial(self._split, question, mentions), min(self.options.retries, 1)
        planned = partial(
            execution.with_retries,
            execution.PLANNING,
            attempt=self._attempt,
            retries=repairs,
            show=Plan.model_dump_json,
        )
        try:
            return planned(draft=None, write=write)[0]
        except execution.StepFailed as failed:
            doubts = self._too_much_for_a_page(failed) if repairs else ""
            if not doubts:
                raise
            tried, self.searched_before = self.last_plan, self.search.searched
            try:
                other = write(doubts, stage="replanning")
            except OutputError:
                raise failed from None
            if tried is not None and other.steps == tried.steps:
                raise
        return planned(draft=other, write=write)[0]

    def _split(self, question: str, mentions: Sequence[CompanyMention], feedback: str, stage: str = "planning") -> Plan:
        with self.timed(stage):
            planned = self.layers.library_planning(
                question=question,
                companies=self._companies(mentions),
                company_table=self._company_table(),
                today=self.as_of.isoformat(),
                knowledge=self.knowledge,
                conversation=conversation(self.workspace),
                feedback=feedback or rules.NONE,
            )
        plan: Plan = planned.plan
        self.last_plan = plan
        return plan

    def _attempt(self, plan: Plan) -> execution.Outcome:
        try:
            return self._run(plan)
        except execution.StepFailed as failed:
            # Searching the same again finds the same: what was not found is no fault of the plan's form.
            if isinstance(failed.error, SearchError):
                raise
            raise PlanError(str(failed.error)) from failed

    def _too_much_for_a_page(self, failed: execution.StepFailed) -> str:
        """What tells the planner to split on, where a part of several years or companies was not found; else nothing."""
        # Anything else may have failed before a search was begun.
        if not isinstance(failed.error, SearchError):
            return ""
        missed = [done for done in self.search.searched if done.rounds and not done.page]
        if not any(map(self._is_several, missed)):
            return ""
        plan = self.last_plan.model_dump_json() if self.last_plan else ""
        return "\n\n".join([plan, *(f"failed: {done.question}\n{done.lacks}" for done in missed), NOT_ON_ONE_PAGE])

    def _is_several(self, part: Searched) -> bool:
        """Whether a part is about several years or companies, whose figures may stand on pages of their own."""
        periods = self._periods(part.question)
        if part.year and all(mention.relative for mention in periods.mentions):
            periods = self._periods(f"{part.question} in {part.year}")
        named = self.source.companies.resolve(f"{part.company}: {part.question}")
        return len(periods.years) > 1 or number_of_companies(named) > 1

    def _periods(self, text: str) -> Periods:
        """The time of a text, by the fiscal year of the companies that it names."""
        companies = self.source.companies
        tickers = [mention.ticker for mention in companies.resolve(text)]
        return resolve_periods(text, self.as_of, companies.fiscal_year_end(tickers))

    def _run(self, plan: Plan) -> execution.Outcome:
        self.search = LibrarySearch(self.layers, self.source, self.as_of, self.knowledge, EFFORTS[self.difficulty])
        surroundings = execution.Surroundings(
            find_page=self.search,
            companies=self.source.company_table(),
            code_review=CodeReviewing(self.layers.adversarial_review) if self.options.review else None,
        )
        with self.timed("execution"):
            return execution.run(plan, self.workspace, surroundings)

    def _companies(self, mentions: Sequence[CompanyMention]) -> str:
        """The companies that the question names with the years at hand; all of them where it names none."""
        years: dict[str, set[int]] = {}
        names: dict[str, str] = {}
        for filing in self.source.filings():
            names[filing.ticker] = filing.company or filing.ticker
            years.setdefault(filing.ticker, set()).update([filing.fiscal_year] if filing.fiscal_year else [])
        named = {mention.ticker for mention in mentions} & set(names)
        for turn in self.workspace.turns if not named else []:
            named |= {mention.ticker for mention in self.source.companies.resolve(turn.question)} & set(names)
        if not named and len(names) > MOST_COMPANIES_SHOWN:
            return f"(the question names none of the {len(names)} companies)"
        shown = sorted(named or set(names))
        return "\n".join(f"{names[ticker]} ({ticker}): {_spans(years[ticker])}" for ticker in shown) or rules.NONE

    def _company_table(self) -> str:
        has_attributes = any(company.sector or company.founded for company in self.source.companies)
        table = self.source.company_table() if has_attributes else None
        # Its comment says what a row is; a key that is looked for in the rows would change the prompt with them.
        tables = [replace(each, primary_key=()) for each in table.tables] if table is not None else []
        return describe_schema(tables) or rules.NONE

    def answered(self, outcome: execution.Outcome) -> Answer:
        value, plan = outcome.value, outcome.plan
        marks = library_scores.scores(plan, outcome.registers, self._pages(plan), value)
        flags = list(value.flags)
        if marks.overall < SATISFIED[self.difficulty]:
            flags.append("the answer is weak: " + ", ".join(f"{k} {v:.2f}" for k, v in marks._asdict().items()))
        try:
            made = typed(value, self.answer_format)
        except AnswerFormatError as error:
            return self.failed(execution.PLANNING, error)
        answer = Answer(
            question=self.question,
            status="answered",
            value=made.value,
            format=made.format,
            period=value.period,
            explanation=plan.interpretation,
            citations=list(value.citations),
            flags=list(dict.fromkeys([*flags, *made.notes])),
            confidence=self._confidence(plan, marks),
        )
        answer.record = recording.of_library_answer(
            answer, plan, self.workspace, self.source, self.as_of, self.knowledge, self._searches(), marks._asdict()
        )
        return answer

    def _confidence(self, plan: Plan, marks: library_scores.Scores) -> int:
        """That of the least sure page, less what combining and lost marks take."""
        sure = min((done.confidence for done in self.search.searched if done.page), default=60)
        sure -= A_COMPUTE_STEP * sum(isinstance(step, Compute) for step in plan.steps)
        return max(0, min(100, round(sure - A_MARK_LOST * (1 - marks.overall))))

    def failed(self, layer: str, error: FinexpertError) -> Answer:
        answer = super().failed(layer, error)
        if isinstance(error, SearchError):
            answer.status = "not_found"
        return answer

    def _searches(self) -> list[dict[str, object]]:
        return [
            {name: getattr(done, name) for name in ("question", "company", "year", "rounds", "read", "page", "stop")}
            for done in [*self.searched_before, *self.search.searched]
        ]

    def _pages(self, plan: Plan | None = None) -> dict[int, LibraryPage]:
        """The pages that the answer rests on, by step; all that were found where no plan is given."""
        if plan is not None:
            steps = [step for step in plan.steps if isinstance(step, Search) and step.page]
            return {step.id: self.source.page(step.page or "") for step in steps}
        found = self.search.searched if hasattr(self, "search") else []
        return {number: self.source.page(done.page) for number, done in enumerate(found) if done.page}


def _spans(years: set[int]) -> str:
    """
    >>> _spans({2008, 2009, 2010, 2012})
    'FY 2008-2010, 2012'
    """
    runs: list[list[int]] = []
    for year in sorted(years):
        if runs and year == runs[-1][-1] + 1:
            runs[-1].append(year)
        else:
            runs.append([year])
    spans = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"FY {spans}" if spans else "years unknown"
