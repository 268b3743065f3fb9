"""The processes that hold a warehouse's file and answer its SELECTs: as many as are asked at once, up to a few.

    pool = QueryPool(opening, processes=2)
    pool.catalogue([], {})                       ->   Catalogue(...)
    pool.lock(Known(columns, card, views))
    pool.ask(Request("SELECT 1 AS one")).kinds   ->   ['integer']

The one used last is used next, so that questions one after the other need one process. A process that died is replaced at once.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import weakref
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from finexpert.errors import DataError, SandboxUnavailable
from finexpert.warehouse.isolated.answer import Known, Request, Rows
from finexpert.warehouse.isolated.catalogue import Catalogue
from finexpert.warehouse.isolated.process import Opening, QueryProcess


class QueryPool:
    """Up to `processes` processes; may be asked by many threads.

    It holds the file itself open, so that a process that starts later reads the same rows though the file was replaced.
    """

    def __init__(self, opening: Opening, processes: int) -> None:
        self.opening = opening
        self._processes = processes
        self._closed = False
        self._known: Known | None = None
        # Such a handle takes no part in the locks of files, which closing any other would give up.
        self._database = os.open(opening.path, os.O_PATH | os.O_CLOEXEC)
        self._state = self._found()
        self._lock = threading.Lock()
        self._fill()

    def _fill(self) -> None:
        self._owner = os.getpid()
        self._all: set[QueryProcess] = set()
        self._slots: queue.LifoQueue[QueryProcess | None] = queue.LifoQueue()
        for _ in range(self._processes):
            self._slots.put(None)
        # Also when it is forgotten without close, and when the interpreter ends.
        self._finalizer = weakref.finalize(self, _end, self._owner, self._all, self._database)

    def catalogue(self, categories: Collection[str], date_columns: Mapping[str, str]) -> Catalogue:
        """What the file says of itself; raises DataError."""
        with self._borrowed() as process:
            return process.catalogue(categories, date_columns)

    def look(self, select: str, seconds: float) -> Rows | None:
        """The rows of a SELECT of the program's own, before the lock; None where it fails or takes too long."""
        with self._borrowed() as process:
            return process.look(select, seconds)

    def lock(self, known: Known) -> Known:
        """Let every process make these views, and answer from them alone; the views as they were made."""
        with self._borrowed() as process:
            self._known = process.lock(known)
        return self._known

    def ready(self) -> None:
        """Wait until a process can answer at once; raises DataError or SandboxUnavailable where none can."""
        with self._borrowed() as process:
            self._locked(process)

    def ask(self, request: Request) -> Rows:
        """The rows of one SELECT; raises QueryError, or DataError or SandboxUnavailable where none can be run."""
        with self._borrowed() as process:
            self._locked(process)
            return process.ask(request)

    def _locked(self, process: QueryProcess) -> None:
        if not process.locked and self._known is not None:
            process.lock(self._known)

    @property
    def denied(self) -> list[list[str]]:
        """What a process was denied when it had locked itself in: the name of each attempt, and the error that it met."""
        with self._borrowed() as process:
            return process.denied

    def close(self) -> None:
        """End every process, also those that are answering; may be called again."""
        with self._lock:
            self._closed = True
        if os.getpid() != self._owner:
            return
        for process in list(self._all):
            process.end()
        with contextlib.suppress(queue.Empty):
            while True:
                if (idle := self._slots.get_nowait()) is not None:
                    idle.kill()
        for _ in range(self._processes):
            self._slots.put(None)
        # Those that were answering are closed by the threads that ask them.
        self._all.clear()
        self._finalizer()

    @contextlib.contextmanager
    def _borrowed(self) -> Iterator[QueryProcess]:
        self._check()
        slots = self._slots
        process = slots.get()
        try:
            self._check()
            if process is None or process.lost:
                process = self._replaced(process)
            process.ready()
            yield process
        except BaseException:
            self._check_open()
            # The next question should not wait for a start: it begins now.
            if process is not None and not process.alive:
                with contextlib.suppress(SandboxUnavailable, DataError, OSError):
                    process = self._replaced(process)
            raise
        finally:
            slots.put(process)

    def _replaced(self, old: QueryProcess | None) -> QueryProcess:
        if old is not None:
            old.kill()
        with self._lock:
            self._check_open()
            # While a process lives its lock keeps the file as it is; after a process was killed another program may have written.
            if self._found() != self._state:
                raise DataError(f"{self.opening.path} was written since it was opened: open it again")
            process = QueryProcess(self.opening, self._database)
            self._all -= {one for one in self._all if not one.alive}
            self._all.add(process)
            return process

    def _found(self) -> tuple[int, ...]:
        """When the file that is held was written, and its log if it still stands at its place."""
        held = os.fstat(self._database)
        found = [held.st_mtime_ns, held.st_size]
        with contextlib.suppress(OSError):
            if os.path.samestat(held, Path(self.opening.path).stat()):
                log = Path(f"{self.opening.path}.wal").stat()
                found += [log.st_mtime_ns, log.st_size]
        return tuple(found)

    def _check_open(self) -> None:
        if self._closed:
            raise DataError(f"the warehouse {Path(self.opening.path).stem} is closed: open {self.opening.path} again")

    def _check(self) -> None:
        self._check_open()
        if self._owner != os.getpid():
            # After a fork the processes are the parent's; this process starts its own.
            self._finalizer.detach()
            self._lock = threading.Lock()
            self._fill()


def _end(owner: int, processes: set[QueryProcess], database: int) -> None:
    if os.getpid() != owner:
        return
    for process in list(processes):
        process.kill()
    os.close(database)
