"""Without a boundary, or with one that leaks, nothing is executed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import ConfigurationError, SandboxFailure, SandboxUnavailable
from finexpert.isolation import landlock, launch, rungs
from finexpert.sandbox import Sandbox, available_rung, describe

_CODE = "open({out!r}, 'w').write('ran')\nanswer = 1"
# It still forbids new privileges: without that the kernel takes no filter.
_NO_LANDLOCK = "def restrict(readable):\n    _libc.prctl(38, 1, 0, 0, 0)\n    return 7"
_COLD = "def warm_up():\n    pass"
Break = Callable[[str, str], None]


@pytest.fixture
def break_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Break:
    """Append lines to a file of a copy of the worker, and have that copy started."""
    copy = tmp_path / "finexpert"
    for own in launch.own_folders():
        shutil.copytree(own, copy / Path(own).name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(launch, "WORKER", copy / "sandbox" / "worker.py")

    def change(name: str, lines: str) -> None:
        (path,) = copy.glob(f"*/{name}")
        main = 'if __name__ == "__main__":'
        source = path.read_text()
        path.write_text(source.replace(main, f"{lines}\n\n{main}") if main in source else f"{source}\n{lines}\n")

    return change


def test_no_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(SandboxUnavailable, match="no Landlock"):
        available_rung()
    with pytest.raises(SandboxUnavailable, match="finexpert doctor"):
        Sandbox()
    assert describe()["rung"] is None


def test_unknown_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(SandboxUnavailable, match="riscv64"):
        Sandbox()


def test_other_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(SandboxUnavailable, match="darwin, not Linux"):
        Sandbox()


def test_without_bwrap_the_next_rung_is_taken_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rungs, "bwrap_program", lambda: None)
    assert Sandbox().rung == rungs.WITHOUT_BWRAP == describe()["rung"]
    with pytest.raises(SandboxUnavailable, match="bwrap is not installed"):
        Sandbox(rung=rungs.WITH_BWRAP)


def test_unknown_rung() -> None:
    with pytest.raises(ConfigurationError, match="'none'"):
        Sandbox(rung="none")


@pytest.fixture
def fake_bwrap(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Put a shell script called bwrap first on the path, in a folder that every user can read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)

        def make(body: str) -> None:
            program = Path(folder) / "bwrap"
            program.write_text(f"#!/bin/sh\n{body}\n")
            program.chmod(0o755)
            monkeypatch.setenv("PATH", folder)

        yield make


def test_bwrap_that_fails(fake_bwrap: Callable[[str], None]) -> None:
    fake_bwrap("echo No permissions to create new namespace >&2; exit 1")
    assert Sandbox().rung == rungs.WITHOUT_BWRAP
    assert "No permissions" in describe()["rungs"][rungs.WITH_BWRAP]


def test_bwrap_that_hides_nothing(fake_bwrap: Callable[[str], None]) -> None:
    fake_bwrap('while [ "$1" != --chdir ]; do shift; done; shift 2; exec "$@"')
    with Sandbox(policy=False) as sandbox:
        assert sandbox.rung == rungs.WITH_BWRAP
        with pytest.raises(SandboxUnavailable, match="bwrap hides nothing"):
            sandbox.run("answer = 1", {}, AnswerFormat())


@pytest.mark.parametrize(
    ("file", "lines", "error"),
    [
        ("seccomp.py", "def install(**given):\n    pass", "the sandbox leaks"),
        ("seccomp.py", "def install(**given):\n    raise OSError(22, 'Invalid argument')", "Invalid argument"),
        ("landlock.py", _NO_LANDLOCK, "the sandbox leaks"),
        ("landlock.py", "def restrict(readable):\n    raise OSError(95, 'not supported')", "did not come up"),
        ("lockdown.py", "def prove():\n    return []", "did not prove"),
        ("lockdown.py", "def prove():\n    raise NotLocked('fork: not denied')", "fork: not denied"),
        ("worker.py", "def main():\n    raise SystemExit('cannot start')", "cannot start"),
    ],
)
def test_a_worker_that_is_not_locked_gets_no_script(
    break_worker: Break, tmp_path: Path, file: str, lines: str, error: str
) -> None:
    break_worker("worker.py", _COLD)
    break_worker(file, lines)
    with (
        Sandbox(rung=rungs.WITHOUT_BWRAP, policy=False) as sandbox,
        pytest.raises((SandboxUnavailable, SandboxFailure), match=error),
    ):
        sandbox.run(_CODE.format(out=str(tmp_path / "out")), {}, AnswerFormat())
    assert not (tmp_path / "out").exists()


def test_a_worker_without_any_lock_gets_no_script(break_worker: Break, tmp_path: Path) -> None:
    """With both locks gone the script could write: it must not be read at all."""
    break_worker("worker.py", _COLD)
    break_worker("seccomp.py", "def install(**given):\n    pass")
    break_worker("landlock.py", _NO_LANDLOCK)
    tmp_path.chmod(0o777)
    with (
        Sandbox(rung=rungs.WITHOUT_BWRAP, policy=False) as sandbox,
        pytest.raises(SandboxUnavailable, match="the sandbox leaks"),
    ):
        sandbox.run(_CODE.format(out=str(tmp_path / "out")), {}, AnswerFormat())
    assert not (tmp_path / "out").exists()


def test_the_copy_works_when_it_is_not_broken(break_worker: Break) -> None:
    """The control: what the tests above see is their change, not the copying."""
    break_worker("seccomp.py", "")
    with Sandbox(rung=rungs.WITHOUT_BWRAP) as sandbox:
        assert sandbox.run("answer = 1", {}, AnswerFormat()).value == 1
        assert {error for _, error in sandbox.self_test} <= {"EPERM", "EACCES", "ENOENT"}
