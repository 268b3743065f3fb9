"""Sources that are open: each once, whoever asks it, and closed when nobody has asked it for a while.

opened = OpenSources(settings, idle_seconds=1200)
with opened.using("s1:3", "data", "trades.duckdb") as warehouse: ...
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from finexpert.datasets.fred.database import open_data
from finexpert.filings.library.library import Library
from finexpert.settings import Settings
from finexpert.warehouse.warehouse import Warehouse

Opened = Warehouse | Library


def open_place(kind: str, place: str | None, settings: Settings) -> Opened:
    """The warehouse or the library at a place; what `finexpert data fred` built, or the sample economy, without one."""
    if kind == "library":
        return Library.open(place)
    return open_data(Path(place) if place else None, settings=settings)


@dataclass
class _Kept:
    source: Opened
    users: int = 0
    used: float = field(default_factory=time.monotonic)


class OpenSources:
    """Open sources by a key, which is another one when the source has changed. Many threads may ask for them."""

    def __init__(self, idle_seconds: float) -> None:
        self._idle = idle_seconds
        self._kept: dict[str, _Kept] = {}
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}

    def take(self, key: str, make: Callable[[], Opened]) -> Any:
        """The source of a key, opened if it is not; give it back with `give_back`."""
        with self._lock:
            opening = self._opening.setdefault(key, threading.Lock())
        # One thread opens a source, the others wait for it; other sources are opened meanwhile.
        with opening:
            with self._lock:
                kept = self._kept.get(key)
                if kept is not None:
                    kept.users += 1
                    return kept.source
            try:
                source = make()
            except BaseException:
                with self._lock:
                    self._opening.pop(key, None)
                raise
            with self._lock:
                # A thread that waited for a lock that was swept meanwhile may have been faster.
                kept = self._kept.setdefault(key, _Kept(source))
                kept.users += 1
        if kept.source is not source:
            source.close()
        return kept.source

    def give_back(self, key: str) -> None:
        with self._lock:
            if kept := self._kept.get(key):
                kept.users -= 1
                kept.used = time.monotonic()

    @contextmanager
    def using(self, key: str, make: Callable[[], Opened]) -> Iterator[Any]:
        """The source of a key for as long as the block runs."""
        source = self.take(key, make)
        try:
            yield source
        finally:
            self.give_back(key)

    def sweep(self) -> None:
        """Close what nobody uses and nobody has used for a while."""
        with self._lock:
            idle = [
                key for key, kept in self._kept.items() if kept.users <= 0 and time.monotonic() - kept.used > self._idle
            ]
            gone = [self._kept.pop(key).source for key in idle]
            for key in idle:
                self._opening.pop(key, None)
        for source in gone:
            source.close()

    def close(self) -> None:
        with self._lock:
            kept, self._kept = list(self._kept.values()), {}
        for each in kept:
            each.source.close()

    def __len__(self) -> int:
        return len(self._kept)
