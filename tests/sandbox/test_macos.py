"""The rung of macOS as far as it can be tried elsewhere: its profile, its choice, its protocol, and that it fails closed.

That the profile denies what it says is tried on a Mac alone; no Mac has run these tests yet.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import psutil
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import SandboxUnavailable, ScriptError
from finexpert.isolation import launch, rungs
from finexpert.isolation.macos import lockdown as lockdown_macos
from finexpert.isolation.macos import sandbox_exec
from finexpert.sandbox import Limits, Sandbox

_NUMBER = AnswerFormat(kind="number")
_PROVE = "def enter(cpu_seconds):\n    pass\ndef prove():\n    return [[name, 'EPERM'] for name in NAMES]\n"


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], None]]:
    """A sandbox-exec that starts the program and denies nothing; the worker's self-test is believed if asked for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "sandbox-exec"
        program.write_text('#!/bin/sh\n[ "$1" = -p ] || exit 64\nshift 2\nexec "$@"\n')
        program.chmod(0o755)
        copy = folder / "finexpert"
        for own in launch.own_folders():
            shutil.copytree(own, copy / Path(own).name, ignore=shutil.ignore_patterns("__pycache__"))

        def make(believed: bool) -> None:
            monkeypatch.setattr(sandbox_exec, "problem", lambda: None)
            monkeypatch.setattr(sandbox_exec, "PROGRAM", str(program))
            monkeypatch.setattr(launch, "WORKER", copy / "sandbox" / "worker.py")
            if believed:
                with (copy / "isolation" / "macos" / "lockdown.py").open("a") as file:
                    file.write(_PROVE)

        yield make


def test_it_is_for_macos_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert "not macOS" in str(sandbox_exec.problem())
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(shutil, "which", lambda program: None)
    assert "not on the path" in str(sandbox_exec.problem())
    monkeypatch.setattr(shutil, "which", lambda program: f"/usr/bin/{program}")
    assert sandbox_exec.problem() is None
    assert rungs.available_rung() == rungs.ON_MACOS


def test_the_profile_allows_reading_and_nothing_else() -> None:
    lines = sandbox_exec.profile(["/opt/python/lib"], "/opt/python/bin/python3").splitlines()
    assert lines[:5] == [
        "(version 1)",
        "(deny default)",
        "(deny network*)",
        "(deny process-fork)",
        "(deny file-write*)",
    ]
    allowed = [line.split()[1].strip("()") for line in lines if line.startswith("(allow")]
    assert set(allowed) == {
        "process-exec", "file-read-metadata", "file-read*", "file-write-data", "sysctl-read", "signal",
    }  # fmt: skip
    text = "\n".join(lines)
    assert text.count("(") == text.count(")")
    assert '(allow file-write-data (literal "/dev/null"))' in lines
    assert "network*" not in text.replace("(deny network*)", "")


@pytest.mark.parametrize("path", ['/a"b', "/a\\b", "/a\nb"])
def test_a_path_cannot_change_the_profile(path: str) -> None:
    with pytest.raises(ValueError, match="cannot stand in a sandbox profile"):
        sandbox_exec.profile([path], "/python")


def test_only_libraries_can_be_read() -> None:
    paths = [Path(path) for path in sandbox_exec.readable()]
    for closed in (
        Path(launch.__file__).resolve().parents[2],
        Path.home(),
        Path("/"),
        Path("/usr/local"),
        Path("/Users"),
    ):
        assert closed not in paths


def test_a_worker_runs_one_script(pretended: Callable[[bool], None]) -> None:
    pretended(True)
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    code = "import os\nprint('seen')\nanswer = os.getpid() + 0 * df['a'].sum()"
    with Sandbox(Limits(wall_seconds=5), rung=rungs.ON_MACOS, policy=False) as sandbox:
        first = sandbox.run(code, {"df": pd.DataFrame({"a": range(200_000)})}, _NUMBER)
        assert first.stdout == "seen\n"
        with pytest.raises(ScriptError, match="KeyError"):
            sandbox.run("answer = {}['a']", {}, _NUMBER)
        with pytest.raises(ScriptError, match="ended its process"):
            sandbox.run("import os\nos._exit(3)", {}, _NUMBER)
        second = sandbox.run(code, {"df": pd.DataFrame({"a": [1]})}, _NUMBER)
        assert first.value != second.value
        assert [name for name, _ in sandbox.self_test] == list(lockdown_macos.NAMES)
    assert not {process.pid for process in psutil.Process().children(recursive=True)} - before


def test_a_profile_that_denies_nothing_gets_no_script(pretended: Callable[[bool], None], tmp_path: Path) -> None:
    pretended(False)
    out = tmp_path / "out"
    with (
        Sandbox(rung=rungs.ON_MACOS, policy=False) as sandbox,
        pytest.raises(SandboxUnavailable, match="the sandbox leaks"),
    ):
        sandbox.run(f"open({str(out)!r}, 'w')\nanswer = 1", {}, _NUMBER)
    assert not out.exists()


def test_a_worker_that_cannot_start_is_named(
    pretended: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretended(True)
    monkeypatch.setattr(
        sandbox_exec, "command", lambda own, interpreter: ["/bin/sh", "-c", "echo 'unbound variable' >&2; exit 65"]
    )
    with (
        Sandbox(rung=rungs.ON_MACOS) as sandbox,
        pytest.raises(SandboxUnavailable, match="unbound variable"),
    ):
        sandbox.run("answer = 1", {}, _NUMBER)
