"""A state that cannot be written or read for a while: who reads goes on, who asks is told, and nothing stays taken."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from finexpert.app.actions import keeping
from finexpert.errors import StoreError

FULL = "the state at postgresql://db.internal/state cannot be used (the disk is full)"


@contextmanager
def full(*_: Any) -> Iterator[Any]:
    """In place of `State.writing`."""
    raise StoreError(FULL)
    yield


def test_who_has_a_token_reads_where_nothing_can_be_written(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with house.client() as eve:
        monkeypatch.setattr(house.desk.state, "writing", full)
        assert [each["name"] for each in eve.get("/api/sources").json()] == ["Sales"]
        reply = eve.post("/api/conversations", json={"source": house.office.source})
    assert (reply.status_code, reply.json()["error"]["type"]) == (503, "StoreError")


def test_a_state_out_of_reach_is_said_without_its_place(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any) -> None:
        raise StoreError(FULL)

    with house.client() as eve:
        monkeypatch.setattr(house.desk.state, "row", gone)
        reply = eve.get("/api/sources")
    assert (reply.status_code, reply.json()["error"]["type"]) == (503, "StoreError")
    assert "db.internal" not in reply.text
    assert "try again" in reply.text


def test_a_conversation_is_free_again_when_the_state_is_back(office: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "BEAT_SECONDS", 0.1)
    conversation, plan, writing = office.conversation(), office.model.plan(), office.desk.state.writing

    def fills_the_disk(prompt: str) -> str:
        monkeypatch.setattr(office.desk.state, "writing", full)
        return str(plan)

    office.model.says("planning", fills_the_disk)
    with pytest.raises(StoreError, match="the disk is full"):
        office.ask("How many?", conversation)
    assert office.desk.about(office.ann, conversation).asking is not None
    monkeypatch.setattr(office.desk.state, "writing", writing)
    office.model.says("planning", plan)
    until = time.monotonic() + 15
    while office.desk.about(office.ann, conversation).asking is not None:
        assert time.monotonic() < until, "the conversation was never freed"
        time.sleep(0.05)
    (kept,) = office.desk.conversation(office.ann, conversation)
    assert (kept.state, "the disk is full" in kept.error) == ("failed", True)
    assert office.ask("How many?", conversation).value == 6
