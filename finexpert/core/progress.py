"""What a question is doing now, and the wish to cancel it.

    with watching(Watch(print)), stage("planning"):
        called(0.002)

    Event(stage='planning', state='started', seconds=0.0, calls=0, usd=0.0, note='')
    Event(stage='planning', state='ended', seconds=2.5, calls=1, usd=0.002, note='')

A `Watch` travels in a context variable, so a thread that runs in a copied context reports to it too. Without one, nothing is
reported and nothing can be cancelled. An event never holds a value of the data.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, get_args

from finexpert.errors import Cancelled

Stage = Literal["understanding", "recalling", "planning", "extracting", "scripting", "reading", "checking", "answering"]
State = Literal["started", "ended"]
STAGES: tuple[Stage, ...] = get_args(Stage)


@dataclass(frozen=True)
class Event:
    """One stage began or ended.

    `seconds`, `calls` and `usd` are what the stage took and are 0 when it starts. The seconds include those of a stage within it,
    the calls and dollars do not, so they add up. `usd` is None where the price of a call is not known. `note` says in words of the
    program what is done ("2 SELECTs") or what ended the stage ("QueryError").
    """

    stage: Stage
    state: State
    seconds: float = 0.0
    calls: int = 0
    usd: float | None = 0.0
    note: str = ""


class Watch:
    """Hears the events of one question, and cancels it. `hear` is called from several threads, one at a time."""

    def __init__(self, hear: Callable[[Event], None] = lambda event: None) -> None:
        self.hear = hear
        self._others: list[Callable[[Event], None]] = []
        self._hearing = threading.Lock()
        self._lock = threading.Lock()
        self._actions: list[Callable[[], None]] = []
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """End the question at its next step; interrupts what is registered by `interrupting`."""
        with self._lock:
            self._cancelled.set()
            for action in self._actions:
                action()

    def check(self) -> None:
        """Raise Cancelled where the question was cancelled."""
        if self.cancelled:
            raise Cancelled("the question was cancelled; ask it again to have an answer")

    def wait(self, seconds: float) -> None:
        """Sleep; raises Cancelled as soon as the question is cancelled."""
        self._cancelled.wait(seconds)
        self.check()

    def tell(self, event: Event) -> None:
        with self._hearing:
            for hear in (self.hear, *self._others):
                hear(event)

    @contextmanager
    def heard_by(self, hear: Callable[[Event], None]) -> Iterator[None]:
        """Within it, `hear` is called too."""
        with self._hearing:
            self._others.append(hear)
        try:
            yield
        finally:
            with self._hearing:
                self._others.remove(hear)

    @contextmanager
    def interrupting(self, action: Callable[[], None]) -> Iterator[None]:
        """Within it, cancelling calls `action`; what is raised after that is Cancelled.

        The action is called from another thread. It must be quick, and must not raise.
        """
        with self._lock:
            self.check()
            self._actions.append(action)
        try:
            yield
        except Exception:
            self.check()
            raise
        finally:
            # Under the lock: when it is left, the action does not run any more.
            with self._lock:
                self._actions.remove(action)


@dataclass
class _Running:
    """A stage that runs, and the costs of the calls that ended in it."""

    stage: Stage
    costs: list[float | None] = field(default_factory=list)


_NOBODY = Watch()
_watch: ContextVar[Watch | None] = ContextVar("finexpert_watch", default=None)
_running: ContextVar[_Running | None] = ContextVar("finexpert_stage", default=None)


@contextmanager
def watching(watch: Watch | None = None) -> Iterator[Watch]:
    """Within it, stages are reported to `watch`, and it may cancel them; by default to the one around it, or a new one."""
    watch = watch or _watch.get() or Watch()
    token, stage_token = _watch.set(watch), _running.set(None)
    try:
        yield watch
    finally:
        _running.reset(stage_token)
        _watch.reset(token)


def watch() -> Watch:
    """The watch around the caller; one that nobody hears or cancels where there is none."""
    return _watch.get() or _NOBODY


def check() -> None:
    """Raise Cancelled where the question around the caller was cancelled."""
    watch().check()


@contextmanager
def stage(name: Stage, note: str = "") -> Iterator[None]:
    """Report that a stage starts and ends. A stage within one of the same name is a part of it and is not reported.

    >>> def hear(event): print(event.stage, event.state, event.calls, event.usd)
    >>> with watching(Watch(hear)), stage("understanding"), stage("recalling"):
    ...     called(0.25)
    understanding started 0 0.0
    recalling started 0 0.0
    recalling ended 1 0.25
    understanding ended 0 0.0
    """
    around, outer = watch(), _running.get()
    around.check()
    if outer is not None and outer.stage == name:
        yield
        return
    running = _Running(name)
    token = _running.set(running)
    around.tell(Event(name, "started", note=note))
    began, ending = time.perf_counter(), ""
    try:
        yield
    except BaseException as error:
        ending = type(error).__name__
        raise
    finally:
        _running.reset(token)
        costs = list(running.costs)
        usd = None if None in costs else sum((cost or 0.0 for cost in costs), 0.0)
        around.tell(Event(name, "ended", time.perf_counter() - began, len(costs), usd, ending))


def called(usd: float | None) -> None:
    """Count a call of a model for the stage that runs; `usd` is None where its price is not known."""
    running = _running.get()
    if running is not None:
        running.costs.append(usd)
