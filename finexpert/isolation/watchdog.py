"""Watches how much memory a script really holds, from outside.

    watchdog = Watchdog(handle, most=1 << 30)
    watchdog.passed()   ->   True once the process holds more than 1 GiB

The kernel's limit of address space ends most scripts first, with an error that they can repair; this is the second lock, for a
limit that was set too high or does not count something. It only looks: who asks it kills. Where the process cannot be seen
(`/proc` of another user is hidden), it never barks, and the first lock stands alone.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

POLL_SECONDS = 0.05


def process_of(handle: int) -> int | None:
    """The id of the process behind a handle (a pidfd), as it is called here; None if it has ended or cannot be seen.

    >>> mine = os.pidfd_open(os.getpid())
    >>> process_of(mine) == os.getpid()
    True
    >>> os.close(mine)
    """
    try:
        fields = Path(f"/proc/self/fdinfo/{handle}").read_text().split()
        process = int(fields[fields.index("Pid:") + 1])
    except (OSError, ValueError):
        return None
    return process if process > 0 else None


def pages_of(process: int) -> tuple[int, int] | None:
    """The bytes that a process has mapped, and those that it holds in memory; None if it has ended or cannot be seen."""
    try:
        mapped, resident = Path(f"/proc/{process}/statm").read_text().split()[:2]
    except (OSError, ValueError):
        return None
    size = os.sysconf("SC_PAGE_SIZE")
    return int(mapped) * size, int(resident) * size


class Watchdog:
    """Watches the process behind a handle (a pidfd); looks at most every 50 ms, however often it is asked."""

    def __init__(self, process: int, most: int) -> None:
        self._process, self._most = process, most
        self._next = 0.0

    def _held(self) -> int | None:
        """The bytes that the process behind the handle holds in memory; None if it cannot be seen."""
        process = process_of(self._process)
        pages = None if process is None else pages_of(process)
        return None if pages is None else pages[1]

    def passed(self) -> bool:
        """Whether the process holds more than it may, as far as is known."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + POLL_SECONDS
        held = self._held()
        return held is not None and held > self._most
