"""What a question does, as a stream: its events as they happen, and then what it returned.

    for each in streamed(lambda: session.ask("When did the latest recession start?"), Watch()):
        print(each)                     # Event(stage='planning', state='started', ...), ..., Answer(...)

The work runs in a thread of its own. Who closes the stream cancels the work, and goes on when nothing of it runs any more.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future
from contextvars import copy_context
from queue import SimpleQueue
from typing import TypeVar

from finexpert.core.progress import Event, Watch, watching

T = TypeVar("T")


class UnderWay:
    """The one question of a conversation that is under way, if any."""

    def __init__(self) -> None:
        self._taking = threading.Lock()
        self._watch: Watch | None = None

    @contextlib.contextmanager
    def taken_by(self, watch: Watch) -> Iterator[Watch]:
        """Within it, `cancel` cancels this watch. Raises RuntimeError where another question is under way."""
        with self._taking:
            inside = self._watch is watch
            if self._watch is not None and not inside:
                raise RuntimeError("another question of this conversation is under way: wait for it, or cancel() it")
            self._watch = watch
        try:
            yield watch
        finally:
            if not inside:
                self._watch = None

    def cancel(self) -> None:
        """Cancel it, from any thread."""
        watch = self._watch
        if watch is not None:
            watch.cancel()


def streamed(work: Callable[[], T], watch: Watch) -> Iterator[Event | T]:
    """The events that `watch` hears of the work, then what the work returned; raises what it raised.

    >>> list(streamed(lambda: 42, Watch()))
    [42]
    """
    told: SimpleQueue[Event | Future[T]] = SimpleQueue()
    watch.hear = told.put
    thread = _begin(work, watch, told.put)
    try:
        while not isinstance(each := told.get(), Future):
            yield each
        yield each.result()
    finally:
        watch.cancel()
        thread.join()


async def astreamed(work: Callable[[], T], watch: Watch) -> AsyncGenerator[Event | T]:
    """As `streamed`, for a coroutine."""
    loop = asyncio.get_running_loop()
    told: asyncio.Queue[Event | Future[T]] = asyncio.Queue()
    ended = asyncio.Event()

    def tell(each: Event | Future[T]) -> None:
        # A loop that was closed meanwhile hears nothing any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(told.put_nowait, each)
            if isinstance(each, Future):
                loop.call_soon_threadsafe(ended.set)

    watch.hear = tell
    _begin(work, watch, tell)
    try:
        while not isinstance(each := await told.get(), Future):
            yield each
        yield each.result()
    finally:
        watch.cancel()
        await ended.wait()


def _begin(work: Callable[[], T], watch: Watch, tell: Callable[[Future[T]], None]) -> threading.Thread:
    """Start the work in a thread of its own, in the context of the caller; `tell` is called with its outcome."""

    def run() -> None:
        outcome: Future[T] = Future()
        try:
            with watching(watch):
                outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the events are read
            outcome.set_exception(error)
        tell(outcome)

    thread = threading.Thread(target=copy_context().run, args=(run,), name="finexpert-question", daemon=True)
    thread.start()
    return thread
