"""A question under way: who asked it, what it has told so far, and who listens.

    running = Running("a1", "c1", person)
    async for thing in running.follow(): ...       # its events from the first on, and at the end the answer

It goes on when nobody listens: whoever comes back hears everything again.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable

from finexpert.app.people.people import Person
from finexpert.app.state.stored import StoredAnswer
from finexpert.core.progress import Event

Told = Event | StoredAnswer


def is_question(id: str) -> bool:
    """Whether what is under way is a question: of anything else the id begins with the server's, and nothing is kept of it."""
    return "/" not in id


class Running:
    """One question. It is told what happens by one thread, and may be followed and cancelled by many."""

    def __init__(self, id: str, conversation: str, person: Person) -> None:
        self.id, self.conversation, self.person = id, conversation, person
        self.cancelled = False
        self.gives_back = False  # the server ends, so nobody wished that the question ends
        self.done = threading.Event()
        self._lock = threading.Lock()
        self._told: list[Told] = []
        self._error: BaseException | None = None
        self._stop: Callable[[], None] = lambda: None
        self._listeners: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @property
    def is_question(self) -> bool:
        return is_question(self.id)

    def tell(self, thing: Told) -> None:
        """Something happened."""
        with self._lock:
            self._told.append(thing)
            self._wake()

    def end(self, error: BaseException | None = None) -> None:
        """Nothing more happens; an error is raised where it is followed."""
        with self._lock:
            self._error = error
            self.done.set()
            self._wake()

    def stoppable(self, stop: Callable[[], None]) -> None:
        """What ends the question at once, from now on."""
        with self._lock:
            self._stop = stop
            if self.cancelled:
                stop()

    def cancel(self, *, gives_back: bool = False) -> None:
        """Have the question end."""
        with self._lock:
            self.cancelled, self.gives_back = True, gives_back
            self._stop()

    async def follow(self) -> AsyncGenerator[Told]:
        """What happened so far and what happens from now on. Raises what the question ended with."""
        woken, place = asyncio.Event(), 0
        listener = (asyncio.get_running_loop(), woken)
        with self._lock:
            self._listeners.append(listener)
        try:
            while True:
                woken.clear()
                with self._lock:
                    new, done, error = self._told[place:], self.done.is_set(), self._error
                for thing in new:
                    yield thing
                place += len(new)
                if done and not new:
                    if error is not None:
                        raise error
                    return
                if not new:
                    await woken.wait()
        finally:
            with self._lock:
                self._listeners.remove(listener)

    def _wake(self) -> None:
        for loop, woken in self._listeners:
            # A loop that is closed just now hears nothing any more, and the question goes on.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(woken.set)
