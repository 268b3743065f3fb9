"""What the benchmarks count that no other test does: what calls leave behind, and how far searches run side by side."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time

from finexpert.cli.bench import executions as bench_executions
from finexpert.cli.bench import parallel as bench_parallel


def test_what_calls_leave_behind() -> None:
    facts = bench_executions.executions(20)
    assert (facts["calls"], facts["with another end than theirs"]) == (20, 0)
    assert facts["zombies"] == [0, 0]
    assert facts["processes"][0] >= 1
    assert facts["MB resident"][0] > 10
    assert facts["processes after closing"] <= facts["processes"][0]


def test_a_process_that_was_not_cleared_away_is_counted() -> None:
    child = multiprocessing.get_context("fork").Process(target=signal.pause)
    child.start()
    assert child.pid is not None
    assert bench_executions.below(os.getpid())[child.pid] in "SRD"
    os.kill(child.pid, signal.SIGKILL)
    time.sleep(0.2)
    assert bench_executions._state()["zombies"] >= 1
    child.join()
    assert child.pid not in bench_executions.below(os.getpid())


def test_searches_run_side_by_side() -> None:
    facts = bench_parallel.parallel(latency=0.2, repeats=1)
    assert facts["searches side by side"] == 96
    # One after the other they would take about a hundred times as long as one.
    assert facts["ratio"] < 30
