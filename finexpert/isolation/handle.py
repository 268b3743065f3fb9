"""What the parent does with a worker, whatever boundary it stands behind: have it run one script, and end it at the first doubt.

It knows nothing of pandas or of answers: it sends one frame and returns one. A late answer, a frame that is none, a lost
connection kill the worker and everything below it. One call at a time. How a worker is started and reached is the part of
`sandbox/zygote.py` (here), `containers/zygote.py` (in a container) and `macos/single_use.py`.
"""

from __future__ import annotations

import abc
import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

from finexpert.errors import SandboxFailure, SandboxUnavailable
from finexpert.isolation.conversation import Conversation
from finexpert.isolation.ending import Ending
from finexpert.isolation.limits import Limits
from finexpert.isolation.watchdog import Watchdog
from finexpert.isolation.wire import Frame, FrameReader, WireError

_CHUNK = 1 << 18


class Lost(SandboxFailure):
    """The worker was lost before anything came back, so that the call may be made again."""


@dataclass(frozen=True)
class Reply:
    """What came back: a frame, or the status with which the child ended without one; and what was printed."""

    frame: Frame | None
    status: int
    stdout: bytes
    seconds: float


class Child(NamedTuple):
    """A process that will run one script: its channel, where it prints, and what watches its memory, if it can be seen."""

    channel: socket.socket
    output: int
    watchdog: Watchdog | None


class Handle(Ending):
    """One worker; making it starts it and returns at once, `ready` waits for it."""

    canaries: tuple[str, ...] = ()
    _process: subprocess.Popen[bytes]

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits
        self.calls = 0

    @property
    def spent(self) -> bool:
        """Whether it has had its share of calls."""
        return self.calls >= self._limits.calls_per_worker

    @abc.abstractmethod
    def ready(self) -> None:
        """Wait until the worker is warm.

        Raises SandboxUnavailable if it cannot lock itself, or takes too long, Lost if it was killed meanwhile.
        """

    @abc.abstractmethod
    def _child(self) -> AbstractContextManager[Child]:
        """A fresh child; must not outlive the context. Raises Lost if there is none to be had."""

    @abc.abstractmethod
    def _exit_status(self) -> int:
        """The status with which the child ended, as `waitpid` gives it. Raises SandboxFailure if it cannot be known."""

    @abc.abstractmethod
    def _said(self) -> bytes:
        """What a worker that ended has printed of its errors."""

    def _last_words(self) -> str:
        """Why it did not come up."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        if self._process.returncode is None:
            return f"it is not ready after {self._limits.start_seconds:g} s"
        lines = self._said().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.returncode}"

    def gone(self) -> None:
        """Wait until nothing is left of a worker that was killed; here `kill` has done so."""
        return

    @abc.abstractmethod
    def abandon(self) -> None:
        """Let go of a worker that belongs to another process, without ending it."""

    def prove(self) -> list[list[str]]:
        """Have a child lock itself and end without a script; what it was denied."""
        with self._closely(), self._child() as child:
            denied = self._hello(child.channel)
            child.channel.close()
            self._exit_status()
            return denied

    def call(self, request: bytes) -> Reply:
        """Have a child run the request.

        Raises Lost if the worker was lost before anything came back, SandboxFailure if what it said is no reply, Overrun
        if a limit was passed. After each of them the worker is dead.
        """
        self.calls += 1
        with self._closely(), self._child() as child:
            self._hello(child.channel)
            began = time.monotonic()
            conversation = Conversation(child.channel, child.output, self._limits, child.watchdog)
            frame = conversation.run(request, began + self._limits.wall_seconds)
            try:
                status = self._exit_status()
            except SandboxFailure as error:
                if frame is None and not conversation.printed:
                    raise Lost(str(error)) from None
                raise
            if frame is None or status != 0:
                self.kill()
            return Reply(frame, status, bytes(conversation.printed), time.monotonic() - began)

    @contextlib.contextmanager
    def _closely(self) -> Iterator[None]:
        try:
            yield
        except WireError as error:
            self.kill()
            raise SandboxFailure(
                f"the worker broke the protocol: {error}; the script's result was thrown away"
            ) from None
        except BaseException:
            self.kill()
            raise

    def _hello(self, channel: socket.socket) -> list[list[str]]:
        """What the child was denied; no script is sent before it is everything."""
        reader = FrameReader(header_bytes=1 << 14, blob_bytes=0, blobs=0)
        channel.settimeout(self._limits.start_seconds)
        frame = None
        while frame is None:
            try:
                data = channel.recv(_CHUNK)
            except OSError as error:
                raise Lost(f"the sandbox's worker did not lock itself: {error}") from None
            if not data:
                raise Lost("the sandbox's worker ended before it was locked")
            frame = reader.feed(data)
        denied = frame.header.get("denied")
        if frame.header.get("hello") != "locked" or not isinstance(denied, list):
            raise SandboxUnavailable(f"no script was run: the sandbox leaks ({frame.header.get('why', 'unknown')})")
        if tuple(name for name, _ in denied) != self.canaries:
            raise SandboxUnavailable("no script was run: the sandbox did not prove that everything is denied")
        self._check_denials(denied)
        return denied

    def _check_denials(self, denied: list[list[str]]) -> None:
        """Raise SandboxUnavailable if the errors are not those of this boundary; any denial is good enough here."""
        return
