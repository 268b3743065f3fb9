"""What many calls into the sandbox leave behind; `finexpert bench sandbox --executions 10000` prints it.

    calls 1,000; MB resident 203.1, 205.2; open files 9, 8; processes 3, 1; zombies 0, 0

Every tenth script fails or ends its process, and workers are replaced as in any other run. Processes are those below this one.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

from finexpert.cli import common
from finexpert.cli.bench.soak import level

WARM_UP = 50
_FAILING = ("answer = 1 / 0", "import os\nos._exit(1)")


def executions(calls: int) -> dict[str, Any]:
    """Makes the calls one after the other and counts what there is before, after a warm-up, and after."""
    from finexpert.core.answers import AnswerFormat
    from finexpert.errors import ScriptError
    from finexpert.sandbox import Sandbox

    number, failed = AnswerFormat(kind="number"), 0

    def call(box: Sandbox, count: int) -> bool:
        code = _FAILING[count // 10 % 2] if count % 10 == 9 else f"answer = {count}"
        try:
            return bool(box.run(code, {}, number).value != count)
        except ScriptError:
            return count % 10 != 9

    with Sandbox(policy=False) as box, common.progress("executions", calls) as advance:
        for count in range(min(WARM_UP, calls)):
            call(box, count)
        before, started = _state(), time.perf_counter()
        for count in range(calls):
            failed += call(box, count)
            advance(1)
        seconds, after = time.perf_counter() - started, _state()
    return {
        "calls": calls,
        "calls a second": round(calls / seconds, 1),
        "with another end than theirs": failed,
        **{name: [before[name], after[name]] for name in before},
        "processes after closing": _state()["processes"],
    }


def _state() -> dict[str, float]:
    """What this process holds, and what is below it."""
    held, files = level()
    running = below(os.getpid())
    return {
        "MB resident": round(held, 1),
        "open files": files,
        "threads": threading.active_count(),
        "processes": len(running),
        "zombies": sum(state == "Z" for state in running.values()),
    }


def below(parent: int) -> dict[int, str]:
    """The states of all processes below one; none where the system does not show them."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name before it may hold anything, brackets too.
            state, above = entry.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has ended meanwhile
            continue
        parents[int(entry.parent.name)] = int(above), state
    found: dict[int, str] = {}
    new = {parent}
    while new:
        new = {process for process, (above, _) in parents.items() if above in new and process not in found}
        found |= {process: parents[process][1] for process in new}
    return found
