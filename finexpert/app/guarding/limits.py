"""How often something may be done in a minute, and how much of it at once, by whom.

questions = Limit(30, "questions")
questions.hit("oidc:7")              raises TooMany at the 31st in a minute

computing = AtOnce(4)
with computing.one("oidc:7"):        raises TooMany where four are under way
    ...
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager

from finexpert.errors import TooMany

_MINUTE = 60.0  # by the steady clock: one that is set back would keep everybody waiting
_KEYS = 10_000  # from here on those that have waited are forgotten


class Limit:
    """So many a minute for each key. It is kept in memory, so several servers allow so many each."""

    def __init__(self, a_minute: int, what: str) -> None:
        self._most, self._what = a_minute, what
        self._hits: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def hit(self, key: str) -> None:
        """Count one; TooMany where there were too many, with the seconds until the next may be."""
        at = time.monotonic()
        with self._lock:
            hits = self._hits.setdefault(key, deque())
            while hits and hits[0] <= at - _MINUTE:
                hits.popleft()
            if len(hits) >= self._most:
                wait = max(1.0, hits[0] + _MINUTE - at)
                raise TooMany(f"more than {self._most} {self._what} in a minute: wait a moment", seconds=wait)
            hits.append(at)
            if len(self._hits) > _KEYS:
                self._hits = {name: told for name, told in self._hits.items() if told[-1] > at - _MINUTE}


class AtOnce:
    """So many at once for each key: what one person computes does not take every thread of a server."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._under_way: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def one(self, key: str) -> Iterator[None]:
        """Within it one more is under way; TooMany where there are too many."""
        with self._lock:
            if self._under_way[key] >= self._most:
                raise TooMany(f"{self._most} of your requests are being computed: wait for one", seconds=2)
            self._under_way[key] += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[key] -= 1
                if not self._under_way[key]:
                    del self._under_way[key]
