"""A conversation with a budget: turns end as answers or as reasons, and nothing is raised."""

from __future__ import annotations

import random
from typing import Any

import pytest


def test_the_budget_of_a_conversation_is_for_all_its_turns(desk: Any) -> None:
    desk.says("planning", desk.plan())
    session = desk.session(budget_conversation_calls=2, memory=False)
    answers = [session.ask(question) for question in ("How many months?", "How many years?", "How many days?")]
    assert [answer.status for answer in answers] == ["answered", "answered", "failed"]
    failure = answers[2].failure
    assert (failure.layer, answers[2].value) == ("budget", None)
    assert "the budget of this conversation is used up: 2 of 2 calls" in failure.message
    assert "FINEXPERT_BUDGET_CONVERSATION_CALLS" in failure.message
    assert session.spent["calls"] == 2
    assert answers[1].record.budgets == {"conversation": {"calls": [2.0, 2]}}
    # A question like any other for who asks again with more.
    session = desk.session(budget_conversation_calls=3, memory=False)
    assert session.ask("How many days?").status == "answered"


def test_a_conversation_that_is_taken_up_goes_on_within_its_budget(desk: Any) -> None:
    desk.says("planning", desk.plan())
    first = desk.session(budget_conversation_calls=2, memory=False)
    assert first.ask("How many months?").status == "answered"
    first.save("desk")
    again = desk.session(budget_conversation_calls=2, memory=False)
    assert again.resume("desk") == []
    assert [again.ask(question).status for question in ("How many years?", "How many days?")] == ["answered", "failed"]
    assert again.spent["calls"] == 2


def test_where_it_ends_before_the_critics_the_first_value_stands(desk: Any) -> None:
    desk.says("planning", desk.plan())
    session = desk.session(budget_conversation_calls=1, memory=False, mode="reviewed")
    answer = session.ask("How many months?")
    assert (answer.status, answer.value) == ("answered", 6)
    assert answer.confidence <= 30
    assert any("FINEXPERT_BUDGET_CONVERSATION_CALLS" in flag for flag in answer.flags)


@pytest.mark.parametrize("seed", range(3))
def test_random_budgets_of_conversations_are_never_passed(desk: Any, seed: int) -> None:
    chance = random.Random(seed)
    desk.says("planning", desk.plan())
    calls, each = chance.randint(0, 4), chance.choice([None, 0, 1])
    session = desk.session(budget_conversation_calls=calls, budget_calls=each, memory=False)
    answers = [session.ask(f"How many of {number}?") for number in range(5)]
    assert len(desk.calls) == (calls if each != 0 else 0)
    for answer in answers:
        assert (answer.value == 6) if answer.status == "answered" else (answer.value is None and answer.failure)
