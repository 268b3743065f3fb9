"""Questions asked side by side, with results on disk that survive an interruption."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from finexpert.datasets.evaluations.evaluation import Result
from finexpert.errors import DataError
from finexpert.language_models.budget import Budget
from finexpert.settings import Settings
from finexpert.storage import foreign_files
from finexpert.storage.private_files import make_folder

R = TypeVar("R", bound=BaseModel)


class Asked(Protocol):
    """A question of a benchmark."""

    @property
    def id(self) -> str: ...


Q = TypeVar("Q", bound=Asked)
# Asks what has these keys elsewhere, so many side by side, and hands on each result.
Engine = Callable[[Sequence[Any], Callable[[Any], None], int], None]
Answered = TypeVar("Answered", bound=Result)


class Journal(Generic[R]):
    """Results on disk, one line each, so that an interrupted evaluation goes on where it stopped.

    Lines are appended whole; a line cut by a crash is cut off, and its question asked again. Without an `engine` questions are asked
    in threads of this process.
    """

    def __init__(self, path: Path, kind: type[R], engine: Engine | None = None) -> None:
        self.path, self._engine = path, engine
        self._lock = threading.Lock()
        make_folder(path.parent)
        self.results: list[R] = list(_read(path, kind)) if path.exists() else []

    def add(self, result: R) -> None:
        line = result.model_dump_json().encode() + b"\n"
        with self._lock:
            self.results.append(result)
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)

    def fill(
        self,
        ask: Callable[..., R],
        jobs: Mapping[Any, tuple[Any, ...]],
        key: Callable[[R], Any],
        *,
        threads: int,
        on_result: Callable[[R], None],
    ) -> list[R]:
        """Ask what no result has the key of, side by side; all results, those of before first."""
        done = {key(result) for result in self.results}
        missing = {name: job for name, job in jobs.items() if name not in done}

        def keep(result: R) -> None:
            self.add(result)
            on_result(result)

        if self._engine is not None:
            self._engine(list(missing), keep, threads)
        else:
            side_by_side(lambda *job: keep(ask(*job)), missing.values(), threads)
        return self.results

    def in_order(
        self,
        ask: Callable[[Q], R],
        asked: Sequence[Q],
        *,
        threads: int = 4,
        on_result: Callable[[R], None] = lambda result: None,
    ) -> list[R]:
        """Ask what no result has the id of; one result each, in their order."""
        jobs: dict[Any, tuple[Any, ...]] = {each.id: (each,) for each in asked}
        found: Sequence[Any] = self.fill(ask, jobs, _id_of, threads=threads, on_result=on_result)
        by_id = {result.id: result for result in found}
        return [by_id[each.id] for each in asked]


def _id_of(result: Any) -> Any:
    return result.id


def _read(path: Path, kind: type[R]) -> Iterable[R]:
    text = foreign_files.read_bytes(path)
    for number, line in enumerate(text.split(b"\n")[:-1], 1):
        try:
            yield kind.model_validate_json(line)
        except ValidationError as error:
            raise DataError(f"{path}, line {number} is no result of this version; start over with --fresh") from error
    if text and not text.endswith(b"\n"):
        with path.open("ab") as file:
            file.truncate(text.rfind(b"\n") + 1)


def side_by_side(work: Callable[..., None], jobs: Iterable[tuple[Any, ...]], threads: int) -> None:
    """Do all jobs in threads; the first error drops what has not begun and is raised once the rest is done.

    Ctrl-C waits for nothing: what is under way in threads is lost.

    >>> done = []
    >>> side_by_side(lambda a, b: done.append(a + b), [(1, 2), (3, 4)], threads=1)
    >>> done
    [3, 7]
    """
    stopped = threading.Event()

    def guarded(*job: Any) -> None:
        if stopped.is_set():
            return
        try:
            work(*job)
        except BaseException:
            # At once, not when the main thread comes to see it: by then the next job would have begun.
            stopped.set()
            raise

    pool = ThreadPoolExecutor(threads)
    patient = True
    try:
        futures = [pool.submit(copy_context().run, partial(guarded, *job)) for job in jobs]
        for future in wait(futures, return_when=FIRST_EXCEPTION).done:
            future.result()
    except KeyboardInterrupt:
        stopped.set()
        patient = False
        raise
    finally:
        pool.shutdown(wait=patient, cancel_futures=True)


def ask_in_modes(
    ask: Callable[[str, Q], Answered],
    questions: Sequence[Q],
    modes: Sequence[str],
    journal: Journal[Answered],
    settings: Settings,
    *,
    threads: int,
    on_result: Callable[[Answered], None],
) -> list[Answered]:
    """Ask every question in every mode, side by side, except those that the journal has already."""

    def one(mode: str, question: Q) -> Answered:
        with Budget.of(settings, "answer"):
            return ask(mode, question)

    jobs = {(mode, question.id): (mode, question) for mode in modes for question in questions}
    return journal.fill(one, jobs, lambda result: (result.rung, result.id), threads=threads, on_result=on_result)
