"""A state that cannot be written or read for a while: who reads goes on, who asks is told, and nothing stays taken."""

from __future__ import annotations

import datetime as dt
import errno
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from finexpert.app.actions import keeping
from finexpert.app.guarding import uploads
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


class Full(io.BytesIO):
    """A file that is sent to a disk without room."""

    def read(self, size: int | None = -1) -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/spooled")


def test_a_file_without_room_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"could not be kept \(No space left on device\): .* send it again then"):
        uploads.keep(Full(), tmp_path / "s1", "x.csv", 1_000)
    assert not (tmp_path / "s1").exists()


def test_a_file_that_no_row_knows_is_removed(office: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office.desk.state, "writing", full)
    with pytest.raises(StoreError):
        office.desk.add_source(office.ann, "Fees", file=io.BytesIO(b"day,fee\n2024-01-31,5\n"), filename="fees.csv")
    assert not any((office.desk.folder / "uploads").rglob("*.csv"))


def test_a_disk_without_room_is_no_error_of_the_program(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def sources(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/srv/home/x")

    monkeypatch.setattr(house.desk, "sources", sources)
    with house.client() as eve:
        quiet = TestClient(house.app, base_url=house.base, headers=eve.headers, raise_server_exceptions=False)
        reply = quiet.get("/api/sources")
    assert (reply.status_code, "the disk of the server is full" in reply.text) == (503, True)
    assert "/srv" not in reply.text


def test_a_server_that_cannot_write_for_a_while_is_not_ready(office: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert office.desk.ready() == []
    monkeypatch.setattr(keeping, "DEAD_AFTER", dt.timedelta(seconds=0.2))
    monkeypatch.setattr(office.desk.state, "writing", full)
    time.sleep(0.3)
    (problem,) = office.desk.ready()
    assert "last written" in problem
    assert "see to the disk" in problem
