"""Starts the process of a worker, from a thread that lives as long as this process.

    process = spawn(["/usr/bin/python3", "worker.py", "{...}"], control=5, cache="/tmp/finexpert-x", errors=file)

A worker asks the kernel to be killed when its parent ends, and to the kernel the parent is the *thread* that started it:
a thread of a pool would take its worker along. How the command line is made stands in `launch.py`.
"""

from __future__ import annotations

import concurrent.futures
import functools
import os
import subprocess
from typing import IO

from finexpert.errors import SandboxUnavailable
from finexpert.sandbox import launch


@functools.cache
def _spawner() -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix="sandbox")


os.register_at_fork(after_in_child=_spawner.cache_clear)


def _popen(arguments: list[str], control: int, cache: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    user = launch.user()
    return subprocess.Popen(
        arguments,
        env=launch.environment(cache),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        cwd="/",
        pass_fds=(control,),
        start_new_session=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )


def spawn(arguments: list[str], control: int, cache: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a worker as `launch.py` describes it; it is killed when this process ends, not when the calling thread does.

    Raises SandboxUnavailable if the system refuses.
    """
    future = _spawner().submit(_popen, arguments, control, cache, errors)
    try:
        return future.result()
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"the sandbox's worker cannot be started: {error}") from error
    except BaseException:
        future.add_done_callback(lambda done: None if done.exception() else done.result().kill())
        raise
