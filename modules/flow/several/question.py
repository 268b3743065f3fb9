"""A question asked of several sources: one of them alone where words tell, else one call plans what each gives.

    question ─ words tell the source ─────────────────────────────────────────► that source's own journey
             ─ else a call: parts ─ one part ─────────────────────────────────► its SELECT, or its pages
                                  ─ several: each fetched, one after the other ─► frames meet in a locked DuckDB: one SELECT

Rows of a warehouse are in no prompt, whatever they are joined with. Every part keeps its citations and its record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import dspy

from finexpert.answers.sources import parts as kept
from finexpert.answers.sources.gaps import of_years
from finexpert.answers.sources.routing import route
from finexpert.answers.sources.sources import Source, Sources, keep, view
from finexpert.core import progress
from finexpert.core.answers import Answer, AnswerFormat, Missing
from finexpert.core.plans import Plan
from finexpert.core.workspace import Workspace
from finexpert.errors import FinexpertError, PlanError, SandboxFailure, SearchError, Unanswerable
from finexpert.filings.library.library import Library
from finexpert.knowledge import injections
from finexpert.knowledge.taught import Taught
from finexpert.modules.adversarial_review import AdversarialReview
from finexpert.modules.flow.answering import Answering, Unclear
from finexpert.modules.flow.conversation import conversation
from finexpert.modules.flow.library import LibraryJourney
from finexpert.modules.flow.several.cards import cards
from finexpert.modules.flow.several.inserting import inserted
from finexpert.modules.flow.several.library_part import LibraryPart, Planned
from finexpert.modules.flow.several.partly import Gathered
from finexpert.modules.flow.several.warehouse_part import WarehousePart
from finexpert.modules.flow.understanding import Understood, named_only, with_unclear
from finexpert.modules.planning import RESULT
from finexpert.plans import execution
from finexpert.plans.pages import measures
from finexpert.sandbox import Sandbox
from finexpert.signatures import rules
from finexpert.signatures.source_planning import SourcePart
from finexpert.signatures.text import without_fences
from finexpert.warehouse.frame_values import decimals_asked
from finexpert.warehouse.warehouse import Warehouse

_TABLE = AnswerFormat(kind="table")


class Journey(Protocol):
    """Makes the usual journey of a question over one source, in a workspace of its own."""

    def __call__(self, source: Source, **changes: Any) -> Answering: ...


@dataclass(kw_only=True)
class SourcesQuestion(Answering):
    """One question over several sources."""

    source: Sources
    sandbox: Sandbox
    journey: Journey
    code_reviewer: AdversarialReview | None = None
    used: list[str] = field(init=False, default_factory=list)
    last: Answer | None = field(init=False, default=None)
    asked: list[Answering] = field(init=False, default_factory=list)
    missing: list[Missing] = field(init=False, default_factory=list)
    format_fixed: bool = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.format_fixed = self.answer_format is not None

    def answer(self) -> Answer:
        name = route(self.question, self.source)
        return super().answer() if name is None else self._alone(name)

    def _alone(self, name: str) -> Answer:
        """The answer of one source, as if it were the only one."""
        apart = view(self.workspace, name, self.source[name])
        before = len(apart.turns)
        asked = self.journey(self.source[name], workspace=apart)
        answer = asked.answer()
        self.review = asked.review
        self.workspace.turns += apart.turns[before:]
        keep(self.workspace, name, apart.frames)
        answer.sources = [name]
        return answer

    # planning

    def look_up(self, taught: Taught) -> Understood:
        return named_only(self.question, taught, *(card for _, card in self.cards()))

    def cards(self) -> Iterator[tuple[str, str]]:
        said = [self.understood.question, *(turn.question for turn in self.workspace.turns[-1:])]
        return cards(self.source, said, self.options.privacy)

    def source_injections(self) -> Sequence[injections.Finding]:
        found = [each for asked in self.asked for each in asked.source_injections()]
        return found or [each for _, card in self.cards() for each in injections.in_card(card)]

    def plan(self) -> dspy.Prediction:
        """Ask the planner until it gives parts that fit together."""
        cards = "\n\n".join(f"source {about}\n{card}" for about, card in self.cards())

        def write(feedback: str) -> dspy.Prediction:
            return self.layers.source_planning(
                question=self.understood.question,
                sources=cards,
                databases=list(self.source.warehouses),
                libraries=list(self.source.libraries),
                today=self.as_of.isoformat(),
                answer_format=self.answer_format if self.format_fixed else None,
                measures=measures.told(measures.named_in(self.understood.question)) or rules.NONE,
                knowledge=self.knowledge,
                conversation=conversation(Workspace({}, self.before.turns)),
                feedback=feedback or rules.NONE,
            )

        def attempt(made: dspy.Prediction) -> dspy.Prediction:
            self.understood = with_unclear(self.understood, made.unclear)
            if unclear := self.asks(self.understood.unknown):
                raise Unclear(unclear)
            return made

        with self.timed("planning"):
            made = execution.with_retries(execution.PLANNING, None, write, attempt, self.options.retries)[0]
        self.last_plan = Plan(steps=[], interpretation=made.understood)
        self.missing = [Missing(source=self.source.name, what=made.missing)] if made.missing else []
        if not self.format_fixed:
            decimals = decimals_asked(self.question)
            changes = {} if decimals is None else {"decimals": decimals}
            self.answer_format = made.answer_format.model_copy(update=changes)
        return made

    # carrying out

    def outcome(self) -> execution.Outcome:
        planned = self.plan()
        self.used = list(dict.fromkeys(part.source for part in planned.parts))
        if not planned.combine:
            return self._by_one(planned.parts[0], planned.understood)
        gathered = Gathered(missing=list(self.missing))
        for part in planned.parts:
            self._gather(part, gathered)
        if not gathered.fetched:
            raise gathered.lost[0]
        return self._met(planned, gathered)

    def _gather(self, part: SourcePart, gathered: Gathered) -> None:
        """Fetch a part, or keep why it cannot be had; a question back to the person goes first."""
        try:
            said = inserted(part, gathered.fetched)
            asked = self._part(said)
            answer = asked.answered(self._ran(asked))
        except execution.StepFailed as failed:
            if isinstance(failed.error, SandboxFailure) or self.asked_back(failed.error):
                raise
            gathered.lose(part, failed, failed.error)
        except (Unanswerable, PlanError) as error:
            gathered.lose(part, error, error)
        else:
            gathered.take(said, asked, answer)

    def _by_one(self, part: SourcePart, understood: str) -> execution.Outcome:
        """The answer of a plan with one part: its own SELECT, or the journey of its source."""
        source = self.source[part.source]
        # Who asks the first question is answered as that source alone would; a later one may rest on turns of other sources.
        question = part.question if self.workspace.turns else self.understood.question
        apart = view(self.workspace, part.source, source)
        if isinstance(source, Library) or not part.select.strip():
            asked = self.journey(source, workspace=apart, question=question, knowledge=self.knowledge)
            asked.understood = Understood(question)
            if isinstance(asked, LibraryJourney):
                asked.layers = Planned(self.layers, part)  # type: ignore[assignment]
        else:
            asked = self._select(source, part.select, RESULT, self.answer_format, understood)
        outcome = self._ran(asked)
        self.last = asked.answered(outcome)
        keep(self.workspace, part.source, asked.workspace.frames)
        return outcome

    def _part(self, part: SourcePart) -> WarehousePart | LibraryPart:
        if isinstance(source := self.source[part.source], Library):
            layers: Any = Planned(self.layers, part, part.columns)
            return LibraryPart(source=source, columns=part.columns, **self._given(part.question) | {"layers": layers})
        columns = [column.name for column in part.columns]
        made = self._select(source, part.select, part.name, _TABLE, part.question, columns)
        made.question = made.checks.question = part.question
        made.understood = Understood(part.question)
        return made

    def _select(
        self,
        source: Warehouse,
        select: str,
        frame: str,
        wanted: AnswerFormat | None,
        interpretation: str,
        columns: Sequence[str] = (),
        **changes: Any,
    ) -> WarehousePart:
        made = WarehousePart(
            source=source,
            sandbox=self.sandbox,
            code_reviewer=self.code_reviewer,
            frame=frame,
            select=without_fences(select).rstrip("; \n"),
            columns=columns,
            interpretation=interpretation,
            **self._given(self.question) | {"answer_format": wanted} | changes,
        )
        made.format_fixed = self.format_fixed or wanted is _TABLE
        return made

    def _given(self, question: str) -> dict[str, Any]:
        """What a part is asked with; it sees nothing of other sources."""
        return {
            "layers": self.layers,
            "question": question,
            "workspace": Workspace(turns=list(self.before.turns)),
            "answer_format": None,
            "as_of": self.as_of,
            "as_of_given": self.as_of_given,
            "chosen": self.chosen,
            "knowledge": self.knowledge,
            "taught": self.taught,
            "declined": self.declined,
            "options": self.options,
        }

    def _ran(self, asked: Answering) -> execution.Outcome:
        self.asked.append(asked)
        outcome = asked.outcome()
        self.stages |= {name: self.stages.get(name, 0.0) + took for name, took in asked.stages.items()}
        return outcome

    def _met(self, planned: Any, gathered: Gathered) -> execution.Outcome:
        """The answer of the SELECT over all parts, in a warehouse that holds nothing else."""
        frames = {name: fetched.data for name, fetched in gathered.fetched.items()}
        with progress.stage("extracting", "the parts meet"), kept.opened(frames) as there:
            select, outcome, answer = self._together(there, planned, *gathered.selects(planned.combine))
        met = answer.record.model_copy(update={"as_of_given": self.as_of_given})
        answer.record = kept.combined(met, [part for part, _ in gathered.answers])
        given = [each for answered in gathered.answers for each in kept.cited(*answered)]
        answer.citations = given + answer.citations
        gathered.judge(answer, self.question, select if select == planned.combine else "")
        self.missing = gathered.missing
        outcome.plan = answer.record.plan
        self.last = answer
        return outcome

    def _together(
        self, there: Warehouse, planned: Any, select: str, *others: str
    ) -> tuple[str, execution.Outcome, Answer]:
        """The first SELECT over the parts that gives an answer; a model mends only the one of an answer that lacks nothing."""
        is_planned = select == planned.combine
        # The days of the parts were kept where they were fetched; here no column is the day of a row.
        options = replace(
            self.options, privacy="schema", retries=self.options.retries if is_planned and not others else 0
        )
        told: dict[str, Any] = {"as_of_given": False, "options": options}
        wanted = of_years(self.answer_format, select) if is_planned else _TABLE
        asked = self._select(there, select, RESULT, wanted, planned.understood, **told)
        try:
            outcome = self._ran(asked)
        except execution.StepFailed:
            if not others:
                raise
            return self._together(there, planned, *others)
        return select, outcome, asked.answered(outcome)

    # the answer

    def answered(self, outcome: execution.Outcome) -> Answer:
        assert self.last is not None
        answer = self.last
        answer.question, answer.sources = self.question, self.used
        if self.missing and answer.status == "answered":
            answer.status, answer.missing = "partial", self.missing
            answer.flags = [*(each.text for each in self.missing), *answer.flags]
        if answer.record is not None:
            answer.record.question, answer.record.status, answer.record.missing = (
                self.question,
                answer.status,
                answer.missing,
            )
        return answer

    def failed(self, layer: str, error: FinexpertError) -> Answer:
        answer = super().failed(layer, error)
        if isinstance(error, SearchError):
            answer.status = "not_found"
        answer.sources = self.used
        answer.flags += [note for asked in self.asked if isinstance(asked, LibraryJourney) for note in asked.notes]
        return answer
