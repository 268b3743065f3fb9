"""A worker of this machine: start it, have it fork a child a script, end it.

    worker = Zygote("landlock+seccomp", Limits())
    worker.ready()
    worker.call(request)   ->   Reply(frame=Frame(...), status=0, stdout=b"", seconds=0.02)

What is said to a child stands in `isolation/handle.py`. The descriptors of its channel go over the control socket, so that every byte
moves between two processes and no third.
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
import time
from collections.abc import Iterator

from finexpert.errors import SandboxFailure, SandboxUnavailable
from finexpert.isolation import launch
from finexpert.isolation.ending import strike
from finexpert.isolation.handle import Child, Handle, Lost
from finexpert.isolation.limits import Limits
from finexpert.isolation.lockdown import CANARY_NAMES
from finexpert.isolation.rungs import WITH_BWRAP, bwrap_program
from finexpert.isolation.spawn import end, spawn
from finexpert.isolation.watchdog import Watchdog, pages_of, process_of

_GRACE = 5.0
_MAPPED = 1 << 30  # what a warm worker has mapped at most, if it cannot be read


class Zygote(Handle):
    """One worker behind Landlock and seccomp, and behind bwrap if the rung says so."""

    canaries = CANARY_NAMES

    def __init__(self, rung: str, limits: Limits) -> None:
        super().__init__(limits)
        launch.compile_packages()
        self._rung = rung
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        bwrap = bwrap_program() if rung == WITH_BWRAP else None
        self._cache = tempfile.mkdtemp(prefix="finexpert-")
        self._handle: int | None = None
        self._mapped = _MAPPED
        setup = {"control": theirs.fileno(), "parent": None if bwrap else os.getpid()}
        try:
            if (user := launch.user()) is not None:
                os.chown(self._cache, user, user)
            arguments = launch.command(setup, bwrap=bwrap, cache=self._cache)
            self._process = spawn(
                arguments,
                env=launch.environment(self._cache),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(theirs.fileno(),),
                user=user,
            )
        except BaseException:
            self._control.close()
            self._errors.close()
            self._forget_cache()
            raise
        finally:
            theirs.close()
        self._started = time.monotonic()

    def ready(self) -> None:
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
            why, status = self._last_words(), self._process.returncode
            self.kill()
            if status in (-signal.SIGKILL, 128 + signal.SIGKILL):
                raise Lost("the sandbox's worker was killed while it started")
            raise SandboxUnavailable(
                f"no script was run: the sandbox's worker did not come up ({why}); see `finexpert doctor`"
            )
        self._handle = handles[0]
        self._mapped = self._mapped_bytes()
        self._forget_cache()

    def _forget_cache(self) -> None:
        shutil.rmtree(self._cache, ignore_errors=True)

    def _said(self) -> bytes:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 2000))
        return self._errors.read()

    def _mapped_bytes(self) -> int:
        """The address space of the warm worker. Without /proc it cannot say so itself."""
        process = None if self._handle is None else process_of(self._handle)
        pages = None if process is None else pages_of(process)
        return _MAPPED if pages is None else pages[0]

    @contextlib.contextmanager
    def _child(self) -> Iterator[Child]:
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
                raise Lost(f"the sandbox's worker does not answer: {error}") from None
            if not data or not handles:
                raise Lost("the sandbox's worker is gone")
            child = handles[0]
            theirs.close()
            os.close(printing)
            printing = -1
            yield Child(channel, output, Watchdog(child, self._limits.resident_bytes))
        finally:
            channel.close()
            theirs.close()
            for descriptor in (output, printing, child):
                if descriptor >= 0:
                    os.close(descriptor)

    def _check_denials(self, denied: list[list[str]]) -> None:
        # In a namespace of its own a worker does not even see the file that it may not read.
        if self._rung == WITH_BWRAP and denied[0][1] != "ENOENT":
            raise SandboxUnavailable("no script was run: bwrap hides nothing; is it the real one?")

    def _exit_status(self) -> int:
        try:
            self._control.settimeout(_GRACE)
            data = self._control.recv(4096)
            return int(json.loads(data)["status"])
        except (OSError, ValueError) as error:
            raise SandboxFailure(
                f"the sandbox's worker is lost ({error}); the script's result was thrown away"
            ) from None

    def _strike(self) -> None:
        if self._handle is not None:
            strike(self._handle)
        end(self._process)

    def _clean(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
        self._control.close()
        self._process.wait()
        self._errors.close()
        self._forget_cache()

    def abandon(self) -> None:
        self.alive = False
        self._control.close()
        self._process.returncode = 0
