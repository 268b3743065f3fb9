"""A question that is answered by a verified query: its SELECT runs as it stands, over today's data, and no model is asked.

All checks of a SELECT hold. What fails is no answer: the question then goes the usual way.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from finexpert.core.answers import Answer, AnswerFormat
from finexpert.core.plans import Extract, Plan
from finexpert.core.workspace import Workspace
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.knowledge.verified.variables import YEARS
from finexpert.modules.flow.layers import Layers
from finexpert.modules.flow.options import Options
from finexpert.modules.flow.verifying import Match, find
from finexpert.modules.flow.warehouse_question import WarehouseQuestion
from finexpert.plans import execution
from finexpert.sandbox import Sandbox
from finexpert.warehouse.warehouse import Warehouse


@dataclass(kw_only=True)
class VerifiedQuestion(WarehouseQuestion):
    """One question with its verified query."""

    match: Match

    def understand(self) -> None:
        """Nothing: a person has read the question together with the SELECT."""

    def show_injections(self, answer: Answer) -> None:
        """Nothing: no model reads anything."""

    def outcome(self) -> execution.Outcome:
        self.last_plan = self._plan()
        with self.timed("execution"):
            around = replace(self.surroundings(), write_selects=None, write_script=None, retries=0)
            return execution.run(self.last_plan, self.workspace, around)

    def answered(self, outcome: execution.Outcome) -> Answer:
        answer = super().answered(outcome)
        query = self.match.query
        answer.flags.insert(0, self.match.said)
        if answer.record is not None:
            answer.record.verified = {
                "id": query.id,
                "version": query.version,
                "by": query.taught_by,
                "variables": dict(self.match.values),
            }
        return answer

    def _plan(self) -> Plan:
        """The SELECT as the one step of a plan."""
        query = self.match.query
        own = {variable.name: variable.value for variable in query.variables}
        # What was said of the question then may name the old values of variables, or the day.
        dated = set(YEARS.findall(query.interpretation)) - set(YEARS.findall(self.question))
        said = query.interpretation if dict(self.match.values) == own and not dated else ""
        step = Extract(id=1, frame=query.frame, purpose=self.question, columns=query.columns, select=self.match.select)
        return Plan(steps=[step], interpretation=said, unit=query.answer_format.unit)


@dataclass(frozen=True)
class Conversing:
    """What a question is asked with, where a verified query may answer it."""

    layers: Layers
    source: Warehouse
    sandbox: Sandbox
    workspace: Workspace
    taught: Taught
    options: Options


def answer_verified(
    question: str, wanted: AnswerFormat | None, about: Conversing, day: tuple[dt.date, bool]
) -> tuple[Answer | None, list[str]]:
    """The answer of the question's verified query, kept as a turn; else None, and why a query in its words was not used."""
    as_of, given = day
    earlier = [turn.question for turn in about.workspace.turns]
    match, notes = find(question, earlier, about.source, about.taught, as_of, declared_only=not given)
    if match is None:
        return None, notes
    if wanted is not None and not _same_type(wanted, match.query):
        return None, [
            f"a verified query in the words of this question was not used: it gives {match.query.answer_format.kind}"
        ]
    apart = Workspace(dict(about.workspace.frames), list(about.workspace.turns))
    answer = VerifiedQuestion(
        layers=about.layers,
        question=question,
        workspace=apart,
        answer_format=wanted or match.query.answer_format,
        as_of=as_of,
        as_of_given=given,
        knowledge="",
        options=about.options,
        taught=about.taught,
        source=about.source,
        sandbox=about.sandbox,
        code_reviewer=about.layers.adversarial_review if about.options.review else None,
        match=match,
    ).answer()
    if answer.status != "answered":
        # A flag may go on to a model, by a program that one asks with.
        why = answer.failure.for_models or answer.failure.message if answer.failure else answer.status
        return None, [f"a verified query in the words of this question was not used: {why}"]
    about.workspace.frames.clear()
    about.workspace.frames.update(apart.frames)
    about.workspace.turns[:] = apart.turns
    return answer, []


def _same_type(wanted: AnswerFormat, query: VerifiedQuery) -> bool:
    kept = query.answer_format
    return (wanted.kind, wanted.unit, wanted.items) == (kept.kind, kept.unit, kept.items)
