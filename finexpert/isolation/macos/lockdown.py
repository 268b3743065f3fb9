"""What a worker on macOS gives up beside the profile of `sandbox_exec.py`, and the canaries that prove both. Not run on a Mac.

    >>> NAMES[:3]
    ('read a file', 'list the root folder', 'write a file')

There is no filter of system calls: that nothing can be forked, executed or reached is the profile's part.
"""

from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Callable
from pathlib import Path

from finexpert.isolation.lockdown import ENVIRONMENT, NotLocked

_ALLOWED = ENVIRONMENT | {"__CF_USER_TEXT_ENCODING", "__PYVENV_LAUNCHER__"}


def enter(cpu_seconds: int) -> None:
    """The limits that macOS keeps; address space is none of them."""
    for which, (soft, hard) in {
        resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds + 1),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NOFILE: (64, 64),
    }.items():
        resource.setrlimit(which, (soft, hard))


def _connect() -> None:
    with socket.socket() as one:
        one.connect(("127.0.0.1", 1))


def _fork() -> None:
    process = os.fork()
    if process == 0:
        os._exit(0)
    os.waitpid(process, 0)


def _environment() -> None:
    if set(os.environ) <= _ALLOWED:
        raise PermissionError(errno.EPERM, "nothing of the parent's environment is here")


_CANARIES: tuple[tuple[str, Callable[[], object]], ...] = (
    ("read a file", lambda: Path("/etc/passwd").read_bytes()),
    ("list the root folder", lambda: list(Path("/Users").iterdir())),
    ("write a file", lambda: os.close(os.open("/tmp/finexpert-canary", os.O_WRONLY | os.O_CREAT))),
    ("open a connection", _connect),
    ("fork", _fork),
    ("execute a program", lambda: os.execv("/bin/ls", ["ls"])),
    ("signal the parent", lambda: os.kill(os.getppid(), 0)),
    ("see the environment", _environment),
)
NAMES = tuple(name for name, _ in _CANARIES)


def prove() -> list[list[str]]:
    """Try everything that must be denied; the names with the errors.

    Raises NotLocked naming the first canary that is not denied by the profile.
    """
    denials = []
    for name, attempt in _CANARIES:
        try:
            attempt()
        except PermissionError as error:
            denials.append([name, errno.errorcode.get(error.errno or 0, "?")])
        except OSError as error:
            raise NotLocked(f"{name}: failed with {error}, not by the lock") from None
        else:
            raise NotLocked(f"{name}: not denied")
    return denials
