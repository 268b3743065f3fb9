"""The program from which the processes of one kind of guest are forked: imported once, with one thread, and without any data.

    python worker.py '{"guest": "finexpert.filings.readers.child", "control": 5, "parent": 4711, "path": ["/usr/lib/python3/site-packages"]}'

It is started by path with an environment made for it, says `ready` over the control socket, and for each message there, with a channel
and an opened file, it forks a process and hands back its handle (a pidfd). It reads nothing itself.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable

_LOST = 70


def main() -> None:
    setup = json.loads(sys.argv[1])
    sys.path += setup["path"]
    from finexpert.isolation import lockdown

    lockdown.die_with_parent(setup["parent"])
    guest = importlib.import_module(setup["guest"])
    guest.use_once()
    # Nobody waits for the forked processes: the kernel clears them away.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    control = socket.socket(fileno=setup["control"])
    control.send(b"ready")
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 16, 2)
        if not data:
            return
        _fork(control, descriptors, guest.serve)


def _fork(control: socket.socket, descriptors: list[int], serve: Callable[[int], None]) -> None:
    parent = os.getpid()
    process = os.fork()
    if process == 0:
        _child(descriptors, serve, parent)
    for descriptor in descriptors:
        os.close(descriptor)
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:  # it has ended already
        control.send(b"ended")
        return
    socket.send_fds(control, [b"forked"], [handle])
    os.close(handle)


def _child(descriptors: list[int], serve: Callable[[int], None], parent: int) -> None:
    status = _LOST
    try:
        # First out of the way, so that no number is overwritten that is still needed.
        moved = [os.dup2(descriptor, 200 + place) for place, descriptor in enumerate(descriptors)]
        for place, descriptor in enumerate(moved, start=3):
            os.dup2(descriptor, place)
        os.closerange(3 + len(moved), 1024)
        serve(parent)
        status = 0
    except EOFError:
        status = 0
    except BaseException:  # noqa: BLE001 - it ends here, whatever it is
        # To a file that cannot be written once the process is locked: no value of a row stands there.
        traceback.print_exc()
    finally:
        # Never return into the loop above, whatever happened here.
        os._exit(status)


if __name__ == "__main__":
    main()
