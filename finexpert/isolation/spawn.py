"""Starts the process of a worker, from a thread that lives as long as this process.

    process = spawn(["/usr/bin/python3", "worker.py", "{...}"], env={}, stdin=DEVNULL, stdout=DEVNULL, stderr=file)

A worker asks the kernel to be killed when its parent ends, and to the kernel the parent is the *thread* that started it:
a thread of a pool would take its worker along. How the command line is made stands in `launch.py`.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

from finexpert.errors import SandboxUnavailable

File = int | IO[bytes]


@functools.cache
def _spawner() -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix="sandbox")


os.register_at_fork(after_in_child=_spawner.cache_clear)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker and its whole session, and come back at once; nothing where it has ended.

    A bwrap that is killed alone while it sets up would leave its other half waiting for it.
    """
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()


def spawn(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: File,
    stdout: File,
    stderr: File,
    pass_fds: Sequence[int] = (),
    user: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a worker in a session of its own; it is killed when this process ends, not when the calling thread does.

    Raises SandboxUnavailable if the system refuses.
    """

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            arguments,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd="/",
            pass_fds=pass_fds,
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )

    future = _spawner().submit(start)
    try:
        return future.result()
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"the sandbox's worker cannot be started: {error}") from error
    except BaseException:
        future.add_done_callback(lambda done: None if done.exception() else done.result().kill())
        raise
