"""A question asked of a filing: one call of the planner, the rest is deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from finexpert.answers import recording
from finexpert.core.answers import Answer, Clarification
from finexpert.core.plans import Cell, Compute, Lookup, Plan, Quote, Search
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.errors import AnswerFormatError, CellError, PlanError
from finexpert.filings.page.filing import Filing
from finexpert.knowledge import injections
from finexpert.modules.flow.answering import Answering, Unclear
from finexpert.plans import checks, execution
from finexpert.plans.pages.typed import typed
from finexpert.signatures import rules


@dataclass(kw_only=True)
class FilingQuestion(Answering):
    """One turn of a conversation over a filing."""

    source: Filing

    def source_injections(self) -> Sequence[injections.Finding]:
        return injections.in_page(self.source)

    def conversation(self) -> str:
        """The conversation before this question, for a prompt."""
        return conversation(self.workspace)

    @property
    def repairs(self) -> int:
        """How often a layer may mend what it wrote: a page gives no other answer the third time."""
        return min(self.options.retries, 1)

    def read(self, step: Cell | Quote) -> Value:
        return self.source.cell(step) if isinstance(step, Cell) else self.source.quote(step)

    def outcome(self) -> execution.Outcome:
        try:
            return self.planned()
        except execution.StepFailed as failed:
            if self.options.ask_below and (unclear := self._ambiguous()):
                raise Unclear(unclear) from failed
            raise

    def planned(self, doubts: str = "") -> execution.Outcome:
        """Plan, check, run; a plan that fails goes back once with the reason. `doubts` speak against an earlier plan."""

        def write(feedback: str) -> Plan:
            with self.timed("planning"):
                plan: Plan = self.layers.planning(
                    question=self.understood.question,
                    page=self.source.page_text(),
                    knowledge=self.knowledge,
                    conversation=self.conversation(),
                    feedback=feedback or doubts or rules.NONE,
                ).plan
            # A revision is not what was planned until it is chosen.
            if not doubts:
                self.last_plan = plan
            return plan

        return execution.with_retries(execution.PLANNING, None, write, self.attempt, self.repairs, show=_as_json)[0]

    def attempt(self, plan: Plan) -> execution.Outcome:
        """Check and run a plan."""
        with self.timed("execution"):
            problems = checks.before(plan, self.source, self.workspace) if self.options.mode.has("checks") else []
            if problems:
                raise PlanError("; ".join(problems))
            return execution.run(plan, self.workspace, execution.Surroundings(filing=self.source))

    def _ambiguous(self) -> Clarification | None:
        """The question back where the last plan names a cell that several fit."""
        for step in self.last_plan.steps if self.last_plan else []:
            try:
                if isinstance(step, Cell):
                    self.source.cell(step)
            except CellError as error:
                if error.candidates:
                    question = f"Which one is meant by {error.name!r}?"
                    return Clarification(term=error.name, question=question, candidates=list(error.candidates))
        return None

    def answered(self, outcome: execution.Outcome) -> Answer:
        value = outcome.value
        flags, confidence = self.judged(outcome)
        if confidence is not None and confidence < self.options.ask_below:
            reading = f"{describe(outcome.plan)} = {value.value}"
            question = f"I would read it as {reading}, but: {'; '.join(flags)}. Is that what you mean?"
            raise Unclear(Clarification(term=self.question, question=question, candidates=[reading]))
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
            explanation=outcome.plan.interpretation,
            citations=list(value.citations),
            flags=list(dict.fromkeys([*value.flags, *flags, *made.notes])),
            confidence=confidence,
        )
        answer.record = recording.of_filing_answer(
            answer, outcome.plan, self.workspace, self.source, self.as_of, self.knowledge
        )
        return answer

    def judged(self, outcome: execution.Outcome) -> tuple[list[str], int | None]:
        """What speaks against an outcome, and how sure it is; nothing where the mode has no checks."""
        if not self.options.mode.has("checks"):
            return [], None
        flags, confidence = checks.after(
            outcome.plan, outcome.registers, outcome.value, workspace=self.workspace, filing=self.source
        )
        return (flags, confidence) if self.review is None else self.review.judged(flags, confidence)


def _as_json(plan: Plan) -> str:
    return plan.model_dump_json(include={"steps", "answer"})


def conversation(workspace: Workspace) -> str:
    """Earlier turns for a prompt: the question, what was done, and the answer at full precision."""
    return "\n".join(_line(number, turn) for number, turn in enumerate(workspace.turns, 1)) or rules.NONE


def _line(number: int, turn: Turn) -> str:
    did = f" [{describe(turn.plan)}]" if turn.plan else ""
    answer = "no answer" if turn.value is None else repr(turn.value.value)
    words = f" ({turn.words})" if turn.words and turn.value and turn.words != turn.value.value else ""
    return f"turn {number}: {turn.question}{did} -> {answer}{words}"


def describe(plan: Plan) -> str:
    """A plan as one line.

    >>> describe(Plan(steps=[Cell(id=1, row="revenue", column="2017"),
    ...                      Compute(id=2, operation="divide", arguments=["step 1", 2.0])]))
    'step 1: revenue / 2017; step 2: divide(step 1, 2)'
    """
    return "; ".join(f"step {step.id}: {_step(step)}" for step in plan.steps)


def _step(step: object) -> str:
    if isinstance(step, Cell):
        return f"{step.row} / {step.column}"
    if isinstance(step, Quote):
        return f"{step.value} in the text"
    if isinstance(step, Compute):
        return f"{step.operation}({', '.join(f'{a:g}' if isinstance(a, float) else a for a in step.arguments)})"
    if isinstance(step, Search):
        about = " ".join(filter(None, [step.company, str(step.year or "")]))
        return f"{step.question} ({about})" if about else step.question
    if isinstance(step, Lookup):
        return step.select
    return type(step).__name__
