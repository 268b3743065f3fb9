"""Remembering: a conversation becomes a process, and the process is tried before it is used.

What the model wrote down is followed on the taught case in a clean conversation, knowing nothing but the process. It
becomes active only if the result is the one that the expert accepted; otherwise it is kept as a draft, with the
difference.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import ValidationError

from finexpert.core.answers import AnswerFormat, show
from finexpert.core.encoding import encode
from finexpert.core.plans import Extract
from finexpert.core.workspace import Turn, Workspace
from finexpert.errors import NameTaken, OutputError, PlanError
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process, TaughtCase
from finexpert.modules.flow.layers import Program
from finexpert.modules.flow.options import Options
from finexpert.plans import process_checks
from finexpert.sandbox import Sandbox
from finexpert.text.texts import MEANING_LENGTH, sentence, visible
from finexpert.warehouse.named_selects import NamedSelect
from finexpert.warehouse.warehouse import Warehouse

TURNS = 20

Decision = Literal["replace", "ignore", "keep both"]


@dataclass(frozen=True)
class Remembered:
    """What became of a process that was to be remembered.

    `problems` says why it is a draft. With a `clash` nothing is stored yet: the expert decides, and
    `store` is called again with the decision.
    """

    process: Process
    problems: list[str] = field(default_factory=list)
    clash: Process | None = None
    stored: bool = False


@dataclass(frozen=True)
class Teaching:
    """What remembering works with: the expert's program, its source, and where it keeps what it learns."""

    expert: Program
    source: Warehouse
    sandbox: Sandbox
    memory: Memory
    as_of: dt.date
    options: Options
    by: str
    scope: str = ""

    def remember(self, workspace: Workspace, heading: str = "", name: str = "") -> Remembered:
        """Write down the conversation's process, try it, and store it unless it clashes.

        Raises PlanError when there is nothing to remember, OutputError when the model's text is no process.
        """
        accepted = _accepted(workspace)
        written = self._written(workspace, heading)
        process = written.process.model_copy(
            update={
                "taught_by": self.by,
                "taught_at": dt.datetime.now(dt.UTC),
                "conversation": name,
                "scope": self.scope,
            }
        )
        try:
            case = self._case(accepted, written.case_question)
        except ValidationError as error:
            return self.store(_draft(process, [f"its result cannot be kept to compare with: {sentence(error)}"]))
        return self.store(self.checked(process.model_copy(update={"case": case})))

    def _case(self, accepted: Turn, question: str) -> TaughtCase:
        return TaughtCase(
            question=question,
            as_of=self.as_of,
            answer_format=_exact(accepted),
            expected=encode(accepted.value.value if accepted.value else None),
            source=self.source.snapshot() or "",
        )

    def _written(self, workspace: Workspace, heading: str) -> Any:
        conversation, card = transcript(workspace), self.source.schema_card(self.options.privacy)
        for last in range(self.options.retries, -1, -1):
            try:
                return self.expert.memorization(conversation=conversation, schema_card=card, heading=heading)
            except OutputError:
                if last == 0:
                    raise
        raise AssertionError("unreachable")

    def checked(self, process: Process) -> Remembered:
        """The process, active if it holds on its taught case, else a draft with what was found."""
        others = self.memory.named_elsewhere(process.id)
        problems = process_checks.problems(process, self.source, self.as_of, others)
        if not problems and not self._proved(process, others):
            problems = self._tried(process)
        if problems:
            return _draft(process, problems)
        return Remembered(process.model_copy(update={"status": "active", "note": ""}))

    def _proved(self, process: Process, others: Mapping[str, NamedSelect]) -> bool:
        """Whether a SELECT that is read by name gives the accepted result itself, so that nobody has to follow the process."""
        case = process.case
        named = process.steps[-1].name is not None
        return named and case is not None and process_checks.gives_its_case(process, self.source, case.as_of, others)

    def _tried(self, process: Process) -> list[str]:
        """What differs when the process is followed in a clean conversation."""
        case = process.case
        if case is None:
            return ["it has no case that it was taught on, so it cannot be tried"]
        if not process_checks.proves(case.expected):
            return ["the case that it was taught on has no value in it, which proves nothing: teach it on one that has"]
        answer = self.expert(
            question=case.question,
            source=self.source,
            sandbox=self.sandbox,
            workspace=Workspace(),
            answer_format=case.answer_format,
            as_of=case.as_of,
            knowledge=process.recipe(),
            options=replace(self.options, ask_below=0, clarify=False),
        ).answer
        if answer.status != "answered":
            return [f"tried on {case.question!r}, it gave {answer.text}"]
        if process_checks.same_result(case.expected, encode(answer.value)):
            return []
        if case.source and case.source != self.source.snapshot():
            return [f"it was taught on other data (of {case.source}), so its result cannot be compared"]
        return [f"tried on {case.question!r}, it gave {_short(answer.text)} where {_expected(case)} was accepted"]

    def store(self, remembered: Remembered, decision: Decision | None = None, heading: str = "") -> Remembered:
        """Keep a process, unless a clash has still to be decided."""
        process, memory = remembered.process, self.memory
        if decision == "ignore":
            return replace(remembered, clash=None)
        clash = remembered.clash or memory.clash(process)
        try:
            if clash is None:
                kept = memory.add(process, self.by)
            elif decision == "replace":
                kept = memory.replace(_without_others(process, clash, memory), self.by, clash.id)
            elif decision == "keep both":
                kept = memory.keep_both(process, heading, self.by)
            else:
                return replace(remembered, clash=clash)
        except NameTaken:
            # Someone else taught it in the meantime, or the other heading is taken as well.
            return replace(remembered, clash=memory.clash(process) or clash)
        return replace(remembered, process=kept, clash=None, stored=True)


def _accepted(workspace: Workspace) -> Turn:
    """The last answered turn: its result is what the expert accepted by saying "remember"."""
    for turn in reversed(workspace.turns):
        if turn.value is not None and turn.plan is not None:
            return turn
    raise PlanError("nothing in this conversation has been answered yet, so there is nothing to remember")


def _draft(process: Process, problems: list[str]) -> Remembered:
    note = visible("; ".join(problems))[:MEANING_LENGTH]
    return Remembered(process.model_copy(update={"status": "draft", "note": note}), problems)


def _without_others(process: Process, old: Process, memory: Memory) -> Process:
    """The process without the aliases by which a third one is known, which would keep it from taking the old one's place."""
    others = {alias: memory.get(alias) for alias in process.aliases}
    free = [alias for alias, other in others.items() if other is None or other.id == old.id]
    return process.model_copy(update={"aliases": free})


def _exact(turn: Turn) -> AnswerFormat:
    """The format of an accepted answer; of a table also its columns, so that it is asked for in the same shape.

    Columns are named only if a model wrote their names: those of a pivoted table are values from the data.
    """
    answer_format = turn.answer_format or AnswerFormat()
    if turn.value is None or answer_format.kind != "table" or answer_format.description:
        return answer_format
    columns = [str(column) for column in getattr(turn.value.value, "columns", [])]
    words = set(re.findall(r"\w+", "\n".join(_written_by_model(turn))))
    if all(words.issuperset(re.findall(r"\w+", column)) for column in columns):
        return answer_format.model_copy(update={"description": f"columns in order: {', '.join(columns)}"})
    return answer_format


def _written_by_model(turn: Turn) -> Iterator[str]:
    yield turn.script or ""
    for step in turn.plan.steps if turn.plan else []:
        if isinstance(step, Extract):
            yield " ".join([step.select or "", *step.columns])


def _expected(case: TaughtCase) -> str:
    return _short(str(case.expected) if case.answer_format.kind == "table" else show(case.expected, case.answer_format))


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:297]}..."


def transcript(workspace: Workspace) -> str:
    """The conversation for the model that writes down the process: messages, SELECTs and scripts, and no values."""
    parts = []
    turns = [turn for turn in workspace.turns if turn.value is not None][-TURNS:]
    for number, turn in enumerate(turns, 1):
        lines = [f"turn {number}, expert: {turn.question}"]
        if turn.interpretation:
            lines.append(f"understood as: {turn.interpretation}")
        for step in turn.plan.steps if turn.plan else []:
            if isinstance(step, Extract) and step.select:
                lines.append(f"frame {step.frame}: {step.select}")
        # A script takes up what the ones before it did, so only the last two show how it came about.
        if turn.script and number > len(turns) - 2:
            lines.append(f"script:\n{turn.script}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
