"""How often something may be done in a minute, by whom.

questions = Limit(30, "questions")
questions.hit("oidc:7")              raises TooMany at the 31st in a minute
"""

from __future__ import annotations

import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from finexpert.errors import TooMany


class Limit:
    """So many a minute for each key. It is kept in memory, so several servers allow so many each."""

    def __init__(self, a_minute: int, what: str) -> None:
        self._item = RateLimitItemPerMinute(a_minute)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._what = what

    def hit(self, key: str) -> None:
        """Count one; TooMany where there were too many, with the seconds until the next may be."""
        if self._limiter.hit(self._item, key):
            return
        until = self._limiter.get_window_stats(self._item, key).reset_time - time.time()
        raise TooMany(f"more than {self._item.amount} {self._what} in a minute: wait a moment", seconds=max(1.0, until))
