"""Files that somebody else put where they are: what stands there may be no file.

    with open(path, "rb", opener=regular) as file: ...
    read_bytes(Path("records/20241122-ab12cd.json"))

A named pipe is waited for without an end by whoever opens it, and a device may be read without one. Each raises an OSError that says so.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# `finexpert memory import <(...)`: the shell has opened it, and whoever writes is there.
_OPENED = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def regular(path: str, flags: int) -> int:
    """An `opener` for `open`: OSError for what is neither a file nor a folder, at once.

    >>> with open("/dev/zero", "rb", opener=regular): pass
    Traceback (most recent call last):
    OSError: [Errno 22] it is a pipe or a device, and no file: '/dev/zero'
    """
    if os.fspath(path).startswith(_OPENED):
        return os.open(path, flags)
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
    if stat.S_IFMT(os.fstat(descriptor).st_mode) in (stat.S_IFREG, stat.S_IFDIR):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is a pipe or a device, and no file", os.fspath(path))


def read_bytes(path: Path) -> bytes:
    """All of a file; OSError as for `regular`."""
    with open(path, "rb", opener=regular) as file:
        return file.read()


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """All of a file's text; OSError as for `regular`, UnicodeDecodeError where it is none."""
    with open(path, encoding=encoding, opener=regular) as file:
        return file.read()
