"""Processes: none is left behind, whatever happens to the parent, and threads do not disturb each other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import psutil
import pytest

from finexpert.answers import AnswerFormat
from finexpert.errors import SandboxFailure, SandboxUnavailable
from finexpert.sandbox import Limits, Sandbox, rungs
from finexpert.sandbox.zygote import Zygote

_NUMBER = AnswerFormat(kind="number")
_PARENT = """
    import sys, threading, time
    import psutil
    from finexpert.answers import AnswerFormat
    from finexpert.sandbox import Sandbox
    if __name__ == "__main__":
        sandbox = Sandbox(rung=sys.argv[1])
        sandbox.self_test
        def loop():
            sandbox.run("while True: pass", {}, AnswerFormat())
        threading.Thread(target=loop, daemon=True).start()
        time.sleep(0.3)
        print(*(child.pid for child in psutil.Process().children(recursive=True)), flush=True)
        time.sleep(60)
"""


def _gone(processes: list[psutil.Process], seconds: float = 10) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("rung", rungs.RUNGS)
def test_no_process_outlives_the_parent(rung: str) -> None:
    if (why := rungs.problem(rung)) is not None:
        pytest.skip(f"{rung} does not work here: {why}")
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(_PARENT), rung], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        children = [psutil.Process(int(word)) for word in parent.stdout.readline().split()]
        assert len(children) >= 2
        parent.kill()
    assert _gone(children)


def test_interrupt(impatient: Sandbox) -> None:
    impatient.run("answer = 1", {}, _NUMBER)
    known = set(psutil.Process().children(recursive=True))
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        impatient.run("while True: pass", {}, _NUMBER)
    timer.join()
    loops = [process for process in psutil.Process().children(recursive=True) if process not in known]
    assert _gone(loops)
    assert impatient.run("answer = 2", {}, _NUMBER).value == 2


def test_close_ends_everything_and_is_final() -> None:
    before = set(psutil.Process().children(recursive=True))
    sandbox = Sandbox(workers=2)
    sandbox.warm()
    sandbox.run("answer = 1", {}, _NUMBER)
    mine = [process for process in psutil.Process().children(recursive=True) if process not in before]
    assert len(mine) >= 2
    sandbox.close()
    sandbox.close()
    assert _gone(mine, 5)
    with pytest.raises(SandboxUnavailable, match="closed"):
        sandbox.run("answer = 1", {}, _NUMBER)


def test_close_while_a_script_runs() -> None:
    sandbox = Sandbox(rung=rungs.WITHOUT_BWRAP)
    sandbox.run("answer = 1", {}, _NUMBER)
    errors: list[BaseException] = []

    def loop() -> None:
        try:
            sandbox.run("while True: pass", {}, _NUMBER)
        except (SandboxFailure, SandboxUnavailable) as error:
            errors.append(error)

    thread = threading.Thread(target=loop)
    thread.start()
    time.sleep(0.3)
    sandbox.close()
    thread.join(5)
    assert not thread.is_alive()
    assert len(errors) == 1


def test_a_forgotten_sandbox_leaves_nothing() -> None:
    before = set(psutil.Process().children(recursive=True))
    sandbox = Sandbox(rung=rungs.WITHOUT_BWRAP)
    sandbox.warm()
    mine = [process for process in psutil.Process().children(recursive=True) if process not in before]
    del sandbox
    assert mine
    assert _gone(mine, 5)


@pytest.mark.parametrize("rung", [rungs.WITH_BWRAP, rungs.WITHOUT_BWRAP])
def test_a_worker_killed_while_it_starts_leaves_nothing(rung: str, make_sandbox: Callable[..., Sandbox]) -> None:
    make_sandbox(rung)
    before = set(psutil.Process().children(recursive=True))
    groups = []
    for milliseconds in (0, 1, 2, 3, 5, 8, 13, 40):
        worker = Zygote(rung, Limits())
        groups.append(worker._process.pid)
        time.sleep(milliseconds / 1000)
        worker.kill()
    assert not set(psutil.Process().children(recursive=True)) - before
    deadline = time.monotonic() + 10
    while left := [process for process in psutil.process_iter() if _group(process) in groups]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def _group(process: psutil.Process) -> int:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return -1


@pytest.fixture(scope="module")
def lively(make_sandbox: Callable[..., Sandbox]) -> Sandbox:
    """One worker, whose process the tests may look for."""
    return make_sandbox(rungs.WITHOUT_BWRAP)


def _worker_of(sandbox: Sandbox) -> int:
    return int(sandbox.run("import os\nanswer = os.getppid()", {}, _NUMBER).value)


def test_a_worker_killed_between_calls_is_replaced(lively: Sandbox) -> None:
    worker = psutil.Process(_worker_of(lively))
    worker.kill()
    assert _gone([worker])
    assert lively.run("answer = 2", {}, _NUMBER).value == 2


def test_a_worker_killed_during_a_call_fails_the_call(lively: Sandbox) -> None:
    timer = threading.Timer(0.4, os.kill, (_worker_of(lively), signal.SIGKILL))
    timer.start()
    with pytest.raises(SandboxFailure, match="lost"):
        lively.run("while True: pass", {}, _NUMBER)
    timer.join()
    assert lively.run("answer = 2", {}, _NUMBER).value == 2


def test_a_worker_started_by_a_thread_outlives_it(lively: Sandbox) -> None:
    os.kill(_worker_of(lively), signal.SIGKILL)
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(_worker_of, lively).result()
    time.sleep(0.2)
    assert _worker_of(lively) == first


def test_a_worker_is_replaced_after_its_share_of_calls(lively: Sandbox) -> None:
    first = _worker_of(lively)
    worker = lively._slots.get()
    assert worker is not None
    worker.calls = lively.limits.calls_per_worker - 1
    lively._slots.put(worker)
    assert _worker_of(lively) == first
    assert _worker_of(lively) != first


def test_threads_get_their_own_results() -> None:
    with Sandbox(workers=2) as sandbox, ThreadPoolExecutor(8) as pool:

        def ask(number: int) -> bool:
            frame = pd.DataFrame({"value": [float(number)] * 10})
            outcome = sandbox.run("answer = df['value'].mean()\nperiod = str(int(answer))", {"df": frame}, _NUMBER)
            return bool(outcome.value == number and outcome.period == str(number))

        assert all(pool.map(ask, range(40)))
