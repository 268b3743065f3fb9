"""Landlock: the kernel's rule for which files a process may read. Here nothing is ever writable.

    >>> version() >= 0
    True

It takes away reading, writing and, on newer kernels, TCP, abstract sockets and signals to the outside. It does not hide
that a file exists (`stat` still answers); only a mount namespace does.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# Rights over files that each version of the interface knows: all are taken away, then reading is given back.
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_NO_NEW_PRIVILEGES = 38

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def version() -> int:
    """The version of the kernel's Landlock interface; 0 if there is none."""
    if not hasattr(_libc, "syscall"):
        return 0
    return max(0, int(_libc.syscall(ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def _ruleset(abi: int) -> int:
    files = _RIGHTS[min(abi, 5)]
    network = 3 if abi >= 4 else 0
    scopes = 3 if abi >= 6 else 0
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    attributes = ctypes.create_string_buffer(struct.pack("QQQ", files, network, scopes)[:size], size)
    made = _libc.syscall(ctypes.c_long(_CREATE), attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    return _checked(made, "landlock_create_ruleset")


def _allow_reading(ruleset: int, path: str) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        folder = stat.S_ISDIR(os.fstat(target).st_mode)
        rights = _READ_FILE | (_READ_DIR if folder else 0)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, target), 12)
        _checked(
            _libc.syscall(ctypes.c_long(_ADD_RULE), ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0)),
            f"landlock_add_rule {path}",
        )
    finally:
        os.close(target)


def restrict(readable: Iterable[str]) -> int:
    """Leave this process and its children nothing but reading below `readable`; the interface's version.

    Raises OSError if the kernel has no Landlock or refuses.
    """
    abi = version()
    if abi < 1:
        raise OSError("the kernel has no Landlock")
    ruleset = _ruleset(abi)
    try:
        for path in readable:
            _allow_reading(ruleset, path)
        zero = ctypes.c_ulong(0)
        asked = _libc.prctl(ctypes.c_int(_NO_NEW_PRIVILEGES), ctypes.c_ulong(1), zero, zero, zero)
        _checked(asked, "no_new_privs")
        _checked(
            _libc.syscall(ctypes.c_long(_RESTRICT), ctypes.c_int(ruleset), ctypes.c_uint32(0)), "landlock_restrict_self"
        )
    finally:
        os.close(ruleset)
    return abi
