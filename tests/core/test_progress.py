"""Stages are reported from every thread, calls count once, and a cancelled question ends."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from finexpert.core import progress
from finexpert.core.deadline import run_within
from finexpert.core.progress import Event, Watch, stage, watching
from finexpert.errors import Cancelled


def test_a_stage_in_another_thread_is_heard_and_calls_are_of_the_innermost() -> None:
    heard: list[Event] = []

    def query() -> None:
        with stage("checking"):
            progress.called(None)
        progress.called(0.5)

    with watching(Watch(heard.append)), stage("extracting", "2 SELECTs"), ThreadPoolExecutor(1) as pool:
        pool.submit(copy_context().run, query).result()
    assert [(each.stage, each.state, each.calls, each.usd, each.note) for each in heard] == [
        ("extracting", "started", 0, 0.0, "2 SELECTs"),
        ("checking", "started", 0, 0.0, ""),
        ("checking", "ended", 1, None, ""),
        ("extracting", "ended", 1, 0.5, ""),
    ]
    assert heard[3].seconds >= heard[2].seconds > 0


def test_a_stage_within_one_of_its_name_is_a_part_of_it() -> None:
    heard: list[Event] = []
    with watching(Watch(heard.append)), stage("planning"), stage("planning"):
        progress.called(0.5)
    assert [(each.state, each.calls) for each in heard] == [("started", 0), ("ended", 1)]


def test_what_ends_a_stage_is_named_by_its_kind_alone() -> None:
    heard: list[Event] = []
    with pytest.raises(ValueError, match="secret"), watching(Watch(heard.append)), stage("planning"):
        raise ValueError("a secret cell")
    assert heard[1].note == "ValueError"


def test_nothing_is_heard_or_cancelled_where_nobody_watches() -> None:
    with stage("planning"):
        progress.called(0.5)
        progress.check()


def test_a_cancelled_question_ends_at_its_next_stage() -> None:
    with watching(Watch()) as watch:
        watch.cancel()
        with pytest.raises(Cancelled), stage("planning"):
            pass


def test_work_under_a_time_limit_is_given_up_at_once() -> None:
    release = threading.Event()
    started = time.perf_counter()
    with watching(Watch()) as watch:
        threading.Timer(0.1, watch.cancel).start()
        with pytest.raises(Cancelled):
            run_within(20, lambda: release.wait(20), release.set)
    assert release.is_set()
    assert time.perf_counter() - started < 10


def test_an_error_that_the_interruption_causes_is_told_as_cancelled() -> None:
    broken = threading.Event()

    def read() -> None:
        with progress.watch().interrupting(broken.set):
            assert broken.wait(20)
            raise OSError("the process is gone")

    with watching(Watch()) as watch:
        threading.Timer(0.1, watch.cancel).start()
        with pytest.raises(Cancelled):
            read()


def test_an_action_is_not_called_after_it_was_left() -> None:
    calls: list[int] = []
    with watching(Watch()) as watch:
        with watch.interrupting(lambda: calls.append(1)):
            pass
        watch.cancel()
    assert not calls
