"""The watchdog on macOS, where a process is seen by its id and not through /proc. Not run on a Mac.

    watchdog = WatchdogOnMac(process, most=1 << 30)
    watchdog.passed()   ->   True once the process holds more than 1 GiB

macOS keeps no limit of address space, so here the watchdog is the only lock on memory.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools

from finexpert.isolation.watchdog import Watchdog

# struct rusage_info_v0: 16 bytes of uuid, six numbers, then the resident size.
_RESIDENT = 8


@functools.cache
def _library() -> ctypes.CDLL | None:
    name = ctypes.util.find_library("proc")
    library = ctypes.CDLL(name) if name else None
    return library if hasattr(library, "proc_pid_rusage") else None


class WatchdogOnMac(Watchdog):
    """Watches the process with an id."""

    def _held(self) -> int | None:
        library, facts = _library(), (ctypes.c_uint64 * 32)()
        if library is None:
            return None
        asked = ctypes.c_int(self._process), ctypes.c_int(0), ctypes.byref(facts)
        return None if library.proc_pid_rusage(*asked) else int(facts[_RESIDENT])
