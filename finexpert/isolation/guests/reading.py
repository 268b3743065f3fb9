"""A process that is locked in for as long as one reading takes, seen from its parent.

with guest("finexpert.warehouse.isolated.child", path) as channel: ...      # OSError where the path cannot be opened
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from finexpert.errors import SandboxUnavailable
from finexpert.isolation.ending import strike
from finexpert.isolation.guests.zygote import zygote
from finexpert.isolation.lockdown import CANARY_NAMES


@contextlib.contextmanager
def guest(kind: str, path: Path | str) -> Iterator[socket.socket]:
    """The channel to a new process that reaches nothing but this path; it is killed at the end."""
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    channel, theirs = socket.socketpair()
    with contextlib.ExitStack() as stack:
        stack.callback(channel.close)
        try:
            handle = zygote(kind).fork(theirs.fileno(), opened)
        finally:
            theirs.close()
            os.close(opened)
        stack.callback(os.close, handle)
        stack.callback(strike, handle)
        yield channel


def denials(header: Mapping[str, Any], what: str) -> list[list[str]]:
    """What a process says that it was denied; SandboxUnavailable, which says `what` cannot be done, where it proved less than all."""
    denied = header.get("denied")
    if not isinstance(denied, list) or tuple(name for name, _ in denied) != CANARY_NAMES:
        raise SandboxUnavailable(f"{what}: its process did not prove that everything else is denied")
    return denied
