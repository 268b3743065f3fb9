"""A question as a stream of events, and a question that is cancelled: the conversation goes on as if it had not been asked."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from finexpert.core.answers import Answer
from finexpert.core.progress import Event
from finexpert.errors import Cancelled, ModelError

ENDLESS = "while True:\n    answer = 1"


def stages(events: list[Any]) -> list[str]:
    return [each.stage for each in events if isinstance(each, Event) and each.state == "ended"]


def later(act: Callable[[], object], seconds: float = 0.3) -> threading.Thread:
    thread = threading.Timer(seconds, act)
    thread.start()
    return thread


def test_the_last_thing_is_the_answer_and_the_events_hold_no_value(desk: Any) -> None:
    desk.says("planning", desk.plan())
    *events, answer = desk.session(memory=False).events("How many months?")
    assert isinstance(answer, Answer)
    assert (answer.status, answer.value) == ("answered", 6)
    assert stages(events) == ["planning", "checking", "extracting", "scripting", "answering"]
    assert sum(each.calls for each in events) == answer.usage.calls == 1
    assert not any(canary in repr(events) for canary in desk.canaries)


def test_what_was_taught_is_looked_up_before_it_is_planned(desk: Any) -> None:
    desk.says("planning", desk.plan())
    session = desk.session()
    session.define("month", "a calendar month")
    *events, answer = session.events("How many quiet months?")
    assert answer.value == 6
    assert stages(events)[:3] == ["recalling", "understanding", "planning"]
    assert sum(each.calls for each in events) == answer.usage.calls


def test_an_error_is_raised_where_the_events_are_read(desk: Any) -> None:
    def fail(prompt: str) -> str:
        raise ModelError("the model is gone")

    desk.says("planning", fail)
    with pytest.raises(ModelError, match="the model is gone"):
        list(desk.session(memory=False).events("How many months?"))


def test_a_script_is_killed_and_the_conversation_goes_on(desk: Any, soon: Any) -> None:
    session = desk.session(memory=False)

    def cancelled() -> None:
        desk.says("planning", desk.plan(code=ENDLESS))
        cancelling = later(session.cancel, 1.0)
        with pytest.raises(Cancelled):
            session.ask("How many months?")
        cancelling.join()

    soon(6.0, cancelled)
    assert (session.workspace.turns, session.workspace.frames) == ([], {})
    desk.says("planning", desk.plan())
    assert session.ask("How many months?").value == 6


def test_a_call_of_a_model_is_not_waited_for(desk: Any) -> None:
    release = threading.Event()

    def slow(prompt: str) -> str:
        session.cancel()
        release.wait(0.1)
        return str(desk.plan())

    desk.says("planning", slow)
    session = desk.session(memory=False)
    with pytest.raises(Cancelled):
        session.ask("How many months?")
    assert desk.layers == ["planning"]
    assert not session.workspace.turns


def test_who_stops_reading_cancels(desk: Any) -> None:
    desk.says("planning", desk.plan(code=ENDLESS))
    session = desk.session(memory=False)
    events = session.events("How many months?")
    assert any(each.stage == "scripting" for each in events)
    started = time.perf_counter()
    events.close()
    assert time.perf_counter() - started < 6
    assert not session.workspace.turns
    assert not [each for each in threading.enumerate() if each.name == "finexpert-question"]


def test_one_question_at_a_time(desk: Any) -> None:
    desk.says("planning", desk.plan())
    session = desk.session(memory=False)
    events = session.events("How many months?")
    next(events)
    with pytest.raises(RuntimeError, match="another question of this conversation is under way"):
        session.ask("How many years?")
    events.close()
    assert session.ask("How many years?").value == 6


def test_nothing_to_cancel_is_no_error(desk: Any) -> None:
    session = desk.session(memory=False)
    session.cancel()
    desk.says("planning", desk.plan())
    assert session.ask("How many months?").value == 6


def test_a_coroutine_hears_the_same_and_others_run_meanwhile(desk: Any) -> None:
    desk.says("planning", desk.plan())
    session = desk.session(memory=False)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def ask() -> list[Any]:
        counting = asyncio.create_task(count())
        heard = [each async for each in session.aevents("How many months?")]
        counting.cancel()
        return heard

    *events, answer = asyncio.run(ask())
    assert answer.value == 6
    assert stages(events)[0] == "planning"
    assert turns > 10
    assert asyncio.run(session.aask("How many years?")).value == 6


def test_a_task_that_is_cancelled_cancels_its_question(desk: Any) -> None:
    desk.says("planning", desk.plan(code=ENDLESS))
    session = desk.session(memory=False)

    async def ask() -> None:
        task = asyncio.create_task(session.aask("How many months?"))
        await asyncio.sleep(1.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ask())
    assert not session.workspace.turns


def test_a_stream_of_a_coroutine_can_be_closed(desk: Any) -> None:
    desk.says("planning", desk.plan(code=ENDLESS))
    session = desk.session(memory=False)

    async def ask() -> None:
        async with aclosing(session.aevents("How many months?")) as events:
            async for each in events:
                if isinstance(each, Event) and each.stage == "scripting":
                    break

    asyncio.run(ask())
    assert not session.workspace.turns
