"""The sandbox: runs a generated script over frames and gives back a typed value.

    with Sandbox() as sandbox:
        outcome = sandbox.run("answer = gdp['value'].mean()", {"gdp": frame}, AnswerFormat(kind="number"))

The script finds each frame as a variable, and `pd`, `np`, `plt`, `dt`, `math`, `stats`; it sets `answer`, may set `period`,
and every figure left open is returned. Each call runs in a fresh process that can read no file but the libraries, write
none, and reach no network, process or other script; without such a boundary nothing is run. What is covered and
what is not stands in `tests/sandbox/test_attacks.py`.
"""

from __future__ import annotations

import contextlib
import keyword
import os
import queue
import threading
import time
import weakref
from collections.abc import Iterator, Mapping

import pandas as pd

from finexpert.core import progress
from finexpert.core.answers import AnswerFormat
from finexpert.errors import Cancelled, SandboxFailure, SandboxUnavailable, ScriptError
from finexpert.isolation import rungs, wire
from finexpert.isolation.containers import container
from finexpert.isolation.containers.zygote import ContainerZygote
from finexpert.isolation.conversation import Overrun
from finexpert.isolation.handle import Handle, Lost, Reply
from finexpert.isolation.limits import Limits
from finexpert.isolation.macos.single_use import SingleUse
from finexpert.sandbox import tables
from finexpert.sandbox.verdict import ScriptOutcome, judge
from finexpert.sandbox.zygote import Zygote
from finexpert.storage.closing import Closing

_DEFAULT = Limits()
_RESERVED = frozenset({"pd", "np", "plt", "dt", "math", "stats", "answer", "period"})


class Sandbox(Closing):
    """A boundary of the operating system around generated scripts; may be used by many threads.

    It holds `workers` warm interpreters, started when first needed. A call forks one of them, so that no call sees
    what another left. `policy=False` leaves out the early refusal of scripts, never the boundary.

    Raises SandboxUnavailable if this machine offers no boundary, or not the one named by `rung`.
    """

    def __init__(
        self, limits: Limits = _DEFAULT, *, workers: int = 1, rung: str | None = None, policy: bool = True
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers is {workers}: a sandbox needs at least one")
        self.limits = limits
        self.rung = rungs.chosen_rung(rung)
        self._policy = policy
        self._workers = workers
        self._closed = False
        self._lock = threading.Lock()
        self._timing = threading.local()
        self._fill()

    def _fill(self) -> None:
        self._process = os.getpid()
        self._all: set[Handle] = set()
        self._slots: queue.SimpleQueue[Handle | None] = queue.SimpleQueue()
        for _ in range(self._workers):
            self._slots.put(None)
        # Also when it is forgotten without close, and when the interpreter ends.
        weakref.finalize(self, _kill_all, self._process, self._all)

    @property
    def policy(self) -> bool:
        """Whether scripts are refused early."""
        return self._policy

    @property
    def self_test(self) -> list[tuple[str, str]]:
        """What a locked process was denied just now: the name of each canary, and the error that it met."""
        with self._borrowed() as worker:
            return [(name, error) for name, error in worker.prove()]

    def warm(self) -> None:
        """Start every worker, and come back before they are ready."""
        self._check()
        taken: list[Handle | None] = []
        with contextlib.suppress(queue.Empty):
            while True:
                taken.append(self._slots.get_nowait())
        # The last to be put back is the last to be taken: no worker that is ready waits behind one that is not.
        for place, worker in enumerate(taken):
            try:
                self._slots.put(worker if worker and worker.alive else self._start())
            except BaseException:
                for rest in taken[place:]:
                    self._slots.put(rest)
                raise

    def run(self, code: str, frames: Mapping[str, pd.DataFrame], answer_format: AnswerFormat) -> ScriptOutcome:
        """Run the script over fresh copies of the frames; its answer in the given format.

        Raises ScriptError for what the script's author can repair: a refusal, an exception, a limit passed, no answer or
        one of the wrong type. Its text holds no cell values. Raises SandboxFailure if the sandbox broke,
        SandboxUnavailable if it leaks or cannot be set up, and Cancelled where the question around it is.
        """
        request = self._request(code, frames, answer_format)
        known = [*frames, *(str(name) for frame in frames.values() for name in _labels(frame))]
        reply = self._exchange(request)
        if reply.frame is None:
            self._replace()
        return judge(reply, code, known, answer_format, self.limits)

    def _request(self, code: str, frames: Mapping[str, pd.DataFrame], answer_format: AnswerFormat) -> bytes:
        if len(code) > self.limits.code_chars:
            raise ScriptError(f"the script has {len(code)} characters, above {self.limits.code_chars}; write less")
        for name in frames:
            if not name.isidentifier() or keyword.iskeyword(name) or name in _RESERVED:
                raise ScriptError(f"a frame cannot be called {name!r} in a script; give it another name")
        blobs = [tables.encode_input(frame) for frame in frames.values()]
        size = sum(len(blob) for blob in blobs)
        if size > self.limits.input_bytes:
            most = self.limits.input_bytes >> 20
            raise ScriptError(f"the frames have {size >> 20} MB, above {most}; select fewer rows or columns in SQL")
        header = {
            "code": code,
            "kind": answer_format.kind,
            "policy": self._policy,
            "limits": vars(self.limits),
            "frames": list(frames),
        }
        return wire.pack(header, blobs)

    def _exchange(self, request: bytes) -> Reply:
        """The reply to a request; once more with a fresh worker if the first was lost before it gave anything back."""
        try:
            with contextlib.suppress(Lost):
                return self._call(request)
            return self._call(request)
        except Overrun as limit:
            self._replace()
            raise ScriptError(str(limit)) from None
        except (SandboxFailure, Cancelled):
            self._replace()
            raise

    def _call(self, request: bytes) -> Reply:
        with self._borrowed() as worker, progress.watch().interrupting(worker.end):
            began = time.monotonic()
            try:
                return worker.call(request)
            finally:
                self._timing.seconds = time.monotonic() - began

    @property
    def last_seconds(self) -> float:
        """What the last call of this thread took, also one that failed; not what it waited for a worker to be ready."""
        seconds: float = getattr(self._timing, "seconds", 0.0)
        return seconds

    def _replace(self) -> None:
        """Start a new worker for one that was killed, while the script is being repaired."""
        with contextlib.suppress(SandboxUnavailable):
            self.warm()

    def _start(self) -> Handle:
        worker = _worker(self.rung, self.limits)
        with self._lock:
            self._all -= {one for one in self._all if not one.alive}
            self._all.add(worker)
            if not self._closed:
                return worker
        worker.kill()
        raise SandboxUnavailable("the sandbox is closed; make a new one")

    @contextlib.contextmanager
    def _borrowed(self) -> Iterator[Handle]:
        self._check()
        slots = self._slots
        worker = slots.get()
        try:
            self._check()
            if worker is None or not worker.alive:
                worker = self._start()
            worker.ready()
            yield worker
        finally:
            if worker is not None and (self._closed or worker.spent):
                worker.kill()
                worker = self._successor()
            slots.put(worker)

    def _successor(self) -> Handle | None:
        """A worker that starts while nobody waits for it; None if there can be none now."""
        with contextlib.suppress(SandboxUnavailable):
            return self._start()
        return None

    def _check(self) -> None:
        if self._closed:
            raise SandboxUnavailable("the sandbox is closed; make a new one")
        if self._process != os.getpid():
            # After a fork the workers are the parent's; this process starts its own.
            for worker in self._all:
                worker.abandon()
            self._lock = threading.Lock()
            self._fill()

    def close(self) -> None:
        """End every worker, also those that run a script; may be called again."""
        with self._lock:
            self._closed = True
        if self._process != os.getpid():
            return
        for worker in list(self._all):
            worker.end()
        idle = []
        with contextlib.suppress(queue.Empty):
            while True:
                idle.append(self._slots.get_nowait())
        for one in idle:
            if one is not None:
                one.kill()
            self._slots.put(None)
        for worker in list(self._all):
            if not worker.alive:
                worker.gone()


def _worker(rung: str, limits: Limits) -> Handle:
    if rung == rungs.IN_CONTAINER:
        engine = container.usable()
        if engine is None:
            raise SandboxUnavailable(f"no script was run: {container.state()}")
        return ContainerZygote(engine, limits)
    if rung == rungs.ON_MACOS:
        return SingleUse(limits)
    return Zygote(rung, limits)


def _labels(frame: pd.DataFrame) -> list[object]:
    return [*frame.columns, *(name for name in frame.index.names if name is not None)]


def _kill_all(process: int, workers: set[Handle]) -> None:
    if os.getpid() == process:
        for worker in list(workers):
            worker.kill()
