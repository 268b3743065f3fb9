"""Leaves a provider alone that keeps failing, and asks it again by one call at a time until it answers.

    >>> from contextlib import suppress
    >>> now = [0.0]
    >>> breaker = CircuitBreaker("http://127.0.0.1:8000/v1", clock=lambda: now[0], random=lambda: 1.0)
    >>> for _ in range(5):
    ...     with suppress(TimeoutError), breaker.guarded():
    ...         raise TimeoutError
    >>> breaker.state
    'open'
    >>> with breaker.guarded():
    ...     pass
    Traceback (most recent call last):
    finexpert.errors.CircuitOpen: http://127.0.0.1:8000/v1 failed 5 of the last 5 times and is not asked for another 5 s...
    >>> now[0] = 5.0
    >>> with breaker.guarded():
    ...     breaker.state
    'half-open'
    >>> breaker.state
    'closed'

It opens when, within a minute, at least five calls failed, and at least half of all: a server that loses one call in
ten is asked on. Refused keys and requests are no failures here, for the provider did answer. Nor is "too many requests":
then all calls wait for as long as the provider asked, and none is lost.

Of the libraries for this, pybreaker holds its lock during a call, so that threads ask one after the other, and all
three that were looked at (pybreaker, purgatory, circuitbreaker) count failures in a row and know no Retry-After.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import random as _random
from typing import Any, Literal

from finexpert.core.progress import watch
from finexpert.errors import Cancelled, CircuitOpen

State = Literal["closed", "open", "half-open"]

WINDOW_SECONDS = 60.0
LEAST_FAILURES = 5
LEAST_SHARE = 0.5
FIRST_PAUSE = 5.0
LONGEST_PAUSE = 60.0
# A provider may ask to be left alone for an hour; a question would wait that long.
LONGEST_WAIT = 30.0


class CircuitBreaker:
    """Guards the calls of one provider or server, named by `place`; may be used by many threads.

    `clock` must never go back, `random` gives numbers from 0 to 1.
    """

    def __init__(
        self,
        place: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = _random,
        sleep: Callable[[float], None] = lambda seconds: watch().wait(seconds),
    ) -> None:
        self.place = place
        self._clock, self._random, self._sleep = clock, random, sleep
        self._lock = threading.Lock()
        self._outcomes: deque[tuple[float, bool]] = deque()
        self._opened = 0  # times in a row
        self._closed_until = 0.0
        self._probe: object | None = None
        self._held_until = 0.0
        self._last = ""

    def __reduce__(self) -> tuple[type[CircuitBreaker], tuple[str]]:
        # MLflow and Spark pickle programs: what another process sees of the provider is its own to find out.
        return CircuitBreaker, (self.place,)

    @property
    def state(self) -> State:
        """Whether calls are let through, held off, or one of them is trying."""
        with self._lock:
            if not self._opened:
                return "closed"
            return "half-open" if self._probe is not None else "open"

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Around one call. Waits where the provider asked for it; raises CircuitOpen instead of making the call.

        The error that leaves it carries `retry_after`, the seconds that the next try should wait.
        """
        ticket = self._enter()
        try:
            yield
        except Exception as error:
            if isinstance(error, Cancelled):
                self._leave(ticket, None)
            else:
                self._judge(error, ticket)
            raise
        except BaseException:
            # Ctrl-C says nothing about the provider, and a cancelled question no more.
            self._leave(ticket, None)
            raise
        self._leave(ticket, True)

    def back_off(self, tries: int) -> float:
        """Seconds to wait after so many failed tries: twice as long each time, and never the same for two callers."""
        return min(2.0 ** (tries - 1), LONGEST_WAIT) * self._jitter()

    def _jitter(self) -> float:
        return 0.5 + self._random() / 2

    def _enter(self) -> object:
        ticket = object()
        latest = self._clock() + LONGEST_WAIT
        while True:
            with self._lock:
                now = self._clock()
                wait = min(self._held_until, latest) - now
                if wait <= 0:
                    self._admit(ticket, now)
                    return ticket
            # Not all at once when the wait is over.
            self._sleep(wait + self._random() * min(1.0, wait / 4))

    def _admit(self, ticket: object, now: float) -> None:
        if not self._opened:
            return
        if now < self._closed_until or self._probe is not None:
            raise CircuitOpen(self._words(now))
        self._probe = ticket

    def _words(self, now: float) -> str:
        failed = sum(not good for _, good in self._outcomes)
        left = self._closed_until - now
        soon = f"for another {left:.0f} s" if left > 0 else "until the call that is trying it now has ended"
        return (
            f"{self.place} failed {failed} of the last {len(self._outcomes)} times and is not asked {soon}"
            f"{f' (last: {self._last})' if self._last else ''}: try again then, "
            "or name another model with --lm or FINEXPERT_FALLBACK_LM"
        )

    def _judge(self, error: Exception, ticket: object) -> None:
        kind = kind_of(error)
        asked = getattr(error, "retry_after", None)
        if asked is not None:
            # DSPy sleeps as long as the provider says, if it is an hour.
            asked = min(asked, LONGEST_WAIT)
            error.retry_after = asked  # type: ignore[attr-defined]
        if kind == "busy" and asked:
            with self._lock:
                self._held_until = max(self._held_until, self._clock() + asked)
        # Not the error's own words: they may quote what somebody else asked.
        status = getattr(error, "status", None)
        self._leave(ticket, kind != "failure", f"HTTP {status}" if status else type(error).__name__, asked or 0.0)

    def _leave(self, ticket: object, good: bool | None, why: str = "", asked: float = 0.0) -> None:
        with self._lock:
            now, probing = self._clock(), self._probe is ticket
            if probing:
                self._probe = None
            if good is None:
                return
            if self._opened:
                # A call that began before it opened says nothing new.
                if probing and good:
                    self._outcomes.clear()
                    self._opened = 0
                elif probing:
                    self._open(now, why, asked)
                return
            self._outcomes.append((now, good))
            while self._outcomes[0][0] < now - WINDOW_SECONDS:
                self._outcomes.popleft()
            failures = sum(not each for _, each in self._outcomes)
            if not good and failures >= max(LEAST_FAILURES, LEAST_SHARE * len(self._outcomes)):
                self._open(now, why, asked)

    def _open(self, now: float, why: str, asked: float) -> None:
        pause = min(FIRST_PAUSE * 2.0**self._opened, LONGEST_PAUSE) * self._jitter()
        self._closed_until = now + max(pause, asked)
        self._opened += 1
        self._last = why


class Breakers:
    """One breaker a provider or server, for all models that ask it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, CircuitBreaker] = {}

    def of(self, place: str) -> CircuitBreaker:
        with self._lock:
            return self._known.setdefault(place, CircuitBreaker(place))

    def states(self) -> dict[str, State]:
        """The state of each place that was asked."""
        with self._lock:
            return {place: breaker.state for place, breaker in self._known.items()}


def kind_of(error: Any) -> Literal["failure", "busy", "answered"]:
    """What an error says about the provider.

    >>> from dspy.lm15 import AuthError, RateLimitError
    >>> kind_of(TimeoutError()), kind_of(RateLimitError("slow down")), kind_of(AuthError("who are you?"))
    ('failure', 'busy', 'answered')
    """
    from dspy.lm15 import RateLimitError, ServerError, TransportError

    if isinstance(error, RateLimitError):
        return "busy"
    return "failure" if isinstance(error, (ServerError, TransportError, TimeoutError)) else "answered"
