"""A time limit that holds even for work that heeds no interrupt."""

from __future__ import annotations

import threading
import time

import pytest

from finexpert.sources.deadline import run_within


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


def test_work_that_heeds_no_interrupt_is_left_behind() -> None:
    release = threading.Event()
    calls: list[float] = []
    started = time.perf_counter()
    with pytest.raises(TimeoutError, match=r"longer than 0\.1 s"):
        run_within(0.1, lambda: release.wait(20), lambda: calls.append(time.perf_counter()))
    release.set()
    assert time.perf_counter() - started < 1.1
    assert len(calls) > 5


def test_work_that_heeds_it_ends_at_once() -> None:
    stopped = threading.Event()
    started = time.perf_counter()
    with pytest.raises(TimeoutError):
        run_within(0.1, lambda: stopped.wait(20), stopped.set)
    assert time.perf_counter() - started < 0.4


def test_no_interrupt_follows_work_that_is_done() -> None:
    calls: list[int] = []
    assert run_within(5, lambda: "done", lambda: calls.append(1)) == "done"
    assert not calls
