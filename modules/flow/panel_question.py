"""A question over a filing as the panel answers it: brief, values, calculation, each checked before the next begins.

The critics and the synthesiser come after, as in every mode that reviews; asked again, the reasoner is given the values that
critics named beside those that were found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from finexpert.core.plans import Cell, Plan, Quote, Step
from finexpert.core.reviews import Verdict
from finexpert.errors import PlanError, StepError
from finexpert.modules.critique import plan_of
from finexpert.modules.flow.filing_question import FilingQuestion
from finexpert.modules.flow.reviewing.base import Stages
from finexpert.modules.flow.reviewing.filing import FilingReviewing, reading
from finexpert.plans import execution
from finexpert.signatures import panel as words
from finexpert.signatures import rules
from finexpert.signatures.panel import Brief, Calculation, Extraction

EXTRACTOR, REASONER = "extractor", "reasoner"


@dataclass(kw_only=True)
class PanelQuestion(FilingQuestion):
    """One turn of a conversation over a filing, answered by the panel."""

    managing: Stages = field(default_factory=Stages)
    brief: Brief = field(init=False)
    found: list[Cell | Quote] = field(default_factory=list)

    def outcome(self) -> execution.Outcome:
        with self.timed("manager"):
            brief = self.managing.run(
                "manager",
                lambda: self.layers.panel.manage(self.understood.question, self.knowledge, self.conversation()),
            )
        # A manager who is of no use costs the routing, not the answer.
        self.brief = brief or Brief(restated=self.understood.question)
        if repeated := self._repeated():
            return repeated
        with self.timed(EXTRACTOR):
            self.found = self._extract()
        with self.timed(REASONER):
            return self.calculated("")

    def _repeated(self) -> execution.Outcome | None:
        """The answer of the earlier turn that is asked for again, if there is one."""
        if not self.brief.repeats_turn:
            return None
        try:
            return self.attempt(Plan(steps=[], answer=f"turn {self.brief.repeats_turn}", entity=self.brief.restated))
        except StepError:
            return None

    def _extract(self) -> list[Cell | Quote]:
        def write(feedback: str) -> Extraction:
            page = self.source.page_text()
            made: Extraction = self.layers.panel.extract(page, self.brief, self.knowledge, feedback or rules.NONE)
            return made

        def attempt(extraction: Extraction) -> list[Cell | Quote]:
            steps = numbered(extraction.values)
            if problems := [problem for step in steps if (problem := self._problem(step))]:
                raise PlanError("; ".join(problems))
            return steps

        return execution.with_retries(EXTRACTOR, None, write, attempt, self.repairs, Extraction.model_dump_json)[0]

    def _problem(self, step: Cell | Quote) -> str | None:
        try:
            self.read(step)
        except StepError as error:
            return f"step {step.id}: {error}"
        return None

    def calculated(self, doubts: str) -> execution.Outcome:
        """What the reasoner makes of the values found, run."""
        values = "\n".join(reading(step, self.read(step)) for step in self.found) or rules.NONE

        def write(feedback: str) -> Calculation:
            made: Calculation = self.layers.panel.calculate(
                self.understood.question,
                self.brief,
                values,
                self.knowledge,
                self.conversation(),
                feedback or doubts or rules.NONE,
            )
            return made

        def attempt(calculation: Calculation) -> execution.Outcome:
            plan = plan_of([*self.found, *calculation.steps], calculation.answer, self.brief.restated)
            return self.attempt(plan.model_copy(update={"steps": needed(plan)}))

        return execution.with_retries(REASONER, None, write, attempt, self.repairs, Calculation.model_dump_json)[0]


class PanelReviewing(FilingReviewing):
    """The review of the panel's answer: doubts go back to the reasoner, with what the critics read."""

    def __init__(self, asked: PanelQuestion) -> None:
        super().__init__(asked)
        self.panel = asked
        self.stages = asked.managing

    def revise(self, first: execution.Outcome, verdicts: list[Verdict]) -> execution.Outcome:
        asked = self.panel
        plans = [verdict.plan for verdict in verdicts if verdict.plan is not None and not verdict.agrees]
        named = [step for plan in plans for step in plan.steps if isinstance(step, Cell | Quote)]
        right = [correction.instead for verdict in verdicts for correction in verdict.corrections]
        asked.found = numbered(distinct([*asked.found, *right, *named]))
        result, doubts = self.told(first, verdicts)
        return asked.calculated(
            words.ASKED_AGAIN.format(
                calculation=result, value=first.value.value, summary=f"{self.summary}\n{doubts}".strip()
            )
        )


def numbered(steps: Sequence[Cell | Quote]) -> list[Cell | Quote]:
    """The steps with the ids 1, 2, ..., whatever a model gave them."""
    return [step.model_copy(update={"id": number}) for number, step in enumerate(steps, 1)]


def distinct(steps: Sequence[Cell | Quote]) -> list[Cell | Quote]:
    """Each reading once.

    >>> cell = Cell(id=1, row="net sales", column="2014")
    >>> len(distinct([cell, cell.model_copy(update={"id": 4})]))
    1
    """
    return list({step.model_dump_json(exclude={"id"}): step for step in steps}.values())


def needed(plan: Plan) -> list[Step]:
    """The steps that the answer rests on: of what an extractor finds, some is not used.

    >>> cells = [Cell(id=number, row="net sales", column=str(2012 + number)) for number in (1, 2)]
    >>> [step.id for step in needed(Plan(steps=cells, answer="step 2"))]
    [2]
    """
    wanted = {plan.answer_reference.number} if plan.answer_reference.kind == "step" else set()
    for wave in reversed(plan.order()):
        for number in wave:
            if number in wanted:
                wanted |= {found.number for found in plan.step(number).references if found.kind == "step"}
    return [step for step in plan.steps if step.id in wanted]
