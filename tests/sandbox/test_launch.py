"""How a worker is started: what it may read, what it is told, and who it is."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from finexpert.isolation import launch, lockdown


def test_the_environment_is_made_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-4711")
    made = launch.environment("/cache")
    assert "OPENAI_API_KEY" not in made
    assert set(made) <= lockdown.ENVIRONMENT


def test_only_libraries_can_be_read() -> None:
    paths = [Path(path) for path in launch.readable()]
    project = Path(launch.__file__).resolve().parents[2]
    for closed in (project, Path.home(), Path("/"), Path("/etc"), Path("/usr"), Path("/proc"), Path(sys.prefix)):
        assert closed not in paths
    assert Path(os.__file__).parent in paths


def test_bwrap_gets_no_proc_no_dev_and_nothing_to_write() -> None:
    line = launch.bubblewrap("bwrap", "/cache")
    assert not {"--proc", "--dev", "--bind", "--dev-bind", "--clearenv", "--share-net"} & set(line)
    assert {"--unshare-all", "--die-with-parent", "--new-session", "--remount-ro"} <= set(line)
    bound = [line[place + 1] for place, word in enumerate(line) if word == "--ro-bind"]
    assert set(bound) == {*launch.readable(), launch.interpreter()}


def test_the_command_tells_the_worker_what_it_may_read() -> None:
    line = launch.command({"control": 5, "parent": 1}, bwrap=None, cache="/cache")
    setup = json.loads(line[-1])
    assert setup["readable"] == launch.readable()
    assert setup["control"] == 5
    assert {"-s", "-P", "-S", "-B"} <= set(line)


def test_root_becomes_nobody_where_nobody_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(launch, "open_to_others", lambda path: True)
    assert launch.user() == launch.NOBODY
    monkeypatch.setattr(launch, "open_to_others", lambda path: "python" not in path)
    assert launch.user() is None
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert launch.user() is None


def test_a_folder_is_open_only_if_the_way_to_it_is(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    # Side by side, the folder of all runs lies one further up.
    for folder in (each for each in (tmp_path, *tmp_path.parents[:3]) if "pytest" in str(each)):
        folder.chmod(0o755)
    inner.chmod(0o755)
    (tmp_path / "a").chmod(0o755)
    assert launch.open_to_others(str(inner))
    (tmp_path / "a").chmod(0o700)
    assert not launch.open_to_others(str(inner))
    assert not launch.open_to_others(str(inner / "missing"))


def test_bytecode_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "numpy"
    package.mkdir()
    (package / "__init__.py").write_text("x = 1")
    monkeypatch.setattr(launch, "site_folders", lambda: (str(tmp_path),))
    monkeypatch.setattr(launch, "_IMPORTS", "import numpy")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    launch._compile_packages.__wrapped__()
    written = next((package / "__pycache__").iterdir())
    before = written.stat().st_mtime_ns
    launch._compile_packages.__wrapped__()
    assert written.stat().st_mtime_ns == before
