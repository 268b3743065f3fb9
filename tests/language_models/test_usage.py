"""Counting: layers, nesting, threads, the cache, and calls that fail."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.core.display.parts import cost
from finexpert.errors import ModelError
from finexpert.language_models.overlap import Span, on_the_clock
from finexpert.language_models.scope import current
from finexpert.language_models.scripted import ScriptedModel
from finexpert.language_models.usage import Call, Meter, layer


def test_layers_and_nested_meters() -> None:
    lm = ScriptedModel(lambda messages: "four" * 4)
    with Meter() as run:
        for _ in range(2):
            with Meter() as answer:
                with layer("planning"):
                    lm("word" * 8)
                with layer("sql_extraction"):
                    lm("word" * 8)
                lm("word" * 8)
    assert answer.usage().by_layer == {"planning": 1, "sql_extraction": 1, "other": 1}
    assert run.usage().calls == 6
    assert (run.usage().prompt_tokens, run.usage().completion_tokens) == (48, 24)
    assert run.usage().cost_usd == 0.0


def test_a_call_outside_counts_for_nobody() -> None:
    lm = ScriptedModel(["one", "two"])
    with Meter() as meter:
        lm("a")
    lm("b")
    assert meter.usage().calls == 1


def test_threads_of_dspy_and_threads_with_a_copied_context() -> None:
    lm = ScriptedModel(lambda messages: "[[ ## answer ## ]]\n1\n\n[[ ## completed ## ]]")
    program = dspy.Predict("question -> answer")
    with Meter() as meter, layer("planning"), dspy.context(lm=lm):
        parallel = dspy.Parallel(num_threads=3, disable_progress_bar=True)
        parallel([(program, {"question": str(i)}) for i in range(6)])
        with ThreadPoolExecutor(3) as pool:
            futures = [pool.submit(copy_context().run, lambda: program(question="?")) for _ in range(4)]
            [future.result() for future in futures]
        devset = [dspy.Example(question=str(i), answer="1").with_inputs("question") for i in range(5)]
        evaluate = dspy.Evaluate(devset=devset, metric=lambda gold, pred: gold.answer == pred.answer, num_threads=3)
        assert evaluate(program).score == 100.0
    assert meter.usage().by_layer == {"planning": 15}


def test_coroutines() -> None:
    lm = ScriptedModel(lambda messages: "x")

    async def ask() -> None:
        await asyncio.gather(*(lm.acall(str(i)) for i in range(5)))

    with Meter() as meter:
        asyncio.run(ask())
    assert meter.usage().calls == 5


def test_a_call_served_by_the_cache_counts_with_what_it_took(served: Any, server: Any) -> None:
    server.delay = 0.5
    lm = served(cache=True, extra={"input_cost_per_token": 0.5, "output_cost_per_token": 1.0})
    with Meter() as first:
        assert lm("hello") == ["the answer"]
    server.delay = 0.0
    with Meter() as second:
        assert lm.copy()("hello") == ["the answer"]
    assert len(server.seen) == 1
    cold, warm = first.usage(), second.usage()
    assert (cold.cached, warm.cached) == (0, 1)
    assert "from the cache" not in cost(cold)
    assert "1 from the cache" in cost(warm)
    assert (warm.calls, warm.prompt_tokens, warm.completion_tokens) == (1, 12, 3)
    assert warm.cost_usd == cold.cost_usd == pytest.approx(9.0)
    assert warm.model_seconds == pytest.approx(cold.model_seconds, rel=1e-6)
    assert warm.model_seconds >= 0.5
    assert second.wall_seconds < 0.4
    assert warm.seconds - warm.model_seconds == pytest.approx(second.wall_seconds, abs=1e-6)


def test_the_cache_is_counted_with_the_history_off(served: Any) -> None:
    lm = served(cache=True)
    with dspy.context(disable_history=True), Meter() as meter:
        lm("hello")
        lm("hello")
    assert (meter.usage().calls, meter.usage().cached) == (2, 1)
    assert lm.history == []


def test_another_repeat_is_asked_anew_at_temperature_0(served: Any, server: Any) -> None:
    lm = served(cache=True)
    for number in (1, 2, 2):
        lm.copy(rollout_id=number)("hello")
    assert len(server.seen) == 2


def test_a_failed_call_is_no_call() -> None:
    lm = ScriptedModel([])
    with Meter() as meter, pytest.raises(ModelError, match="was asked 1 times"):
        lm("hello")
    assert (meter.usage().calls, meter.failed) == (0, 1)


def test_time_outside_the_model_does_not_hold_the_model() -> None:
    lm = ScriptedModel(lambda messages: "x", latency=0.4)
    with Meter() as meter:
        lm("hello")
    usage = meter.usage()
    assert usage.model_seconds >= 0.4
    assert usage.seconds - usage.model_seconds < 0.3


def test_a_meter_runs_once_at_a_time() -> None:
    with Meter() as meter, pytest.raises(RuntimeError, match="running already"):
        meter.__enter__()


def test_the_scope_is_not_pickled_with_the_settings() -> None:
    with Meter():
        assert pickle.loads(pickle.dumps(current())).meters == ()


def test_what_the_usage_tracker_of_dspy_sees_is_not_changed(served: Any) -> None:
    lm = served()
    with Meter(), dspy.track_usage() as tracker:
        lm("hello")
    assert tracker.get_total_tokens()["openai/served"]["prompt_tokens"] == 12


@pytest.mark.parametrize("replayed", [False, True])
def test_calls_side_by_side_take_the_time_of_the_longest(replayed: bool) -> None:
    """Three of 0.3 s at once, then one: 0.6 s on the clock, whether they are made now or take no time now."""
    lm = ScriptedModel(lambda messages: "x", latency=0.0 if replayed else 0.3)

    def call() -> None:
        if replayed:
            gate.wait(10)
            now.add(Call("planning", "gpt", seconds=0.3, waited=0.05))
        else:
            lm("hello")

    with Meter() as now:
        for width in (3, 1):
            gate = threading.Barrier(width)
            if replayed:
                time.sleep(0.06)
            with ThreadPoolExecutor(width) as pool:
                [job.result() for job in [pool.submit(copy_context().run, call) for _ in range(width)]]
    usage = now.usage()
    assert usage.calls == 4
    assert usage.model_seconds == pytest.approx(0.6, abs=0.2)
    assert 0.0 <= usage.seconds - usage.model_seconds < 0.5
    assert usage.seconds == pytest.approx(now.wall_seconds + (0.5 if replayed else 0.0), abs=0.2 if replayed else 0.01)


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 3), st.floats(0, 5)), max_size=8), st.booleans())
def test_time_on_the_clock_is_that_of_the_calls_and_what_lies_between(
    drawn: list[tuple[float, float, float]], live: bool
) -> None:
    spans = [Span(began, began + took, took if live else then) for began, took, then in drawn]
    end = max((span.ended for span in spans), default=0.0) + 1.0
    seconds, model_seconds = on_the_clock(spans, 0.0, end)
    longest, total = max((span.seconds for span in spans), default=0.0), sum(span.seconds for span in spans)
    assert longest - 1e-6 <= model_seconds <= total + 1e-6
    assert model_seconds <= seconds + 1e-6
    if live:
        assert seconds == pytest.approx(end)
