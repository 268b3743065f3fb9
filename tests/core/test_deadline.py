"""A time limit that holds even for work that heeds no interrupt."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from finexpert.core.deadline import run_within


def test_an_error_of_the_work_is_raised_as_it_is() -> None:
    def fail() -> None:
        raise LookupError("not here")

    with pytest.raises(LookupError, match="not here"):
        run_within(5, fail, lambda: None)


def test_a_timeout_of_the_work_itself_is_not_mistaken_for_ours() -> None:
    def fail() -> None:
        raise TimeoutError("of the disk")

    with pytest.raises(TimeoutError, match="of the disk"):
        run_within(5, fail, lambda: None)


def test_work_that_heeds_no_interrupt_is_left_behind(soon: Any) -> None:
    release = threading.Event()
    calls: list[int] = []

    def work() -> None:
        with pytest.raises(TimeoutError, match=r"longer than 0\.1 s"):
            run_within(0.1, lambda: release.wait(20), lambda: calls.append(1))

    soon(1.1, work)
    release.set()
    assert len(calls) > 5


def test_work_that_heeds_it_ends_at_once(soon: Any) -> None:
    def work() -> None:
        stopped = threading.Event()
        with pytest.raises(TimeoutError):
            run_within(0.1, lambda: stopped.wait(20), stopped.set)

    soon(0.4, work)


def test_no_interrupt_follows_work_that_is_done() -> None:
    calls: list[int] = []
    assert run_within(5, lambda: "done", lambda: calls.append(1)) == "done"
    assert not calls
