"""The system calls that a script may make: an allow-list, compiled to a seccomp filter.

    >>> names = {name for name, *_ in ALLOWED}
    >>> "read" in names, "socket" in names, "execve" in names, "kill" in names
    (True, False, False, False)

Everything that is not listed fails with EPERM: sockets, processes, threads, signals to others, writing files, io_uring,
memfd, shared memory, ptrace, namespaces, mounts, bpf, keys. Calls of a foreign architecture (32-bit, x32) kill the
process. What the filter cannot see is which path a file is opened by: that is Landlock's part.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from typing import NamedTuple


class Machine(NamedTuple):
    """What differs between processors: the audit number, the column of the table, O_LARGEFILE, O_DIRECTORY, O_NOFOLLOW."""

    audit: int
    column: int
    large_file: int
    directory: int
    no_follow: int


MACHINES = {
    "x86_64": Machine(0xC000003E, 1, 0o100000, 0o200000, 0o400000),
    "aarch64": Machine(0xC00000B7, 2, 0o400000, 0o40000, 0o100000),
}

# name, number on x86_64, number on aarch64; the frequent ones first
ALLOWED: tuple[tuple[str, int | None, int | None], ...] = (
    ("read", 0, 63),
    ("write", 1, 64),
    ("futex", 202, 98),
    ("mmap", 9, 222),
    ("munmap", 11, 215),
    ("mprotect", 10, 226),
    ("brk", 12, 214),
    ("madvise", 28, 233),
    ("mremap", 25, 216),
    ("close", 3, 57),
    ("fstat", 5, 80),
    ("newfstatat", 262, 79),
    ("statx", 332, 291),
    ("stat", 4, None),
    ("lstat", 6, None),
    ("access", 21, None),
    ("readlink", 89, None),
    ("readlinkat", 267, 78),
    ("faccessat", 269, 48),
    ("faccessat2", 439, 439),
    ("lseek", 8, 62),
    ("pread64", 17, 67),
    ("readv", 19, 65),
    ("preadv", 295, 69),
    ("writev", 20, 66),
    ("getdents64", 217, 61),
    ("getcwd", 79, 17),
    ("fadvise64", 221, 223),
    ("mincore", 27, 232),
    ("rt_sigaction", 13, 134),
    ("rt_sigprocmask", 14, 135),
    ("rt_sigreturn", 15, 139),
    ("sigaltstack", 131, 132),
    ("clock_gettime", 228, 113),
    ("clock_getres", 229, 114),
    ("clock_nanosleep", 230, 115),
    ("nanosleep", 35, 101),
    ("gettimeofday", 96, 169),
    ("time", 201, None),
    ("times", 100, 153),
    ("getrandom", 318, 278),
    ("getpid", 39, 172),
    ("getppid", 110, 173),
    ("gettid", 186, 178),
    ("getuid", 102, 174),
    ("geteuid", 107, 175),
    ("getgid", 104, 176),
    ("getegid", 108, 177),
    ("getrlimit", 97, 163),
    ("getrusage", 98, 165),
    ("sysinfo", 99, 179),
    ("uname", 63, 160),
    ("getcpu", 309, 168),
    ("sched_yield", 24, 124),
    ("sched_getaffinity", 204, 123),
    ("membarrier", 324, 283),
    ("rseq", 334, 293),
    ("set_robust_list", 273, 99),
    ("set_tid_address", 218, 96),
    ("restart_syscall", 219, 128),
    ("arch_prctl", 158, None),
    ("select", 23, None),
    ("pselect6", 270, 72),
    ("poll", 7, None),
    ("ppoll", 271, 73),
    ("exit", 60, 93),
    ("exit_group", 231, 94),
)

# The calls whose arguments decide: open, openat, clone3, prlimit64, tgkill, ioctl, fcntl.
_CONDITIONAL = {
    "x86_64": {"openat": 257, "open": 2, "clone3": 435, "prlimit64": 302, "tgkill": 234, "ioctl": 16, "fcntl": 72},
    "aarch64": {"openat": 56, "clone3": 435, "prlimit64": 261, "tgkill": 131, "ioctl": 29, "fcntl": 25},
}

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_X32 = 0x40000000
_F_SETFL, _O_ASYNC = 4, 0x2000
_FCNTL_PLAIN = (0, 1, 2, 3, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
# F_GETLK, F_SETLK: a database locks the file that it reads; of a file that is open for reading these are locks of readers.
_FCNTL_LOCKS = (5, 6)
_IOCTL = (0x5401, 0x5451, 0x541B)  # TCGETS, FIOCLEX, FIONREAD

Instruction = tuple[int, int, int, int]


def _load(offset: int) -> Instruction:
    return 0x20, 0, 0, offset


def _argument(index: int, *, high: bool = False) -> Instruction:
    return _load(16 + 8 * index + (4 if high else 0))


def _equal(value: int, then: int, otherwise: int) -> Instruction:
    return 0x15, then, otherwise, value


def _any_bit(mask: int, then: int, otherwise: int) -> Instruction:
    return 0x45, then, otherwise, mask


def _return(action: int) -> Instruction:
    return 0x06, 0, 0, action


def _refuse(number: int = errno.EPERM) -> Instruction:
    return _return(_ERRNO | number)


def _one_of(values: tuple[int, ...]) -> list[Instruction]:
    return [part for value in values for part in (_equal(value, 0, 1), _return(_ALLOW))]


def _must_be_zero(*places: Instruction) -> list[Instruction]:
    return [part for place in places for part in (place, _equal(0, 1, 0), _refuse())]


def _read_only(flags_argument: int, machine: Machine) -> list[Instruction]:
    harmless = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | machine.large_file | machine.directory | machine.no_follow
    return [
        _argument(flags_argument),
        _any_bit(0xFFFFFFFF & ~harmless, 0, 1),
        _refuse(errno.EACCES),
        _return(_ALLOW),
    ]


def _conditions(machine: Machine, process: int, locks: bool) -> dict[str, list[Instruction]]:
    """What follows once the number of a conditional call has matched; each ends with a return."""
    allow = _return(_ALLOW)
    return {
        "openat": _read_only(2, machine),
        "open": _read_only(1, machine),
        # With ENOSYS the C library falls back to clone, which is refused like any unlisted call.
        "clone3": [_refuse(errno.ENOSYS)],
        # Reading one's own limits only.
        "prlimit64": [*_must_be_zero(_argument(0), _argument(2), _argument(2, high=True)), allow],
        "tgkill": [_argument(0), _equal(process, 1, 0), _refuse(), allow],
        "ioctl": [_argument(1), *_one_of(_IOCTL), _refuse(errno.ENOTTY)],
        # F_SETOWN, F_SETSIG and O_ASYNC would let the kernel signal any process of the same user.
        "fcntl": [
            _argument(1),
            *_one_of(_FCNTL_PLAIN + _FCNTL_LOCKS if locks else _FCNTL_PLAIN),
            *(_equal(_F_SETFL, 1, 0), _refuse()),
            *(_argument(2), _any_bit(_O_ASYNC, 0, 1), _refuse()),
            allow,
        ],
    }


def supported(machine: str | None = None) -> bool:
    """Whether the table knows this processor.

    >>> supported("aarch64"), supported("riscv64")
    (True, False)
    """
    return (machine or platform.machine()) in MACHINES


def program(machine_name: str, process: int, *, locks: bool = False) -> list[Instruction]:
    """The filter as BPF instructions, for the process with that id; with `locks` it may lock the files that it reads."""
    machine = MACHINES[machine_name]
    rules = [_load(4), _equal(machine.audit, 1, 0), _return(_KILL), _load(0)]
    if machine_name == "x86_64":
        rules += [(0x35, 0, 1, _X32), _return(_KILL)]
    conditions = _conditions(machine, process, locks)
    for name, number in _CONDITIONAL[machine_name].items():
        body = conditions[name]
        rules += [_equal(number, 0, len(body)), *body]
    columns = zip(*ALLOWED, strict=True)
    numbers = tuple(number for number in list(columns)[machine.column] if isinstance(number, int))
    return [*rules, *_one_of(numbers), _refuse()]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def install(*, locks: bool = False) -> None:
    """Confine this process for good; needs no_new_privs. Raises OSError if the kernel refuses."""
    if not supported():
        raise OSError(errno.ENOSYS, f"no table of system calls for {platform.machine()}")
    rules = program(platform.machine(), os.getpid(), locks=locks)
    code = b"".join(struct.pack("HBBI", *rule) for rule in rules)
    buffer = ctypes.create_string_buffer(code, len(code))
    filter_ = _Program(len(rules), ctypes.cast(buffer, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(ctypes.c_int(22), ctypes.c_ulong(2), ctypes.byref(filter_), zero, zero) != 0:  # PR_SET_SECCOMP
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
