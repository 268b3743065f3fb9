"""The review of an answer over a filing: what was read is audited on the page, what was computed is planned again.

An objection of the extraction critic counts if the cell or the words that it names stand on the page and give a value that
was not read. The calculation critic's plan is checked and run like any other; its value is compared, not its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from finexpert.core.plans import Cell, Plan, Quote
from finexpert.core.reviews import Verdict, place
from finexpert.core.workspace import Value
from finexpert.modules.critique import CALCULATION_CRITIC, EXTRACTION_CRITIC, standing
from finexpert.modules.flow.filing_question import FilingQuestion, describe
from finexpert.modules.flow.reviewing.base import Critic, Reviewing
from finexpert.plans import execution
from finexpert.signatures import critique as words


class FilingReviewing(Reviewing):
    """The review of one turn over a filing."""

    # Text and table round differently; within it they are not worth a revision.
    tolerance: ClassVar[float] = 0.005

    def __init__(self, asked: FilingQuestion) -> None:
        super().__init__(asked)
        self.filing = asked

    def critics(self) -> Mapping[str, Critic]:
        return {EXTRACTION_CRITIC: self.audit, CALCULATION_CRITIC: self.derive}

    def audit(self, first: execution.Outcome) -> Verdict | None:
        """What the extraction critic objects to, as far as the page bears it out."""
        read = {step.id: step for step in first.plan.steps if isinstance(step, Cell | Quote)}
        if not read:
            return None
        objections = self.filing.layers.critique(
            question=self.filing.understood.question,
            page=self.filing.source.page_text(),
            readings="\n".join(reading(step, first.registers[number]) for number, step in read.items()),
            knowledge=self.filing.knowledge,
            conversation=self.filing.conversation(),
        ).objections
        values = {number: first.registers[number].value for number in read}
        found = [standing(objection, values, self.filing.read) for objection in objections]
        corrections = [correction for correction in found if correction is not None]
        return Verdict(critic="extraction", agrees=not corrections, corrections=corrections)

    def derive(self, first: execution.Outcome) -> Verdict:
        """A plan by someone who has not seen the first one, and whether its value is the same."""
        plan: Plan = self.filing.layers.critique(
            question=self.filing.understood.question,
            page=self.filing.source.page_text(),
            knowledge=self.filing.knowledge,
            conversation=self.filing.conversation(),
        ).plan
        value = self.filing.attempt(plan).value.value
        return Verdict(critic="calculation", agrees=self.same(first, value), plan=plan, value=value)

    def revise(self, first: execution.Outcome, verdicts: list[Verdict]) -> execution.Outcome:
        _, doubts = self.told(first, verdicts)
        plan = first.plan.model_dump_json(include={"steps", "answer"})
        return self.filing.planned(words.DOUBTED.format(plan=plan, value=first.value.value, doubts=doubts))

    def settle(self, chosen: execution.Outcome) -> None:
        """A page leaves nothing in the workspace."""

    def told(self, first: execution.Outcome, verdicts: list[Verdict]) -> tuple[str, str]:
        lines = []
        for verdict in verdicts:
            if verdict.plan is not None and not verdict.agrees:
                plan = verdict.plan.model_dump_json(include={"steps", "answer"})
                lines.append(words.ANOTHER_PLAN.format(value=verdict.value, plan=plan))
            for c in verdict.corrections:
                step = f"step {c.step}" if c.step else "a further step"
                lines.append(words.CORRECTION.format(step=step, place=c.place, value=c.value, reason=c.reason))
        return f"{describe(first.plan)} -> {first.value.value}", "\n".join(lines)


def reading(step: Cell | Quote, value: Value) -> str:
    """A value that was read, as a line.

    >>> reading(Cell(id=1, row="net sales", column="2014"), Value(5.0))
    "step 1: row 'net sales', column '2014': 5.0"
    """
    return f"step {step.id}: {place(step)}: {value.value}"
