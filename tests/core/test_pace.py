"""A budget of seconds is one of work: where others have the processors, it is longer."""

from __future__ import annotations

import multiprocessing
import os
import time

from finexpert.core.pace import MOST, Pace


def work(seconds: float) -> None:
    """Of the processor, not of the clock."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def burn() -> None:
    while True:
        pass


def test_what_the_thread_waits_for_says_nothing() -> None:
    pace = Pace()
    work(0.05)
    before = pace.slowness
    with pace.elsewhere():
        time.sleep(1)
    assert pace.slowness < before + 1


def test_a_thread_that_gets_no_processor_goes_slower() -> None:
    pace = Pace()
    time.sleep(1)
    assert pace.slowness == MOST


def test_others_on_every_processor_are_seen() -> None:
    """Six beside it on each processor: it is given a seventh of one."""
    others = [
        multiprocessing.get_context("spawn").Process(target=burn) for _ in range(6 * len(os.sched_getaffinity(0)))
    ]
    try:
        for other in others:
            other.start()
        time.sleep(2)
        pace = Pace()
        work(0.3)
        assert pace.slowness > 2.5
    finally:
        for other in others:
            other.kill()
