"""Budgets: exact in calls, by no more than one call over in tokens and dollars, also under threads."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import dspy
import pytest

from finexpert.errors import BudgetExceeded, ConfigurationError
from finexpert.language_models.budget import Budget, ended_by
from finexpert.language_models.limits import SpendingLimits
from finexpert.language_models.scripted import ScriptedModel
from finexpert.language_models.usage import Meter
from finexpert.settings import Settings


def _ask(lm: Any, prompt: str = "word" * 10) -> bool:
    try:
        lm(prompt)
    except BudgetExceeded:
        return False
    return True


def _in_threads(lm: Any, calls: int, threads: int = 8) -> int:
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(copy_context().run, _ask, lm) for _ in range(calls)]
        return sum(future.result() for future in futures)


def test_no_budget_by_default() -> None:
    lm = ScriptedModel(lambda messages: "x")
    with Budget():
        assert _in_threads(lm, 5) == 5


def test_zero_calls() -> None:
    with Budget(calls=0), pytest.raises(BudgetExceeded, match=r"0 of 0 calls.*FINEXPERT_BUDGET_CALLS"):
        ScriptedModel(["x"])("hello")


def test_calls_are_exact_under_threads() -> None:
    lm = ScriptedModel(lambda messages: "x", latency=0.005)
    with Budget(calls=7):
        assert _in_threads(lm, 30) == 7
    assert len(lm.prompts) == 7


def test_tokens_pass_by_one_call_at_most_under_threads() -> None:
    lm = ScriptedModel(lambda messages: "four" * 10, latency=0.01)  # 20 tokens a call
    with Budget(tokens=90) as budget, Meter() as meter:
        _in_threads(lm, 40)
    usage = meter.usage()
    assert usage.calls == 5
    assert budget.spent["tokens"] == usage.prompt_tokens + usage.completion_tokens == 100


def test_calls_far_from_the_limit_run_side_by_side(soon: Any) -> None:
    lm = ScriptedModel(lambda messages: "x", latency=0.3)

    def ask() -> None:
        with Budget(tokens=1_000_000):
            assert _in_threads(lm, 16) == 16

    soon(16 * 0.3, ask)


def test_dollars(served: Any, server: Any) -> None:
    lm = served(cache=True, extra={"input_cost_per_token": 0.01, "output_cost_per_token": 0.0})  # $0.12 a call
    with Budget(usd=0.3) as budget:
        assert [_ask(lm, str(i)) for i in range(5)] == [True, True, True, False, False]
    assert budget.spent["usd"] == pytest.approx(0.36)
    with Budget(usd=0.3) as budget:
        # What the cache serves is not paid again.
        assert [_ask(lm, str(i)) for i in (0, 1, 2, 0, 1, 2, 3)] == [True] * 7
    assert budget.spent["usd"] == pytest.approx(0.12)


def test_dollars_without_a_price_stop_after_one_call(served: Any, server: Any) -> None:
    lm = served()
    with Budget(usd=5.0):
        lm("one")
        with pytest.raises(ConfigurationError, match="price of openai/served is not known"):
            lm("two")
    assert len(server.seen) == 1


def test_seconds() -> None:
    lm = ScriptedModel(lambda messages: "x")
    with Budget(seconds=0.05):
        assert _ask(lm)
        time.sleep(0.06)
        with pytest.raises(BudgetExceeded, match="FINEXPERT_BUDGET_SECONDS"):
            lm("hello")


def test_the_tighter_of_nested_budgets_decides() -> None:
    lm = ScriptedModel(lambda messages: "x")
    with Budget(calls=5) as run:
        for _ in range(2):
            with Budget(calls=2):
                assert [_ask(lm) for _ in range(3)] == [True, True, False]
        with Budget(calls=2):
            assert [_ask(lm) for _ in range(3)] == [True, False, False]
    assert run.spent["calls"] == 5


def test_a_refused_call_takes_nothing_from_the_outer_budget() -> None:
    lm = ScriptedModel(lambda messages: "x")
    with Budget(calls=5) as run:
        with Budget(calls=0):
            assert not _ask(lm)
        assert run.spent["calls"] == 0


def test_a_failing_call_does_not_hold_back_the_next() -> None:
    answers = iter(["", "x"])

    def fail_first(messages: object) -> str:
        text = next(answers)
        if not text:
            raise BudgetExceeded("for the test")
        return text

    lm = ScriptedModel(fail_first)
    with Budget(tokens=1000):
        assert not _ask(lm)
        assert _ask(lm)


def test_coroutines_wait_for_each_other_without_blocking() -> None:
    lm = ScriptedModel(lambda messages: "four" * 10, latency=0.01)

    async def ask() -> list[Any]:
        calls = (lm.acall("word" * 10) for _ in range(12))
        return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 10)

    with Budget(tokens=90):
        results = asyncio.run(ask())
    assert sum(isinstance(result, BudgetExceeded) for result in results) == 7


def test_it_comes_out_of_a_program_as_it_is() -> None:
    program = dspy.ChainOfThought("question -> answer")
    lm = ScriptedModel(["no fields at all"])
    # DSPy's fallback to JSON is a second call.
    with dspy.context(lm=lm), Budget(calls=1), pytest.raises(BudgetExceeded, match="1 of 1 calls"):
        program(question="?")


def test_a_negative_budget_is_a_mistake() -> None:
    with pytest.raises(ConfigurationError, match="usd=-1"):
        Budget(usd=-1)


def test_a_conversation_counts_over_its_turns() -> None:
    """Calls, tokens and the seconds of answering add up; the time between the turns does not count."""
    lm = ScriptedModel(lambda messages: "x")
    conversation = Budget.of(Settings(budget_conversation_calls=3, budget_conversation_seconds=0.5), "conversation")
    for _ in range(2):
        with conversation.counting(), Budget(calls=5):
            assert _ask(lm)
        time.sleep(0.3)
    assert conversation.spent["calls"] == 2
    assert conversation.spent["seconds"] < 0.5
    with conversation.counting():
        assert _ask(lm)
        with pytest.raises(
            BudgetExceeded, match=r"of this conversation .* 3 of 3 .*FINEXPERT_BUDGET_CONVERSATION_CALLS"
        ):
            lm("hello")


def test_a_run_ends_and_says_why() -> None:
    lm, done = ScriptedModel(lambda messages: "x"), 0
    with ended_by(Budget(calls=2, whose="run")) as ended:
        for _ in range(5):
            # An answer that runs out of its own budget is an answer; one that runs out of the run's is none.
            with Budget(calls=1):
                _ask(lm)
                assert not _ask(lm)
            done += 1
    assert done == 1
    assert "FINEXPERT_BUDGET_RUN_CALLS" in ended.why
    with ended_by(Budget(calls=2, whose="run")) as ended:
        _ask(lm)
    assert not ended


@pytest.mark.parametrize("whose", ["answer", "conversation", "run"])
def test_limits_become_settings(whose: Any) -> None:
    given = SpendingLimits.parse("calls=3,usd=0.5,tokens=100,minutes=2").as_settings(whose)
    assert Budget.of(Settings(**given), whose).limits == {"calls": 3, "usd": 0.5, "seconds": 120.0, "tokens": 100}
    assert Budget.of(Settings(), whose).limited is False
