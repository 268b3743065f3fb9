"""What a process that is shut in knows of itself: its channel, its memory, and the files of the system that it may read."""

from __future__ import annotations

import os

from finexpert.isolation import lockdown, wire

CHANNEL = 3
# A process lives as long as its warehouse: each SELECT has its deadline, the sum of them has no bound.
_CPU_SECONDS = 1 << 30
# DuckDB asks how many processors and how much memory there are, and breaks if it is denied that.
OF_THE_SYSTEM = ("/proc/self/cgroup", "/proc/self/mountinfo", "/proc/stat", "/proc/meminfo", "/sys/fs/cgroup",
                  "/sys/devices/system/cpu")  # fmt: skip


class Memory:
    """How much the process has mapped, and how much more it may."""

    def __init__(self) -> None:
        # Opened before the lock: no path can be opened behind it.
        self._file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._base = self._most = 0

    def limit(self, parent: int, most: int, *, locks: bool = False) -> None:
        """Allow that many bytes above what is mapped now, and lock the process in; with `locks` it may lock the files that it reads."""
        self._base, self._most = self._mapped(), most
        lockdown.enter_child(parent, memory=self._base + most, cpu_seconds=_CPU_SECONDS, locks=locks)

    @property
    def worn(self) -> bool:
        """Whether earlier SELECTs have left too little for the next."""
        return self._mapped() - self._base > self._most * 3 // 4

    def _mapped(self) -> int:
        return int(os.pread(self._file, 100, 0).split()[0]) * os.sysconf("SC_PAGE_SIZE")


def write(message: bytes | memoryview) -> None:
    """Send to the parent."""
    wire.write(CHANNEL, message)
