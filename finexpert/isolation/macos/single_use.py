"""A worker that runs one script and ends: the rung of macOS, where a warm interpreter cannot be forked.

    worker = SingleUse(Limits())
    worker.ready()
    worker.call(request)   ->   Reply(frame=Frame(...), status=0, stdout=b"", seconds=0.02)
    worker.spent           ->   True

It gets its channel and its pipe when it starts, warms up, locks itself, says so, and reads the script. How it is shut in stands in
`sandbox_exec.py`; not run on a Mac.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

from finexpert.errors import SandboxFailure, SandboxUnavailable
from finexpert.isolation import launch
from finexpert.isolation.handle import Child, Handle
from finexpert.isolation.limits import Limits
from finexpert.isolation.macos import lockdown as lockdown_macos
from finexpert.isolation.macos import sandbox_exec as macos
from finexpert.isolation.macos.watchdog import WatchdogOnMac
from finexpert.isolation.spawn import end, spawn

_GRACE = 5.0


class SingleUse(Handle):
    """One worker for one script."""

    canaries = lockdown_macos.NAMES

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        launch.compile_packages()
        self._used = False
        self._cache = tempfile.mkdtemp(prefix="finexpert-")
        self._channel, theirs = socket.socketpair()
        self._output, printing = os.pipe()
        setup = {
            "channel": theirs.fileno(),
            "output": printing,
            "cpu_seconds": limits.cpu_seconds,
            "site": list(launch.site_folders()),
        }
        own = launch.python(str(launch.home() / "isolation" / "macos" / "single_worker.py"), json.dumps(setup))
        try:
            self._process = spawn(
                macos.command(own, launch.interpreter()),
                env=launch.environment(self._cache),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=printing,
                pass_fds=(theirs.fileno(), printing),
            )
        except BaseException:
            self._close()
            raise
        finally:
            theirs.close()
            os.close(printing)
        self._started = time.monotonic()

    @property
    def spent(self) -> bool:
        return self._used

    def ready(self) -> None:
        remaining = self._started + self._limits.start_seconds - time.monotonic()
        try:
            # select() takes no descriptor above 1023, which a busy server has.
            watched = select.poll()
            watched.register(self._channel, select.POLLIN)
            waiting = watched.poll(max(remaining, 0.01) * 1000)
            said = bool(waiting) and bool(self._channel.recv(1, socket.MSG_PEEK))
        except BaseException:
            self.kill()
            raise
        if not said:
            why = self._last_words()
            self.kill()
            raise SandboxUnavailable(
                f"no script was run: the sandbox's worker did not come up ({why}); see `finexpert doctor`"
            )

    def _said(self) -> bytes:
        return os.read(self._output, 1 << 16)

    @contextlib.contextmanager
    def _child(self) -> Iterator[Child]:
        self._used = True
        yield Child(self._channel, self._output, WatchdogOnMac(self._process.pid, self._limits.resident_bytes))

    def _exit_status(self) -> int:
        try:
            status = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired as error:
            raise SandboxFailure(
                f"the sandbox's worker does not end ({error}); the script's result was thrown away"
            ) from None
        return -status if status < 0 else status << 8

    def _strike(self) -> None:
        end(self._process)

    def _clean(self) -> None:
        self._process.wait()
        self._close()

    def _close(self) -> None:
        self._channel.close()
        os.close(self._output)
        shutil.rmtree(self._cache, ignore_errors=True)

    def abandon(self) -> None:
        self.alive = False
        self._channel.close()
        self._process.returncode = 0
