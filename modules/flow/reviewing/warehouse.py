"""The review of an answer over a warehouse: a second program is written, run apart, and its answer compared.

No value of the warehouse reaches a model: who plans again is shown both programs and told that they differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from finexpert.core.answers import AnswerFormat
from finexpert.core.plans import Extract, Plan, Script
from finexpert.core.reviews import Verdict
from finexpert.core.workspace import Workspace
from finexpert.modules.critique import CALCULATION_CRITIC
from finexpert.modules.flow.reviewing.base import Critic, Reviewing
from finexpert.modules.flow.understanding import Understood
from finexpert.modules.flow.warehouse_question import WarehouseQuestion
from finexpert.plans import execution
from finexpert.signatures import critique as words


class WarehouseReviewing(Reviewing):
    """The review of one answer over a warehouse. Every further program runs in a workspace of its own."""

    def __init__(self, asked: WarehouseQuestion) -> None:
        super().__init__(asked)
        self.question = asked
        self._revised: list[tuple[execution.Outcome, Workspace, Understood]] = []

    def critics(self) -> Mapping[str, Critic]:
        return {CALCULATION_CRITIC: self.recompute}

    def recompute(self, first: execution.Outcome) -> Verdict:
        """A program by someone who has not seen the first one, and whether its answer is the same."""
        asked = self.question
        plan: Plan = asked.layers.critique(
            question=asked.understood.question,
            schema_card=asked.card,
            today=asked.as_of.isoformat(),
            answer_type=(asked.answer_format or AnswerFormat()).instruction(),
            knowledge=asked.knowledge,
            conversation=asked.conversation(),
        ).plan
        # Whoever repairs the plan's own steps would make the second program more like the first.
        around = replace(asked.surroundings(), write_selects=None, write_script=None, retries=0)
        value = execution.run(plan, asked.scratch(), around).value.value
        return Verdict(critic="calculation", agrees=self.same(first, value), plan=plan, value=value)

    def revise(self, first: execution.Outcome, verdicts: list[Verdict]) -> execution.Outcome:
        asked = self.question
        mine, other = self.told(first, verdicts)
        before = asked.understood
        try:
            plan = asked.plan(words.DOUBTED_PROGRAM.format(program=mine, other=other))
            apart = asked.scratch()
            outcome = execution.run(plan, apart, asked.surroundings())
            self._revised.append((outcome, apart, asked.understood))
        finally:
            asked.rest_on(before)
        return outcome

    def settle(self, chosen: execution.Outcome) -> None:
        apart, understood = next((apart, rests) for outcome, apart, rests in self._revised if outcome is chosen)
        self.question.workspace.frames.clear()
        self.question.workspace.frames.update(apart.frames)
        self.question.rest_on(understood)

    def told(self, first: execution.Outcome, verdicts: list[Verdict]) -> tuple[str, str]:
        others = [program(verdict.plan) for verdict in verdicts if verdict.plan is not None]
        return program(first.plan), "\n\n".join(others)


def program(plan: Plan) -> str:
    """SELECTs and script of a plan, for a prompt."""
    parts = [plan.interpretation] if plan.interpretation else []
    for step in plan.steps:
        if isinstance(step, Extract):
            parts.append(f"{step.frame}:\n{step.select}")
        elif isinstance(step, Script):
            parts.append(step.code or step.task)
    return "\n\n".join(parts)
