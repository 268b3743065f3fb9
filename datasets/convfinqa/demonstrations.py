"""Demonstrations that fit: the turns of a training set nearest to a question, with their plans.

Nothing of the data set is kept here: plans are made at run time from the gold programs of the user's own copy, and a demonstration
shows of its page only the table and the sentences that its plan quotes.

    >>> from finexpert.datasets.convfinqa.conversations import load
    >>> chosen = Demonstrations(load(), k=2).nearest("what was the percent change in revenue ?")
    >>> [demo.answer for demo in chosen]
    ['step 1', 'step 1']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import dspy
from rapidfuzz import fuzz, process

from finexpert.core.plans import Plan, Quote
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.datasets.convfinqa.conversations import Conversation
from finexpert.datasets.convfinqa.plans import from_official_program
from finexpert.errors import FinexpertError
from finexpert.filings.page.filing import Filing
from finexpert.modules.flow.filing_question import conversation as describe_turns

MOST_ROWS = 25


@dataclass(frozen=True)
class _Candidate:
    conversation: Conversation
    number: int


class Demonstrations:
    """The `k` nearest turns of a set of conversations, never one of the page that is asked about."""

    def __init__(self, conversations: Iterable[Conversation], k: int = 3) -> None:
        self.k = k
        self._candidates = [
            _Candidate(conversation, number)
            for conversation in conversations
            if len(conversation.filing.table) <= MOST_ROWS
            for number in range(len(conversation.turns))
        ]
        self._questions = [_words(c.conversation, c.number) for c in self._candidates]

    def nearest(self, question: str, before: Sequence[str] = (), page: str = "") -> list[dspy.Example]:
        """Demonstrations for a question, the nearest last; one at the most from each page."""
        found: dict[str, dspy.Example] = {}
        query = " ".join([*before[-1:], question])
        ranked = process.extract(query, self._questions, scorer=fuzz.token_sort_ratio, limit=20 * self.k)
        for _, _, place in ranked:
            candidate = self._candidates[place]
            name = candidate.conversation.page
            if name == page or name in found:
                continue
            example = _example(candidate.conversation, candidate.number)
            if example is not None:
                found[name] = example
            if len(found) == self.k:
                break
        return list(found.values())[::-1]


def _words(conversation: Conversation, number: int) -> str:
    return " ".join(turn.question for turn in conversation.turns[max(0, number - 1) : number + 1])


def _example(conversation: Conversation, number: int) -> dspy.Example | None:
    """The turn as inputs and outputs of the planner, or None where its program has no plan."""
    plans: list[Plan] = []
    workspace = Workspace()
    try:
        for turn in conversation.turns[: number + 1]:
            if turn.program is None or turn.answer is None:
                return None
            plans.append(from_official_program(turn.program, conversation.filing, turn.question))
    except FinexpertError:
        return None
    for turn, plan in zip(conversation.turns[:number], plans, strict=False):
        if turn.answer is not None:
            workspace.add_turn(Turn(turn.question, Value(turn.answer), plan=plan))
    plan = plans[-1]
    reference = plan.answer_reference
    return dspy.Example(
        page=_page(conversation.filing, plan),
        conversation=describe_turns(workspace),
        question=conversation.turns[number].question,
        entity=conversation.turns[number].question.strip(" ?"),
        steps=plan.steps,
        answer=f"{reference.kind} {reference.number}",
    ).with_inputs("page", "conversation", "question")


def _page(filing: Filing, plan: Plan) -> str:
    quoted = [step.quote for step in plan.steps if isinstance(step, Quote)]
    return Filing(filing.id, quoted, filing.table, []).page_text()
