"""The parent's handle on the program from which locked processes are forked; one for each kind of guest in this process.

    handle = zygote("finexpert.warehouse.isolated.child").fork(channel, database)   ->   a pidfd of a process that serves the channel

A guest is the module that a process runs: `use_once()` imports what it needs before any process is forked, `serve(parent)` locks the
process in and answers the channel.

It is started when first needed and ends with this process. A program of its own is what is forked, as this process has threads and
secrets: the program has neither (`worker.py`).
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import IO

from finexpert.errors import SandboxUnavailable
from finexpert.isolation import landlock, launch, seccomp
from finexpert.isolation.spawn import spawn

START_SECONDS = 60.0
WORKER = Path(__file__).with_name("worker.py")
_GRACE = 10.0


@functools.cache
def problem() -> str | None:
    """Why no process can be locked in here; None if one can."""
    if not sys.platform.startswith("linux"):
        return f"the system is {sys.platform}, not Linux"
    if landlock.version() < 1:
        return "the kernel has no Landlock"
    return None if seccomp.supported() else "the processor is neither x86_64 nor aarch64"


class GuestZygote:
    """The running program; starting returns at once."""

    def __init__(self, guest: str) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._lock = threading.Lock()
        self._deadline = time.monotonic() + START_SECONDS
        self._ready = False
        self._broken = False
        setup = {"control": theirs.fileno(), "parent": os.getpid(), "path": _search_path(), "guest": guest}
        arguments = launch.python(str(WORKER), json.dumps(setup))
        try:
            self._process = spawn(
                arguments,
                env=launch.environment("/nonexistent"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(theirs.fileno(),),
            )
        except SandboxUnavailable as error:
            self._control.close()
            self._errors.close()
            raise SandboxUnavailable(f"nothing can be read: {error}") from error
        finally:
            theirs.close()
        weakref.finalize(self, _end, self._process, self._control, self._errors, os.getpid())

    def fork(self, channel: int, database: int) -> int:
        """A handle (pidfd) of a new process that serves the channel; raises SandboxUnavailable if there is none."""
        with self._lock:
            try:
                self._wait()
                self._control.settimeout(_GRACE)
                socket.send_fds(self._control, [b"fork"], [channel, database])
                said, handles, _, _ = socket.recv_fds(self._control, 16, 1)
            except OSError:
                said, handles = b"", []
            if not said:
                self._broken = True
                self._process.kill()
                self._process.wait()
                raise SandboxUnavailable(f"nothing can be read: {self.last_words()}; see `finexpert doctor`")
        if not handles:
            raise SandboxUnavailable(f"nothing can be read: {self.last_words()}; see `finexpert doctor`")
        return handles[0]

    def _wait(self) -> None:
        if self._ready:
            return
        self._control.settimeout(max(self._deadline - time.monotonic(), 0.01))
        if self._control.recv(16) != b"ready":
            raise ConnectionResetError
        self._ready = True

    @property
    def lost(self) -> bool:
        """Whether it cannot fork any more."""
        return self._broken or self._process.poll() is not None

    def last_words(self) -> str:
        """What it, or a process that was not yet locked in, said at last."""
        most = os.fstat(self._errors.fileno()).st_size
        said = os.pread(self._errors.fileno(), 2000, max(0, most - 2000)).decode(errors="replace").strip()
        return said.splitlines()[-1] if said else "its process ended"

    def abandon(self) -> None:
        """Let go of a program that belongs to another process, without ending it."""
        self._control.close()
        self._process.returncode = 0


def zygote(guest: str) -> GuestZygote:
    """The program of this process for such a guest, started if it does not run."""
    with _starting:
        if guest not in _running or _running[guest].lost:
            _running[guest] = GuestZygote(guest)
        return _running[guest]


_running: dict[str, GuestZygote] = {}
_starting = threading.Lock()


def _search_path() -> list[str]:
    """Where this process finds its modules, and finexpert itself, which an editable installation finds otherwise."""
    own = str(Path(launch.__file__).resolve().parents[2])
    return list(dict.fromkeys([*(path for path in sys.path if Path(path).is_absolute()), own]))


def _end(process: subprocess.Popen[bytes], control: socket.socket, errors: IO[bytes], owner: int) -> None:
    if os.getpid() != owner:
        return
    with contextlib.suppress(OSError):
        control.close()
    process.kill()
    process.wait()
    errors.close()


def _after_fork() -> None:
    global _starting
    for one in _running.values():
        one.abandon()
    _running.clear()
    _starting = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
