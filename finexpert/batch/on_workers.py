"""What workers of a Ray cluster do, one item after the other: each opens all that it needs once, and this process keeps what comes back.

    on_workers(Worker, work, mark, Items(questions, came, check, str), threads=32)

A worker that is lost, alone or with its node, loses what it had under way; that is given out once more, and nothing else.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from finexpert.core.ray_cluster import connected
from finexpert.errors import ConfigurationError, DataError

I = TypeVar("I")
_MOST_LOSSES = 3
_CLOSING_SECONDS = 5.0


class Works(Protocol):
    """An actor, made of the work and of how many items it has under way at most."""

    def opened(self) -> str:
        """Open everything; what this worker would answer with. Asked once, before any item."""

    def ask(self, item: Any, /) -> Any:
        """What comes of an item."""

    def closed(self) -> None:
        """Let go of everything."""


@dataclass(frozen=True)
class Items(Generic[I]):
    """What there is to do. `came` takes what came of an item, `check` raises where none may be given out any more."""

    all: Sequence[I]
    came: Callable[[I, Any], None]
    check: Callable[[], None]
    named: Callable[[I], str]


def keeps_none(record: Path | None) -> None:
    """ConfigurationError for completions that are to be kept: each worker would have a file of its own."""
    if record is not None:
        raise ConfigurationError(
            "engine ray keeps no completions: leave out --save-completions (FINEXPERT_RECORD), or take threads"
        )


def on_workers(kind: Callable[..., Works], work: Any, mark: str, items: Items[Any], threads: int) -> None:
    """Have all done; a worker that would answer with something else than `mark` says is refused by DataError."""
    if not items.all:
        return
    with connected() as ray:
        _Run(ray, kind, work, mark, items, threads).to_end()


class _Run:
    """Which items wait, and which are under way with whom, by the reference of what is to come."""

    def __init__(
        self, ray: Any, kind: Callable[..., Works], work: Any, mark: str, items: Items[Any], threads: int
    ) -> None:
        self._ray, self._kind, self._mark, self._items = ray, kind, mark, items
        self._waiting = deque(items.all)
        self._under_way: dict[Any, tuple[Any, Any]] = {}
        self._free: Counter[Any] = Counter()
        self._losses: Counter[str] = Counter()
        slots = int(ray.cluster_resources().get("CPU", 1))
        self._workers = max(1, min(threads, slots, len(items.all)))
        self._each = math.ceil(threads / self._workers)
        self._sent = ray.put(work)

    def to_end(self) -> None:
        for _ in range(self._workers):
            self._engage()
        try:
            while self._waiting or any(item is not None for _, item in self._under_way.values()):
                self._hand_out()
                ended, _ = self._ray.wait(list(self._under_way), num_returns=1)
                for reference in ended:
                    self._ended(reference, *self._under_way.pop(reference))
        finally:
            if closing := [worker.closed.remote() for worker in self._free]:
                self._ray.wait(closing, num_returns=len(closing), timeout=_CLOSING_SECONDS)
            for worker in {worker for worker, _ in self._under_way.values()} | set(self._free):
                self._ray.kill(worker)

    def _engage(self) -> None:
        actor = self._ray.remote(self._kind).options(num_cpus=1, max_concurrency=self._each, max_restarts=0)
        worker = actor.remote(self._sent, self._each)
        self._under_way[worker.opened.remote()] = worker, None

    def _hand_out(self) -> None:
        """Give each worker what it can take, evenly."""
        while self._waiting and (worker := max(self._free, key=self._free.__getitem__, default=None)):
            if not self._free[worker]:
                return
            self._items.check()
            item = self._waiting.popleft()
            self._free[worker] -= 1
            self._under_way[worker.ask.remote(item)] = worker, item

    def _ended(self, reference: Any, worker: Any, item: Any) -> None:
        try:
            came = self._ray.get(reference)
        except self._ray.exceptions.RayActorError as error:
            self._lost(worker, item, error)
        except self._ray.exceptions.RayTaskError as error:
            # What a worker raises, it raises here: a model that cannot be reached ends the run.
            raise error.cause from error
        else:
            if item is None:
                self._begun(worker, came)
                return
            self._free[worker] += 1
            self._items.came(item, came)

    def _begun(self, worker: Any, found: str) -> None:
        if found != self._mark:
            raise DataError(
                f"a worker of the cluster would answer with something else ({found}, and here {self._mark}): data, semantic model, "
                "what was taught, model, settings and version have to be the same on every node"
            )
        self._free[worker] = self._each

    def _lost(self, worker: Any, item: Any, error: Exception) -> None:
        """Have another worker, and the item given out once more, unless that is what ends the workers."""
        self._free.pop(worker, None)
        name = "" if item is None else self._items.named(item)
        self._losses[name] += 1
        if item is not None:
            self._waiting.appendleft(item)
        if self._losses[name] >= _MOST_LOSSES:
            what = "nothing was yet" if item is None else f"the question {name!r} was"
            raise DataError(
                f"{what} under way when {_MOST_LOSSES} workers of the cluster ended ({str(error).strip().splitlines()[0]}): look at "
                "the memory of the nodes, and whether this version of finexpert is installed on each; what is answered is kept"
            ) from error
        if not any(other is worker for other, _ in self._under_way.values()):
            self._engage()
