"""ConvFinQA as an evaluation: whole conversations, turn after turn, with the program's own answers as history.

One result is one conversation:

    {"mode": "planner", "id": "Single_AAL/2014/page_18.pdf-1", "turns": [{"question": "...", "gold": 7.0, "predicted": 7.0,
     "confidence": 95, "plan": {...}, "usage": {...}}]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import dspy
from pydantic import BaseModel, Field

from finexpert.core.answers import Answer, Citation, Failure, Usage
from finexpert.core.plans import Plan
from finexpert.core.reviews import Review
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.datasets.convfinqa.conversations import Conversation, GoldTurn
from finexpert.datasets.convfinqa.plans import from_official_program, to_official_program
from finexpert.datasets.convfinqa.programs import execute, tokenize
from finexpert.datasets.convfinqa.scoring import TurnResult, lenient
from finexpert.datasets.evaluations.answer_matching import close
from finexpert.datasets.evaluations.journal import Journal
from finexpert.errors import PlanError, UnknownPrompt
from finexpert.filings.page.filing import Filing
from finexpert.language_models.budget import Budget
from finexpert.language_models.roles import LanguageModels
from finexpert.modes import MODES
from finexpert.modules.baselines.page import PageInOneCall
from finexpert.modules.calling import using
from finexpert.modules.financial_expert import FinancialExpert, Options
from finexpert.settings import Settings

PLANNER, BASELINE = "planner", "single-call"

CONVENTIONS = """\
Values stay in the page's own unit: in a table in millions they are millions. A value with a percent sign is a fraction (13.4% is 0.134).
A change, a difference between two times, or "how much did it change" is the later value minus the earlier one, with its sign.
A percentage change, growth rate or return is that change divided by the earlier value. It, and every share, portion, ratio or \
"what percent of", is the plain quotient, a fraction; only a turn that asks to state a value already found as a percentage multiplies by 100.
An outflow, payment, expenditure or decrease that the table prints as a negative number is asked for as an amount: its absolute value. \
A loss, a net figure or a change keeps its sign.
A turn that names an item or a value asks for that value, even if an earlier turn asked for it.
"This", "that", "it" and "these" point to earlier answers or to what they were about; choose by meaning."""


class TurnRecord(BaseModel):
    """One turn as it was answered."""

    question: str
    gold: float | str | None
    gold_program: str | None = None
    predicted: Any = None
    program: list[str] | None = None
    confidence: int | None = None
    flags: list[str] = Field(default_factory=list)
    review: Review | None = Field(default=None, description="what critics did, in a mode that has them")
    citations: list[Citation] = Field(default_factory=list)
    plan: Plan | None = None
    failure: Failure | None = None
    usage: Usage = Usage()


class ConversationResult(BaseModel):
    """One conversation, answered once by one model in one mode."""

    mode: str
    model: str
    id: str
    page: str
    turns: list[TurnRecord]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.mode, self.model, self.id


@dataclass
class ConversationBench:
    """What an evaluation runs with."""

    models: LanguageModels
    settings: Settings
    history: Literal["own", "gold"] = "own"
    knowledge: str = CONVENTIONS
    expert: FinancialExpert = field(default_factory=FinancialExpert)
    model: str = ""

    def converse(self, conversation: Conversation, mode: str, *, budgets: bool = False) -> ConversationResult:
        """Answer all turns of a conversation, one after the other; with `budgets`, within those of the settings."""
        workspace = Workspace()
        turns = []
        with using(self.models), Budget.of(self.settings, "conversation") if budgets else Budget():
            for number in range(len(conversation.turns)):
                with Budget.of(self.settings, "answer") if budgets else Budget():
                    turns.append(self._turn(conversation, number, mode, workspace))
        return ConversationResult(mode=mode, model=self.model, id=conversation.id, page=conversation.page, turns=turns)

    def _turn(self, conversation: Conversation, number: int, mode: str, workspace: Workspace) -> TurnRecord:
        asked = conversation.turns[number]
        made = self._answer(asked.question, conversation, mode, workspace)
        answer: Answer = made.answer
        turn = workspace.turns[-1]
        program = None
        if turn.plan is not None:
            program = to_official_program(turn.plan, conversation.filing, _before(workspace))
        if self.history == "gold" and asked.answer is not None:
            workspace.turns[-1] = _as_gold(turn, asked, conversation.filing)
        return TurnRecord(
            question=asked.question,
            gold=asked.answer,
            gold_program=asked.program,
            predicted=answer.value,
            program=program,
            confidence=answer.confidence,
            flags=answer.flags,
            review=made.get("review"),
            citations=answer.citations,
            plan=turn.plan,
            failure=answer.failure,
            usage=answer.usage,
        )

    def _answer(self, question: str, conversation: Conversation, mode: str, workspace: Workspace) -> dspy.Prediction:
        common = {
            "question": question,
            "source": conversation.filing,
            "workspace": workspace,
            "knowledge": self.knowledge,
        }
        try:
            if mode == BASELINE:
                return PageInOneCall()(**common)
            options = Options.of(self.settings)
            options = options.within(MODES[mode]) if mode in MODES else options
            return self.expert(options=options, **common)
        except UnknownPrompt as error:
            workspace.add_turn(Turn(question))
            failure = Failure(layer="language_models", kind="unknown prompt", message=str(error).splitlines()[0])
            return dspy.Prediction(answer=Answer(question=question, status="failed", failure=failure))


def _as_gold(turn: Turn, asked: GoldTurn, filing: Filing) -> Turn:
    """The turn with the gold answer; a plan that did not lead to it gives way to the gold's."""
    if asked.answer is None:
        return turn
    if turn.value is not None and close(turn.value.value, asked.answer):
        return replace(turn, value=replace(turn.value, value=asked.answer))
    try:
        plan = from_official_program(asked.program, filing, asked.question) if asked.program else None
    except PlanError:
        plan = None
    return Turn(asked.question, Value(asked.answer), plan=plan)


def _before(workspace: Workspace) -> Workspace:
    return Workspace(frames=workspace.frames, turns=workspace.turns[:-1])


def evaluate(
    bench: ConversationBench,
    conversations: Sequence[Conversation],
    modes: Sequence[str],
    journal: Journal[ConversationResult],
    *,
    threads: int = 8,
    on_result: Callable[[ConversationResult], None] = lambda result: None,
) -> list[ConversationResult]:
    """Hold every conversation in every mode, side by side, except those that the journal has already."""
    jobs = {(mode, bench.model, c.id): (c, mode) for mode in modes for c in conversations}
    ask = partial(bench.converse, budgets=True)
    return journal.fill(ask, jobs, lambda result: result.key, threads=threads, on_result=on_result)


def turn_results(results: Iterable[ConversationResult], conversations: Sequence[Conversation]) -> list[TurnResult]:
    """The turns of these conversations for scoring; turns without a public answer are left out."""
    by_id = {conversation.id: conversation for conversation in conversations}
    return [
        TurnResult.of(by_id[result.id], number, turn.predicted, turn.program, turn.confidence)
        for result in results
        for number, turn in enumerate(result.turns, 1)
        if turn.gold is not None
    ]


def predictions(results: Iterable[ConversationResult]) -> list[dict[str, object]]:
    """All turns in the official leaderboard form, also those without a public answer; turns counted from 0."""
    return [
        {"id": f"{result.id}_{number}", "predicted": turn.program or ["n/a", "EOF"]}
        for result in results
        for number, turn in enumerate(result.turns)
    ]


def lost(results: Iterable[ConversationResult], beside: Iterable[ConversationResult] = ()) -> list[dict[str, Any]]:
    """Every lost turn with its kind and the evidence to judge it in one look; `beside` holds other ways of answering."""
    others = {(result.id, number): turn.predicted for result in beside for number, turn in enumerate(result.turns)}
    return [
        {
            "id": result.id,
            "turn": number + 1,
            "kind": classify(turn, others.get((result.id, number))),
            "questions": [earlier.question for earlier in result.turns[: number + 1]],
            "gold": turn.gold,
            "gold_program": turn.gold_program,
            "predicted": turn.predicted,
            "program": " ".join(turn.program) if turn.program else None,
            "citations": [f"{c.place} = {c.value}" for c in turn.citations],
            "flags": turn.flags,
            "confidence": turn.confidence,
            "failure": turn.failure.message if turn.failure else None,
        }
        for result in results
        for number, turn in enumerate(result.turns)
        if turn.gold is not None and not close(turn.predicted, turn.gold)
    ]


def classify(turn: TurnRecord, other: object = None) -> str:
    """Why a turn was lost, as far as a rule can tell; `other` is what another way of answering gave.

    "no answer"; "convention": right but for sign or a factor of 100; "suspected gold error": another way agrees with us
    and not with the gold; "extraction": the gold's operations on other values; "planning": other operations.
    """
    if turn.predicted is None or turn.gold is None:
        return "no answer"
    if lenient(turn.predicted, turn.gold):
        return "convention"
    if isinstance(turn.predicted, float | str) and close(other, turn.predicted):
        return "suspected gold error"
    same = _operations(turn.program) == _operations(tokenize(turn.gold_program or ""))
    return "extraction" if same else "planning"


def _operations(tokens: Iterable[str] | None) -> list[str]:
    return [token for token in tokens or () if token.endswith("(")]


def arithmetic_errors(results: Iterable[ConversationResult], conversations: Sequence[Conversation]) -> int:
    """Turns whose official program, run by the official rules, does not give the value that we gave for it."""
    filings = {conversation.id: conversation.filing for conversation in conversations}
    wrong = 0
    for result in results:
        for turn in result.turns:
            if turn.program is None or turn.predicted is None:
                continue
            value = execute(turn.program, filings[result.id].table)
            if value is not None and not close(turn.predicted, value):
                wrong += 1
    return wrong
