"""How much slower this machine goes than an idle one, so that a budget of seconds means the same amount of work on both.

    pace = Pace()
    ...                                    # work of this thread, on the processor
    with pace.elsewhere():                 # somebody else works, and this thread waits
        rows = warehouse.query(select, seconds=left * pace.slowness)
    left -= rows.seconds / pace.slowness

It is measured on the thread's own work: the seconds that passed for each second of the processor. What a database does beside it has to
share the processors with the same others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST = 10.0
# Of an idle machine, until more was seen: one time slice that somebody else had says little.
_SEEN = 0.01  # seconds


class Pace:
    """Measures from its making on, in the thread that made it."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, processor: Callable[[], float] = time.thread_time
    ) -> None:
        self._clock, self._processor = clock, processor
        self._began, self._worked, self._waited = clock(), processor(), 0.0

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """What passes within it says nothing: the thread waits for others."""
        began = self._clock()
        try:
            yield
        finally:
            self._waited += self._clock() - began

    @property
    def slowness(self) -> float:
        """From 1, an idle machine, to 10: a person does not wait for more.

        >>> seconds = iter([100.0, 0.0, 105.0, 1.0])   # of the clock and the processor, by turns
        >>> round(Pace(lambda: next(seconds), lambda: next(seconds)).slowness, 2)
        4.96
        """
        passed = self._clock() - self._began - self._waited
        return min(MOST, max(1.0, (passed + _SEEN) / (self._processor() - self._worked + _SEEN)))
