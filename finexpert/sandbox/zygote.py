"""The parent's handle on one worker: start it, have it fork a child a script, end it.

It knows nothing of pandas or of answers: it sends one frame and returns one. Any doubt about a worker, a late answer,
a frame that is none, a lost connection, kills it and everything below it. One call at a time.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from finexpert.errors import SandboxFailure, SandboxUnavailable
from finexpert.sandbox import launch
from finexpert.sandbox.conversation import Conversation
from finexpert.sandbox.limits import Limits
from finexpert.sandbox.lockdown import CANARY_NAMES
from finexpert.sandbox.protocol import Frame, FrameReader, ProtocolError
from finexpert.sandbox.rungs import WITH_BWRAP, bwrap_program
from finexpert.sandbox.spawn import spawn
from finexpert.sandbox.watchdog import pages_of, process_of

_CHUNK = 1 << 18
_GRACE = 5.0
_MAPPED = 1 << 30  # what a warm worker has mapped at most, if it cannot be read


class NotStarted(SandboxFailure):
    """The worker was lost before it read the script, so that the call may be made again."""


@dataclass(frozen=True)
class Reply:
    """What came back: a frame, or the status with which the child ended without one; and what was printed."""

    frame: Frame | None
    status: int
    stdout: bytes
    seconds: float


class Zygote:
    """One worker; starting returns at once, `ready` waits for it."""

    def __init__(self, rung: str, limits: Limits) -> None:
        launch.compile_packages()
        self._limits = limits
        self._rung = rung
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        bwrap = bwrap_program() if rung == WITH_BWRAP else None
        self._cache = tempfile.mkdtemp(prefix="finexpert-")
        self._handle: int | None = None
        self._mapped = _MAPPED
        self._ending = threading.Lock()
        self.calls = 0
        self.alive = True
        setup = {"control": theirs.fileno(), "parent": None if bwrap else os.getpid()}
        try:
            if (user := launch.user()) is not None:
                os.chown(self._cache, user, user)
            arguments = launch.command(setup, bwrap=bwrap, cache=self._cache)
            self._process = spawn(arguments, theirs.fileno(), self._cache, self._errors)
        except BaseException:
            self._control.close()
            self._errors.close()
            self._forget_cache()
            raise
        finally:
            theirs.close()
        self._started = time.monotonic()

    def ready(self) -> None:
        """Wait until the worker is warm.

        Raises SandboxUnavailable if it cannot lock itself, or takes too long.
        """
        if self._handle is not None:
            return
        remaining = self._started + self._limits.start_seconds - time.monotonic()
        try:
            self._control.settimeout(max(remaining, 0.01))
            data, handles, _, _ = socket.recv_fds(self._control, 4096, 1)
        except (TimeoutError, ConnectionResetError):
            data, handles = b"", []
        except BaseException:
            self.kill()
            raise
        if not data or not handles:
            why = self._last_words()
            self.kill()
            raise SandboxUnavailable(
                f"no script was run: the sandbox's worker did not come up ({why}); see `finexpert doctor`"
            )
        self._handle = handles[0]
        self._mapped = self._mapped_bytes()
        self._forget_cache()

    def _forget_cache(self) -> None:
        shutil.rmtree(self._cache, ignore_errors=True)

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        if self._process.returncode is None:
            return f"it is not ready after {self._limits.start_seconds:g} s"
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 2000))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.returncode}"

    def _mapped_bytes(self) -> int:
        """The address space of the warm worker. Without /proc it cannot say so itself."""
        process = None if self._handle is None else process_of(self._handle)
        pages = None if process is None else pages_of(process)
        return _MAPPED if pages is None else pages[0]

    @contextlib.contextmanager
    def _child(self) -> Iterator[tuple[socket.socket, int, int]]:
        """A fresh child: its channel, what it prints, its handle. Whatever happens, it does not outlive this."""
        channel, theirs = socket.socketpair()
        output, printing = os.pipe()
        child = -1
        try:
            memory = self._mapped + self._limits.memory_bytes
            order = json.dumps({"memory": memory, "cpu_seconds": self._limits.cpu_seconds}).encode()
            try:
                self._control.settimeout(_GRACE)
                socket.send_fds(self._control, [order], [theirs.fileno(), printing])
                data, handles, _, _ = socket.recv_fds(self._control, 4096, 1)
            except OSError as error:
                raise NotStarted(f"the sandbox's worker does not answer: {error}") from None
            if not data or not handles:
                raise NotStarted("the sandbox's worker is gone")
            child = handles[0]
            theirs.close()
            os.close(printing)
            printing = -1
            yield channel, output, child
        finally:
            channel.close()
            theirs.close()
            for descriptor in (output, printing, child):
                if descriptor >= 0:
                    os.close(descriptor)

    def prove(self) -> list[list[str]]:
        """Have a child lock itself and end without a script; what it was denied."""
        with self._closely(), self._child() as (channel, _, _):
            denied = self._hello(channel)
            channel.close()
            self._exit_status()
            return denied

    def call(self, request: bytes) -> Reply:
        """Have a child run the request.

        Raises NotStarted if the worker was lost before it read it, SandboxFailure if what it said is no reply, Overrun if
        a limit was passed. After each of them the worker is dead.
        """
        self.calls += 1
        with self._closely(), self._child() as (channel, output, child):
            self._hello(channel)
            began = time.monotonic()
            conversation = Conversation(channel, output, self._limits, child)
            frame = conversation.run(request, began + self._limits.wall_seconds)
            status = self._exit_status()
            if frame is None or status != 0:
                self.kill()
            return Reply(frame, status, bytes(conversation.printed), time.monotonic() - began)

    @contextlib.contextmanager
    def _closely(self) -> Iterator[None]:
        try:
            yield
        except ProtocolError as error:
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
                raise NotStarted(f"the sandbox's worker did not lock itself: {error}") from None
            if not data:
                raise NotStarted("the sandbox's worker ended before it was locked")
            frame = reader.feed(data)
        denied = frame.header.get("denied")
        if frame.header.get("hello") != "locked" or not isinstance(denied, list):
            raise SandboxUnavailable(f"no script was run: the sandbox leaks ({frame.header.get('why', 'unknown')})")
        if tuple(name for name, _ in denied) != CANARY_NAMES:
            raise SandboxUnavailable("no script was run: the sandbox did not prove that everything is denied")
        # In a namespace of its own a worker does not even see the file that it may not read.
        if self._rung == WITH_BWRAP and denied[0][1] != "ENOENT":
            raise SandboxUnavailable("no script was run: bwrap hides nothing; is it the real one?")
        return denied

    def _exit_status(self) -> int:
        try:
            self._control.settimeout(_GRACE)
            data = self._control.recv(4096)
            return int(json.loads(data)["status"])
        except (OSError, ValueError) as error:
            raise SandboxFailure(
                f"the sandbox's worker is lost ({error}); the script's result was thrown away"
            ) from None

    def end(self) -> None:
        """Kill the processes and nothing more: a thread that waits for them cleans up."""
        with self._ending:
            if not self.alive:
                return
            if self._handle is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            # The whole group: a bwrap that is killed while it sets up would leave its other half waiting for it.
            if self._process.poll() is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.kill()

    def kill(self) -> None:
        """End the worker and everything below it, at once; may be called again."""
        self.end()
        with self._ending:
            if not self.alive:
                return
            self.alive = False
            if self._handle is not None:
                os.close(self._handle)
        self._control.close()
        self._process.wait()
        self._errors.close()
        self._forget_cache()

    def abandon(self) -> None:
        """Let go of a worker that belongs to another process, without ending it."""
        self.alive = False
        self._control.close()
        self._process.returncode = 0
