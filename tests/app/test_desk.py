"""What a person does at a desk: asks, goes on, is asked back, cancels, teaches, looks again; and nothing is lost."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from finexpert.answers import replaying
from finexpert.app.actions import keeping
from finexpert.app.actions.asking import Wish
from finexpert.app.state.stored import StoredAnswer
from finexpert.core.progress import Event
from finexpert.errors import Busy, Cancelled, FinexpertError, Forbidden, ModelUnreachable, Refused, TooMany


def holding(model: Any) -> threading.Event:
    """The model answers when the event is set."""
    free, plan = threading.Event(), model.plan()

    def wait(prompt: str) -> str:
        assert free.wait(20)
        return str(plan)

    model.says("planning", wait)
    return free


def until(true: Any, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)


def test_an_answer_is_told_as_it_comes_and_is_kept(office: Any) -> None:
    conversation = office.conversation()
    told = office.told(office.desk.ask(office.ann, conversation, "How many months?"))
    stages = [event.stage for event in told if isinstance(event, Event) and event.state == "ended"]
    assert {"planning", "extracting", "scripting", "answering"} <= set(stages)
    answer = told[-1]
    assert isinstance(answer, StoredAnswer)
    assert (answer.value, answer.state, answer.status, answer.number) == (6, "finished", "answered", 1)
    assert answer.selects[0].sql == office.model.good
    assert office.desk.conversation(office.ann, conversation) == [answer]
    about = office.desk.about(office.ann, conversation)
    assert (about.name, about.answers, about.asking) == ("How many months?", 1, None)


def test_a_follow_up_builds_on_the_turn_before(office: Any) -> None:
    conversation = office.conversation()
    office.model.says("planning", office.model.plan(), office.model.plan("answer = len(sales) * 2", select=None))
    assert office.ask("How many?", conversation).value == 6
    assert office.ask("Twice that?", conversation).value == 12
    assert "How many?" in office.model.prompts[-1]


def test_a_conversation_goes_on_after_its_session_was_closed(office: Any) -> None:
    conversation = office.conversation()
    office.model.says("planning", office.model.plan(), office.model.plan("answer = len(sales) * 2", select=None))
    office.ask("How many?", conversation)
    office.desk.sessions.close()
    assert len(office.desk.sessions) == 0
    assert office.ask("Twice that?", conversation).value == 12


def test_a_conversation_goes_on_at_another_desk(make_office: Any) -> None:
    first = make_office()
    conversation = first.conversation()
    first.model.says("planning", first.model.plan(), first.model.plan("answer = len(sales) * 2", select=None))
    first.ask("How many?", conversation)
    second = make_office()
    assert second.ask("Twice that?", conversation).value == 12
    # The first desk has a session that is behind: it is opened again.
    first.model.says("planning", first.model.plan("answer = len(sales) * 3", select=None))
    assert first.ask("Three times that?", conversation).value == 18
    assert [each.value for each in second.desk.conversation(second.ann, conversation)] == [6, 12, 18]


def test_what_was_that_again_makes_no_second_turn(office: Any) -> None:
    conversation = office.conversation()
    office.ask("How many?", conversation)
    assert office.ask("What was that again?", conversation).value == 6
    office.desk.sessions.close()
    office.model.says("planning", office.model.plan("answer = len(sales) * 2", select=None))
    office.ask("Twice that?", conversation)
    assert office.model.prompts[-1].count("How many?") == 1


def test_one_question_at_a_time_in_a_conversation(office: Any) -> None:
    free, conversation = holding(office.model), office.conversation()
    running = office.desk.start(office.ann, conversation, Wish("How many?"))
    with pytest.raises(Busy, match="another question of this conversation"):
        office.desk.start(office.ann, conversation, Wish("And now?"))
    with pytest.raises(Busy, match="cancel it first"):
        office.desk.delete(office.ann, conversation)
    free.set()
    assert running.done.wait(10)
    assert office.desk.conversation(office.ann, conversation)[0].value == 6


def test_a_question_goes_on_when_nobody_listens_and_is_followed_again(office: Any) -> None:
    free, conversation = holding(office.model), office.conversation()

    async def left_and_came_back() -> list[Any]:
        events = office.desk.ask(office.ann, conversation, "How many?")
        await anext(events)
        await events.aclose()
        following = asyncio.create_task(heard())
        await asyncio.sleep(0.05)
        free.set()
        return await following

    async def heard() -> list[Any]:
        return [thing async for thing in office.desk.watch(office.ann, conversation)]

    told = asyncio.run(left_and_came_back())
    assert isinstance(told[0], Event)
    assert told[-1].value == 6
    assert office.told(office.desk.watch(office.ann, conversation)) == []


def test_cancel_ends_the_question_and_the_conversation_goes_on(office: Any) -> None:
    free, conversation = holding(office.model), office.conversation()
    running = office.desk.start(office.ann, conversation, Wish("How many?"))
    until(lambda: office.model.calls)
    assert office.desk.cancel(office.ann, conversation)
    free.set()
    assert running.done.wait(10)
    with pytest.raises(Cancelled):
        office.told(running.follow())
    assert office.desk.conversation(office.ann, conversation)[0].state == "cancelled"
    assert not office.desk.cancel(office.ann, conversation)
    office.model.says("planning", office.model.plan())
    assert office.ask("How many?", conversation).value == 6


def test_cancel_is_heard_by_the_server_that_has_the_question(make_office: Any) -> None:
    here, there = make_office(), make_office()
    free, conversation = holding(here.model), here.conversation()
    running = here.desk.start(here.ann, conversation, Wish("How many?"))
    until(lambda: here.model.calls)
    assert there.desk.cancel(there.ann, conversation)
    until(lambda: running.cancelled, 5)
    threading.Timer(1, free.set).start()
    # Who follows it from there hears how it ended.
    with pytest.raises(FinexpertError, match="cancelled"):
        there.told(there.desk.watch(there.ann, conversation))
    assert running.done.wait(10)
    assert there.desk.conversation(there.ann, conversation)[0].state == "cancelled"


def test_a_model_that_cannot_be_reached_is_said_and_kept(office: Any) -> None:
    def gone(prompt: str) -> str:
        raise ModelUnreachable("http://model does not answer, with the key sk-abcdefghijklmnop")

    office.model.says("planning", gone)
    conversation = office.conversation()
    with pytest.raises(ModelUnreachable):
        office.ask("How many?", conversation)
    kept = office.desk.conversation(office.ann, conversation)[0]
    assert kept.state == "failed"
    assert "does not answer" in kept.error
    assert "abcdefghijklmnop" not in kept.error
    office.model.says("planning", office.model.plan())
    assert office.ask("How many?", conversation).value == 6


def test_a_question_back_is_replied_to(office: Any) -> None:
    model, conversation = office.model, office.conversation()
    model.says("planning", model.plan(unclear="grubby"), model.plan(follows=(1,)))
    office.desk.define(office.ann, "stress month", "a month in which sales fall")
    asked = office.ask("How many grubby months?", conversation)
    assert asked.clarification is not None
    term = asked.clarification.term
    with pytest.raises(Refused, match="nothing was asked back about 'other'"):
        office.told(office.desk.reply(office.ann, conversation, "other", "x"))
    (*_, answer) = office.told(office.desk.reply(office.ann, conversation, asked.clarification, "with few sales"))
    assert answer.value == 6
    (kept,) = office.desk.terms(office.ann, term)
    assert (kept.meaning, kept.scope) == ("with few sales", "sales")


def test_the_reply_of_a_reader_is_kept_for_nobody_else(office: Any) -> None:
    model, conversation = office.model, office.conversation(office.eve)
    model.says("planning", model.plan(unclear="grubby"), model.plan(follows=(1,)))
    office.desk.define(office.ann, "stress month", "a month in which sales fall")
    asked = office.ask("How many grubby months?", conversation, office.eve)
    told = office.told(office.desk.reply(office.eve, conversation, asked.clarification.term, "with few sales"))
    assert told[-1].value == 6
    assert "with few sales" in model.prompts[-1]
    assert [each.term for each in office.desk.terms(office.eve)] == ["stress month"]


def test_a_value_that_is_not_in_its_column_is_chosen(office: Any) -> None:
    model, conversation = office.model, office.conversation()
    wrong = "SELECT date, region, amount FROM sales WHERE region = 'nroth' ORDER BY date"
    model.says("planning", model.plan(select=wrong))
    asked = office.ask("How many in the north?", conversation)
    assert asked.clarification is not None
    assert asked.clarification.kind == "value"
    assert "north" in asked.clarification.candidates
    office.desk.sessions.close()
    told = office.told(office.desk.reply(office.ann, conversation, asked.clarification, "north"))
    assert told[-1].value == 3


def test_idle_sessions_and_sources_are_closed(make_office: Any) -> None:
    office = make_office(open_sessions=2)
    for _ in range(3):
        office.ask("How many?")
    assert len(office.desk.sessions) == 2
    # Only now: the keeper of the desk sweeps by itself too.
    office.desk.sessions._idle = office.desk.opened._idle = 0.01
    time.sleep(0.05)
    office.desk.sessions.sweep()
    assert len(office.desk.sessions) == 0
    time.sleep(0.05)
    office.desk.opened.sweep()
    assert len(office.desk.opened) == 0
    assert office.ask("How many?").value == 6


def test_a_deleted_conversation_is_in_memory_no_more(office: Any) -> None:
    conversation = office.conversation()
    office.ask("How many?", conversation)
    assert len(office.desk.sessions) == 1
    office.desk.delete(office.ann, conversation)
    assert len(office.desk.sessions) == 0


def test_limits_of_a_person(make_office: Any) -> None:
    office = make_office(questions_each=1, questions_per_minute=2)
    free = holding(office.model)
    running = office.desk.start(office.ann, office.conversation(), Wish("How many?"))
    with pytest.raises(TooMany, match="1 of your questions"):
        office.desk.start(office.ann, office.conversation(), Wish("How many?"))
    free.set()
    running.done.wait(10)
    with pytest.raises(TooMany, match="more than 2 questions in a minute"):
        office.ask("How many?")
    assert office.ask("How many?", person=office.eve).value == 6


def test_what_a_person_computes_without_a_model_is_limited_too(
    make_office: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = make_office(questions_each=1)
    answer, free, begun = office.ask("How many?"), threading.Event(), threading.Event()
    replay = replaying.replay

    def slow(*given: Any) -> Any:
        begun.set()
        assert free.wait(20)
        return replay(*given)

    monkeypatch.setattr(replaying, "replay", slow)
    with ThreadPoolExecutor(1) as pool:
        replayed = pool.submit(office.desk.replay, office.ann, answer.id)
        assert begun.wait(10)
        for again in (office.desk.replay, office.desk.export):
            with pytest.raises(TooMany, match="1 of your requests"):
                again(office.ann, answer.id)
        with pytest.raises(TooMany):
            office.desk.run_select(office.ann, answer.id, office.model.good)
        free.set()
        assert replayed.result(20).same
    assert office.desk.export(office.ann, answer.id)


def test_an_end_waits_for_answers_and_gives_back_what_takes_longer(make_office: Any) -> None:
    office = make_office(grace_seconds=0.2)
    free, conversation = holding(office.model), office.conversation()
    running = office.desk.start(office.ann, conversation, Wish("How many?"))
    until(lambda: office.model.calls)
    ending = threading.Thread(target=office.desk.close)
    ending.start()
    until(lambda: office.desk.draining)
    with pytest.raises(Busy, match="about to end"):
        office.desk.start(office.ann, conversation, Wish("And now?"))
    until(lambda: running.cancelled)
    free.set()
    ending.join(20)
    again = make_office()
    (kept,) = again.desk.conversation(again.ann, conversation)
    assert (kept.state, kept.error) == ("interrupted", "the server ended before the answer was there: ask again")
    again.model.says("planning", again.model.plan())
    assert again.ask("How many?", conversation).value == 6


def test_a_server_of_another_home_gives_back_nothing_of_one_that_lives(make_office: Any, tmp_path: Path) -> None:
    state, secret = f"sqlite:///{tmp_path / 'state.sqlite'}", "0123456789abcdef"
    here = make_office(state=state, home=tmp_path / "here", secret=secret)
    free, conversation = holding(here.model), here.conversation()
    running = here.desk.start(here.ann, conversation, Wish("How many?"))
    there = make_office(state=state, home=tmp_path / "there", secret=secret)
    assert there.desk.conversation(there.ann, conversation)[0].state == "running"
    free.set()
    assert running.done.wait(10)
    assert there.desk.conversation(there.ann, conversation)[0].value == 6


def test_questions_that_do_not_end_hold_the_end_up_once(make_office: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "_END_SECONDS", 0.3)
    office = make_office(grace_seconds=0, questions_each=10)
    free = holding(office.model)
    under_way = [office.desk.start(office.ann, office.conversation(), Wish("How many?")) for _ in range(6)]
    until(lambda: len(office.model.calls) == 6)
    began = time.monotonic()
    office.desk.drain()
    assert time.monotonic() - began < 1.5
    assert all(each.cancelled for each in under_way)
    free.set()
    assert all(each.done.wait(10) for each in under_way)


def test_every_action_is_in_the_audit_log(office: Any) -> None:
    answer = office.ask("How many months?")
    office.desk.replay(office.ann, answer.id)
    entries = office.desk.audit(office.ann)
    assert [each.action for each in entries] == ["replay", "answered", "ask", "create conversation"]
    assert all(each.person == office.ann.id for each in entries)
    assert "months" not in "".join(each.model_dump_json() for each in entries)
    with pytest.raises(Forbidden):
        office.desk.audit(office.eve)
    assert office.desk.audit(office.tom) == []
