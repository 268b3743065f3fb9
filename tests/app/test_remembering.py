"""A conversation that is made a process: it counts, is cancelled and ends as a question does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from finexpert.errors import Cancelled, TooMany


def until(true: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)


def held(model: Any) -> threading.Event:
    """The model writes a process when the event is set."""
    free, process = threading.Event(), model.process()

    def wait(prompt: str) -> str:
        assert free.wait(20)
        return str(process)

    model.says("memorization", wait)
    model.says("generalise", model.fields(variants=["x"]))
    return free


def test_it_counts_as_a_question_of_the_person(make_office: Any) -> None:
    office = make_office(questions_each=1)
    conversation, other = office.conversation(), office.conversation()
    office.ask("How many months?", conversation)
    free = held(office.model)
    with ThreadPoolExecutor(1) as pool:
        remembering = pool.submit(office.desk.remember, office.ann, conversation)
        until(lambda: office.desk.about(office.ann, conversation).asking is not None)
        with pytest.raises(TooMany, match="1 of your questions"):
            office.ask("How many?", other)
        free.set()
        assert remembering.result(20).stored
    assert office.ask("How many?", other).value == 6


def test_it_is_cancelled_and_the_conversation_goes_on(office: Any) -> None:
    conversation = office.conversation()
    office.ask("How many months?", conversation)
    free = held(office.model)
    with ThreadPoolExecutor(1) as pool:
        remembering = pool.submit(office.desk.remember, office.ann, conversation)
        until(lambda: "memorization" in office.model.layers)
        # Nobody is told of a question, for there is none.
        assert office.told(office.desk.watch(office.ann, conversation)) == []
        assert office.desk.cancel(office.ann, conversation)
        free.set()
        with pytest.raises(Cancelled):
            remembering.result(20)
    assert office.desk.processes(office.ann) == []
    assert office.ask("How many?", conversation).value == 6


def test_an_end_waits_for_it(make_office: Any) -> None:
    office = make_office(grace_seconds=20)
    conversation = office.conversation()
    office.ask("How many months?", conversation)
    free = held(office.model)
    with ThreadPoolExecutor(2) as pool:
        remembering = pool.submit(office.desk.remember, office.ann, conversation)
        until(lambda: "memorization" in office.model.layers)
        draining = pool.submit(office.desk.drain)
        time.sleep(0.2)
        assert not draining.done()
        free.set()
        assert remembering.result(20).stored
        draining.result(20)
