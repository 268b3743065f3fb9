"""A state that cannot be written or read for a while: who reads goes on, who asks is told, and nothing stays taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

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
