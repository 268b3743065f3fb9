"""How often something may be done: in a minute of the steady clock, for each by themselves."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from finexpert.app.guarding import limits
from finexpert.app.guarding.limits import AtOnce, Limit
from finexpert.errors import TooMany


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What both clocks say; either may be set."""
    said = {"steady": 1_000.0, "wall": 1_700_000_000.0}
    monkeypatch.setattr(time, "monotonic", lambda: said["steady"])
    monkeypatch.setattr(time, "time", lambda: said["wall"])
    return said


def test_so_many_in_a_minute(clock: Any) -> None:
    limit = Limit(3, "questions")
    for _ in range(3):
        limit.hit("ann")
        clock["steady"] += 10
    with pytest.raises(TooMany, match="more than 3 questions in a minute") as refused:
        limit.hit("ann")
    assert refused.value.seconds == 30
    limit.hit("eve")
    clock["steady"] += 30
    limit.hit("ann")
    with pytest.raises(TooMany):
        limit.hit("ann")


@pytest.mark.parametrize("hours", [-24, -1, 1, 24])
def test_a_clock_that_is_set_keeps_nobody_waiting_and_lets_nobody_through(clock: Any, hours: int) -> None:
    limit = Limit(3, "questions")
    for _ in range(3):
        limit.hit("ann")
    clock["wall"] += hours * 3_600
    with pytest.raises(TooMany) as refused:
        limit.hit("ann")
    assert refused.value.seconds == 60
    clock["steady"] += 61
    for _ in range(3):
        limit.hit("ann")


def test_those_who_went_are_forgotten(clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_KEYS", 100)
    limit = Limit(3, "logins")
    for number in range(1_000):
        clock["steady"] += 1
        limit.hit(f"address {number}")
    assert len(limit._hits) <= 101


def test_threads_count_together() -> None:
    limit, at_once, let, lock = Limit(50, "requests"), AtOnce(3), [], threading.Lock()

    def hit(_: int) -> None:
        try:
            limit.hit("ann")
        except TooMany:
            return
        with lock:
            let.append(1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(hit, range(500)))
    assert len(let) == 50
    with ExitStack() as under_way:
        for key in ("ann", "ann", "ann", "eve"):
            under_way.enter_context(at_once.one(key))
        with pytest.raises(TooMany):
            under_way.enter_context(at_once.one("ann"))
    with at_once.one("ann"):
        pass
