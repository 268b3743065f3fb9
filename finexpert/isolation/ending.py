"""A process that any thread may end, and that one of them cleans up after."""

from __future__ import annotations

import abc
import contextlib
import select
import signal
import threading


class Ending(abc.ABC):
    """Alive until it is killed."""

    def __init__(self) -> None:
        self.alive = True
        self._ending = threading.Lock()

    def end(self) -> None:
        """Kill the processes and nothing more: a thread that waits for them cleans up."""
        with self._ending:
            if self.alive:
                self._strike()

    def kill(self) -> None:
        """End it and everything below it, at once, and clean up; may be called again."""
        self.end()
        with self._ending:
            if not self.alive:
                return
            self.alive = False
        self._clean()

    @abc.abstractmethod
    def _strike(self) -> None:
        """Kill what runs; it is alive, and no other thread cleans up meanwhile."""

    @abc.abstractmethod
    def _clean(self) -> None:
        """Close all that is left; called once."""


def strike(handle: int) -> None:
    """Kill the process of a pidfd, if it has not ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)


def wait_ended(handle: int, seconds: float = 5.0) -> None:
    """Wait until the process of a pidfd that was struck has ended: until then it holds its locks of files."""
    # select() takes no descriptor above 1023, which a busy server has.
    watched = select.poll()
    watched.register(handle, select.POLLIN)
    watched.poll(seconds * 1000)
