"""Processes: none is left behind, whatever happens to the parent, and threads do not disturb each other."""

from __future__ import annotations

import contextlib
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

from finexpert.core.answers import AnswerFormat
from finexpert.errors import SandboxFailure, SandboxUnavailable, ScriptError
from finexpert.isolation import rungs
from finexpert.isolation.handle import Reply
from finexpert.sandbox import Limits, Sandbox
from finexpert.sandbox.verdict import judge
from finexpert.sandbox.zygote import Zygote

_NUMBER = AnswerFormat(kind="number")
_PARENT = """
    import sys, threading, time
    import psutil
    from finexpert.core.answers import AnswerFormat
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


def _kill_workers(sandbox: Sandbox, times: int, busy: float = 0.0) -> threading.Thread:
    """Kills the worker whose script runs, and has used so many seconds of the processor, so often in turn."""

    def kill() -> None:
        deadline = time.monotonic() + 30
        killed: set[int] = set()
        while len(killed) < times and time.monotonic() < deadline:
            time.sleep(0.05)
            for worker in [one for one in list(sandbox._all) if one.alive and isinstance(one, Zygote)]:
                process = psutil.Process(worker._process.pid)
                with contextlib.suppress(psutil.Error):
                    if process.pid not in killed and any(
                        child.cpu_times().user >= busy for child in process.children()
                    ):
                        process.kill()
                        killed.add(process.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


_LONG = "end = dt.datetime.now() + dt.timedelta(seconds=2)\nwhile dt.datetime.now() < end: pass\nanswer = 3"


def test_a_call_whose_worker_is_killed_is_made_once_more(lively: Sandbox) -> None:
    thread = _kill_workers(lively, 1)
    assert lively.run(_LONG, {}, _NUMBER).value == 3
    thread.join()


def test_a_call_whose_workers_are_killed_fails_and_names_the_next_command(lively: Sandbox) -> None:
    thread = _kill_workers(lively, 2)
    with pytest.raises(SandboxFailure, match=r"sandbox's worker .*; see `finexpert doctor`$"):
        lively.run(_LONG, {}, _NUMBER)
    thread.join()
    assert lively.run("answer = 2", {}, _NUMBER).value == 2


def test_a_call_that_has_given_something_back_is_not_made_again(lively: Sandbox) -> None:
    thread = _kill_workers(lively, 1, busy=0.2)
    with pytest.raises(SandboxFailure, match="worker is lost"):
        lively.run("print('here', flush=True)\nwhile True: pass", {}, _NUMBER)
    thread.join()


@pytest.mark.parametrize(("seconds", "said"), [(0.5, "most likely for want of memory"), (60.0, "s of processor time")])
def test_a_script_that_is_killed_is_told_why(seconds: float, said: str) -> None:
    """By the machine that has no memory left, or by the limit of processor time, which no script can outrun."""
    with pytest.raises(ScriptError, match=said):
        judge(Reply(None, int(signal.SIGKILL), b"", seconds), "answer = 1", [], _NUMBER, Limits())


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
