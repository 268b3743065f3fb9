"""Runs a query in a thread of its own, so that a time limit, Ctrl-C and a cancelled question end it whatever it is doing.

    run_within(10.0, lambda: relation.to_arrow_table(), cursor.interrupt)

A query that does not heed its interrupt within a grace period is left to end by itself; its rows are never used. Memory is not
limited here.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import TypeVar

from finexpert.core import progress
from finexpert.errors import Cancelled

GRACE_SECONDS = 0.5
PAUSE_SECONDS = 0.02

T = TypeVar("T")


def run_within(seconds: float, work: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """What `work` returns or raises; TimeoutError after `seconds`, or as soon after as `interrupt` takes effect.

    Raises Cancelled at once where the question around it is cancelled.

    >>> run_within(5.0, lambda: 6 * 7, lambda: None)
    42
    >>> run_within(0.01, lambda: time.sleep(0.1), lambda: None)
    Traceback (most recent call last):
    TimeoutError: it took longer than 0.01 s
    """
    outcome: Future[T] = Future()
    thread = threading.Thread(target=_settle, args=(outcome, work), name="finexpert-query", daemon=True)
    thread.start()
    try:
        with progress.watch().interrupting(lambda: _give_up(outcome)):
            return outcome.result(timeout=seconds)
    except TimeoutError as error:
        if outcome.done():
            raise
        raise TimeoutError(f"it took longer than {seconds:g} s") from error
    finally:
        _stop(thread, interrupt)


def _settle(outcome: Future[T], work: Callable[[], T]) -> None:
    # Whoever cancelled has settled it already, and nobody waits for the rest.
    with contextlib.suppress(InvalidStateError):
        try:
            outcome.set_result(work())
        except InvalidStateError:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised in the thread that asked
            outcome.set_exception(error)


def _give_up(outcome: Future[T]) -> None:
    with contextlib.suppress(InvalidStateError):
        outcome.set_exception(Cancelled("the question was cancelled while this ran"))


def _stop(thread: threading.Thread, interrupt: Callable[[], None]) -> None:
    """An interrupt between planning and running is lost, so it is repeated until the thread ends."""
    end = time.monotonic() + GRACE_SECONDS
    thread.join(PAUSE_SECONDS)
    while thread.is_alive() and time.monotonic() < end:
        interrupt()
        thread.join(PAUSE_SECONDS)
