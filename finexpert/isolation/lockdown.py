"""What a worker gives up, and the canaries that prove it.

    >>> [name for name, _ in CANARIES][:3]
    ['read a file', 'list the root folder', 'write a file']

The order matters: `enter_zygote` before anything is imported, `enter_child` after the fork, then `prove`, and only
then is the script read. Landlock stands in `landlock.py`, the filter of system calls in `seccomp.py`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import socket
from collections.abc import Callable, Iterable
from pathlib import Path

from finexpert.isolation import landlock, seccomp

_DEATH_SIGNAL, _DUMPABLE, _DROP_BOUNDING = 1, 4, 24
_CAPABILITY_VERSION_3 = 0x20080522

_words = str.split

# Everything that the worker's environment may hold; see `launch.py`.
ENVIRONMENT = frozenset(
    _words("""
    PATH HOME LANG LC_CTYPE TZ PWD PYTHONHASHSEED OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS
    NUMEXPR_NUM_THREADS ARROW_DEFAULT_MEMORY_POOL JE_ARROW_MALLOC_CONF MALLOC_ARENA_MAX MPLBACKEND
    MPLCONFIGDIR LD_LIBRARY_PATH
""")
)

_libc = ctypes.CDLL(None, use_errno=True)


class NotLocked(Exception):
    """A canary came through: something that must be denied is not."""


def _prctl(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    if _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def die_with_parent(parent: int | None) -> None:
    """Be killed when the parent ends; exit at once if it is already gone (None: it cannot be seen from here)."""
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(0)


def drop_capabilities() -> None:
    """Root's powers, for good. Being root without them leaves the ownership of files, which Landlock takes."""
    if os.geteuid() != 0:
        return
    for capability in range(64):
        if _libc.prctl(ctypes.c_int(_DROP_BOUNDING), ctypes.c_ulong(capability), 0, 0, 0) != 0:
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if _libc.capset(header, nothing) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"capset: {os.strerror(number)}")


def enter_zygote(parent: int | None, readable: Iterable[str]) -> int:
    """Before the imports: no capabilities, and nothing but reading `readable`; the version of Landlock."""
    die_with_parent(parent)
    drop_capabilities()
    return landlock.restrict(readable)


def enter_child(parent: int, *, memory: int, cpu_seconds: int, locks: bool = False) -> None:
    """After the fork: the limits and the filter of system calls; with `locks` it may lock the files that it reads."""
    die_with_parent(parent)
    bounds = {
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds + 1),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NOFILE: (64, 64),
        resource.RLIMIT_NPROC: (0, 0),
    }
    for which, (soft, hard) in bounds.items():
        most = resource.getrlimit(which)[1]
        known = most != resource.RLIM_INFINITY
        resource.setrlimit(which, (min(soft, most), min(hard, most)) if known else (soft, hard))
    _prctl(_DUMPABLE, 0)
    seccomp.install(locks=locks)


def _call(function: str, *arguments: object) -> None:
    if getattr(_libc, function)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), function)


def _fork() -> None:
    process = _libc.fork()
    if process == 0:
        os._exit(0)
    if process < 0:
        raise OSError(ctypes.get_errno(), "fork")


def _execute() -> None:
    # A path that is not there: an open kernel says "not found", the filter "not permitted".
    _call("execv", b"/nonexistent", (ctypes.c_char_p * 2)(b"x", None))


def _environment() -> None:
    if set(os.environ) <= ENVIRONMENT:
        raise PermissionError(errno.EPERM, "nothing of the parent's environment is here")


def _change_limit() -> None:
    resource.prlimit(os.getppid(), resource.RLIMIT_CORE)


# Each must fail; where the second part is given, with exactly that error, so that it is the lock that denied it.
CANARIES: tuple[tuple[str, tuple[Callable[[], object], int | None]], ...] = (
    ("read a file", (lambda: os.close(os.open("/etc/passwd", os.O_RDONLY)), None)),
    ("list the root folder", (lambda: list(Path("/").iterdir()), errno.EACCES)),
    ("write a file", (lambda: os.close(os.open("/tmp/finexpert-canary", os.O_WRONLY | os.O_CREAT)), errno.EACCES)),
    ("open a socket", (lambda: socket.socket().close(), errno.EPERM)),
    ("fork", (_fork, errno.EPERM)),
    ("execute a program", (_execute, errno.EPERM)),
    ("signal the parent", (lambda: os.kill(os.getppid(), 0), errno.EPERM)),
    ("trace the parent", (lambda: _call("ptrace", ctypes.c_long(0x4206), os.getppid(), None, None), errno.EPERM)),
    ("make hidden memory", (lambda: os.close(os.memfd_create("canary")), errno.EPERM)),
    ("see the parent's limits", (_change_limit, errno.EPERM)),
    ("see the environment", (_environment, errno.EPERM)),
)
CANARY_NAMES = tuple(name for name, _ in CANARIES)


def prove() -> list[list[str]]:
    """Try everything that must be denied; the names with the errors.

    Raises NotLocked naming the first canary that is not denied as it should be.
    """
    denials = []
    for name, (attempt, expected) in CANARIES:
        try:
            attempt()
        except OSError as error:
            if error.errno is None or (expected is not None and error.errno != expected):
                raise NotLocked(f"{name}: failed with {error}, not by the lock") from None
            denials.append([name, errno.errorcode.get(error.errno, str(error.errno))])
        else:
            raise NotLocked(f"{name}: not denied")
    return denials
