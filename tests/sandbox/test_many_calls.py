"""After many calls there are as many processes, open files and threads as before, and no more memory.

Three hundred calls here, with workers that are replaced and killed in between; `finexpert bench sandbox --executions 10000` makes more.
"""

from __future__ import annotations

import threading

import psutil

from finexpert.core.answers import AnswerFormat
from finexpert.errors import ScriptError
from finexpert.isolation import rungs
from finexpert.sandbox import Limits, Sandbox

_NUMBER = AnswerFormat(kind="number")
_CALLS = 300


def test_nothing_is_left_behind() -> None:
    me = psutil.Process()
    limits = Limits(calls_per_worker=120)
    with Sandbox(limits, rung=rungs.WITHOUT_BWRAP, policy=False) as sandbox:
        for number in range(50):
            sandbox.run(f"answer = {number}", {}, _NUMBER)
        handles, threads, held = me.num_fds(), threading.active_count(), me.memory_info().rss
        processes = len(me.children(recursive=True))
        for number in range(_CALLS):
            if number == 100:
                try:
                    sandbox.run("import os\nos._exit(1)", {}, _NUMBER)
                except ScriptError:
                    continue
            assert sandbox.run(f"answer = {number}", {}, _NUMBER).value == number
        after = me.children(recursive=True)
        assert [one for one in after if one.status() == psutil.STATUS_ZOMBIE] == []
        assert len(after) <= processes + 1
        assert me.num_fds() <= handles + 2
        assert threading.active_count() <= threads
        assert me.memory_info().rss - held < 20 << 20
