"""One question on its way through the layers: what warehouse and filing questions have in common.

It holds what `forward` of a module may not keep, and turns what went wrong into an answer that says so.
"""

from __future__ import annotations

import datetime as dt
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from finexpert import tracking
from finexpert.answers.failures import failure_of, not_found
from finexpert.core import progress
from finexpert.core.answers import Answer, AnswerFormat, Clarification
from finexpert.core.notes import in_order
from finexpert.core.plans import Plan, Script
from finexpert.core.reviews import Review
from finexpert.core.workspace import Turn, Workspace
from finexpert.errors import (
    BudgetExceeded,
    FinexpertError,
    NotInSources,
    OutputError,
    PlanError,
    StepError,
    Unanswerable,
    UnknownValue,
)
from finexpert.knowledge import injections
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process
from finexpert.knowledge.taught import Taught
from finexpert.language_models.scope import current
from finexpert.language_models.usage import Meter
from finexpert.modules.flow.layers import Layers
from finexpert.modules.flow.options import Options
from finexpert.modules.flow.understanding import Understood, named_only, still_open
from finexpert.plans import execution

# What is timed, as the stage that a person sees; running a plan reports its own.
_STAGE_OF: dict[str, progress.Stage] = {
    "understanding": "understanding",
    "planning": "planning",
    "replanning": "planning",
    "manager": "planning",
    "reasoner": "planning",
    "extractor": "reading",
    "reading": "reading",
    "record": "answering",
}


def budgets_around() -> dict[str, dict[str, list[float]]]:
    """What was spent so far of the budgets within which something is done, by whose they are; the innermost of each."""
    return {budget.whose: budget.describe() for budget in current().budgets if budget.limited}


class Unclear(Exception):
    """What a question means is to be asked of the user. Never leaves the program."""

    def __init__(self, clarification: Clarification) -> None:
        super().__init__(clarification.question)
        self.clarification = clarification


class SecondLook(Protocol):
    """Looks again at what the first plan gave. Must not raise for what goes wrong meanwhile: the first value stands then."""

    def review(self, first: execution.Outcome) -> tuple[execution.Outcome, Review]: ...


@dataclass
class Answering(ABC):
    """One question, and what it is answered with."""

    layers: Layers
    question: str
    workspace: Workspace
    answer_format: AnswerFormat | None
    as_of: dt.date
    knowledge: str
    options: Options
    taught: Taught | None = None
    declined: Collection[str] = ()
    as_of_given: bool = True
    chosen: Mapping[str, str] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)
    last_plan: Plan | None = None
    second_look: SecondLook | None = None
    review: Review | None = None
    before: Workspace = field(init=False, repr=False)
    understood: Understood = field(init=False)
    given: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.understood, self.given = Understood(self.question), self.knowledge
        self.before = Workspace(dict(self.workspace.frames), list(self.workspace.turns))

    def answer(self) -> Answer:
        """The answer, counted, and kept as a turn of the workspace."""
        outcome: execution.Outcome | None = None
        with Meter() as meter:
            try:
                self.understand()
                outcome = self.outcome()
                if self.second_look is not None:
                    outcome, self.review = self.second_look.review(outcome)
                with self.timed("record"):
                    answer = self.answered(outcome)
            except execution.StepFailed as failed:
                answer = self.asked_back(failed.error) or self.failed(failed.layer, failed.error)
            except Unanswerable as error:
                answer = self.unanswerable(error)
            except OutputError as error:
                answer = self.failed("understanding", error)
            except PlanError as error:
                answer = self.failed(execution.PLANNING, error)
            except BudgetExceeded as error:
                answer = self.failed("budget", error)
            except Unclear as unclear:
                answer = Answer(
                    question=self.question, status="needs_clarification", clarification=unclear.clarification
                )
        # Whatever took the cancellation for a failure of its own: it is no turn of the conversation.
        progress.check()
        self.stages |= outcome.seconds if outcome else {}
        self.show_understanding(answer)
        self.show_injections(answer)
        answer.flags = in_order(answer.flags)
        answer.usage = meter.usage().model_copy(update={"stages": self.stages})
        if answer.record is not None:
            answer.record.usage, answer.record.flags = answer.usage, list(answer.flags)
            answer.record.review = self.review.model_dump(mode="json") if self.review else None
            answer.record.budgets = budgets_around()
        # A question that is asked back is no turn yet: it comes again with the reply.
        if answer.status != "needs_clarification":
            self.workspace.add_turn(self.turn(outcome))
        return answer

    def understand(self) -> None:
        """Explain the question's terms and recall processes, where the expert has been taught; may raise Unclear."""
        if self.taught is None:
            return
        with self.timed("understanding"):
            self.rest_on(self.look_up(self.taught))
        if unclear := self.asks(self.understood.unknown):
            raise Unclear(unclear)

    def asks(self, unknown: Collection[Clarification]) -> Clarification | None:
        """What the user is asked about, if anything."""
        return still_open(unknown, self.declined) if self.options.clarify and self.taught is not None else None

    def show_understanding(self, answer: Answer) -> None:
        """What the answer owes to the stores, and what nobody explained."""
        understood = self.understood
        answer.rephrased = understood.question if understood.question != self.question else None
        answer.meanings = {keyword.term: keyword.meaning for keyword in understood.meanings}
        answer.processes = [process.heading for process in understood.processes]
        if answer.status == "answered":
            answer.flags += understood.flags
            answer.flags += [
                f"{title!r} was taught, and the question was understood without it"
                for title in understood.passed_over()
            ]
            answer.flags += [
                f"rests on an assumption: nobody has explained {unknown.term!r}" for unknown in understood.unknown
            ]

    def show_injections(self, answer: Answer) -> None:
        """What of all that the model read looks like an instruction, as flags of the answer and a tag of its trace."""
        processes = [each for each in self._shown() if isinstance(each, Process)]
        recalled = [finding for process in processes for finding in injections.in_process(process)]
        found = [*self.source_injections(), *injections.findings(self.told()), *recalled]
        if found:
            answer.flags += injections.flags(found)
            tracking.tag_trace("finexpert.injections", "; ".join(sorted({finding.kind for finding in found})))

    def told(self) -> Iterator[tuple[str, str]]:
        """What was said, now and in earlier turns, and what words mean, with where it stands."""
        yield "the question", self.question
        for number, turn in enumerate(self.workspace.turns, 1):
            yield f"turn {number}", f"{turn.question}\n{turn.interpretation}\n{turn.entity or ''}"
        named = self.taught.glossary.named_in(self.question) if self.taught else []
        for example in self.understood.examples:
            yield "a verified query", example
        keywords = [*named, *(each for each in self._shown() if isinstance(each, Keyword))]
        for keyword in {keyword.id: keyword for keyword in keywords}.values():
            yield f"the meaning of {keyword.term}", "\n".join((*keyword.phrases, keyword.meaning))

    def _shown(self) -> list[Keyword | Process]:
        """What a model read of all that was taught, whether it followed it or not."""
        shown: list[Keyword | Process] = [*self.understood.known_here.entries]
        shown += [each for each in self.understood.meanings if each not in shown]
        shown += [each for each in self.understood.processes if each not in shown]
        return shown

    def rest_on(self, understood: Understood) -> None:
        """What the answer rests on: shown with it, kept in its record, and told to whoever repairs it."""
        self.understood, self.knowledge = understood, understood.knowledge(self.given)

    @abstractmethod
    def source_injections(self) -> Sequence[injections.Finding]:
        """What looks like an instruction in the part of the source that the model is shown."""

    def look_up(self, taught: Taught) -> Understood:
        """What the stores know about the question. Of pages, which are its context, no model is asked what its words mean."""
        return named_only(self.question, taught)

    @abstractmethod
    def outcome(self) -> execution.Outcome:
        """Plan and run; sets `last_plan` as soon as there is one."""

    @abstractmethod
    def answered(self, outcome: execution.Outcome) -> Answer:
        """The answer of an outcome, with its record."""

    def failed(self, layer: str, error: FinexpertError) -> Answer:
        return Answer(
            question=self.question,
            status="failed",
            format=self.answer_format or AnswerFormat(),
            explanation=self.last_plan.interpretation if self.last_plan else None,
            failure=failure_of(layer, error),
        )

    def unanswerable(self, error: Unanswerable) -> Answer:
        """The answer that there is none: not found where a model says what is missing, failed for the rest."""
        if isinstance(error, NotInSources):
            layer = execution.SQL_EXTRACTION if isinstance(error.__cause__, StepError) else execution.PLANNING
            return Answer(
                question=self.question,
                status="not_found",
                format=self.answer_format or AnswerFormat(),
                explanation=f"these data do not hold what the question needs: {error}",
                failure=not_found(layer, error),
            )
        return self.failed(execution.PLANNING, error)

    def asked_back(self, error: FinexpertError) -> Answer | None:
        """The question what a text means that its column does not hold, with the column's values, where somebody can be asked."""
        if not isinstance(error, UnknownValue) or not error.values or not self.options.clarify:
            return None
        asked = Clarification(
            kind="value",
            term=error.text,
            place=error.place,
            question=error.question
            or f"{error.place} holds no {error.text.strip('%')!r}. Which of its values is meant?",
            candidates=list(error.values),
        )
        return Answer(question=self.question, status="needs_clarification", clarification=asked)

    def turn(self, outcome: execution.Outcome | None) -> Turn:
        plan = outcome.plan if outcome else self.last_plan
        scripts = [step.code for step in plan.steps if isinstance(step, Script)] if plan else []
        return Turn(
            question=self.question,
            value=outcome.value if outcome else None,
            interpretation=plan.interpretation if plan else "",
            entity=plan.entity if plan else None,
            plan=plan if outcome else None,
            script=scripts[-1] if outcome and scripts else None,
            answer_format=self.answer_format,
        )

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            with progress.stage(_STAGE_OF[stage]) if stage in _STAGE_OF else nullcontext():
                yield
        finally:
            self.stages[stage] = self.stages.get(stage, 0.0) + time.perf_counter() - start
