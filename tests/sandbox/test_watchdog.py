"""Resident memory is watched from outside, also where the limit of address space is far too high."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import ScriptError
from finexpert.isolation.watchdog import Watchdog, pages_of, process_of
from finexpert.sandbox import Limits, Sandbox

_NUMBER = AnswerFormat(kind="number")


@pytest.fixture(scope="module")
def roomy(make_sandbox: Callable[..., Sandbox]) -> Sandbox:
    """The strongest boundary of this machine, with a limit of address space that is far too high."""
    return make_sandbox(limits=Limits(memory_bytes=4 << 30, resident_bytes=600 << 20))


def test_a_script_that_holds_too_much_is_killed(roomy: Sandbox) -> None:
    held = "blocks = []\nfor _ in range(40):\n    blocks.append(bytes(50 << 20).replace(bytes(1), b'x'))"
    with pytest.raises(ScriptError, match="held more than 600 MB of memory"):
        roomy.run(f"{held}\nimport time\ntime.sleep(9)\nanswer = 1", {}, _NUMBER)
    assert roomy.run("answer = 1 + 1", {}, _NUMBER).value == 2


def test_what_is_only_mapped_does_not_count(roomy: Sandbox) -> None:
    code = "import mmap, time\nblock = mmap.mmap(-1, 2 << 30)\ntime.sleep(0.2)\nanswer = len(block)"
    assert roomy.run(code, {}, _NUMBER).value == 2 << 30


def test_a_process_that_is_gone_is_not_seen() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        handle = os.pidfd_open(child.pid)
        assert process_of(handle) == child.pid
        assert Watchdog(handle, 1).passed()
        child.kill()
        child.wait()
    try:
        assert process_of(handle) is None
        assert pages_of(child.pid) is None
        assert not Watchdog(handle, 1).passed()
    finally:
        os.close(handle)


def test_it_looks_only_now_and_then() -> None:
    handle = os.pidfd_open(os.getpid())
    try:
        watchdog = Watchdog(handle, 1)
        assert [watchdog.passed(), watchdog.passed()] == [True, False]
    finally:
        os.close(handle)
