"""The rung of a container: its command line, what is refused, and its protocol against an engine that only pretends.

A real engine is used where FINEXPERT_SANDBOX_IMAGE names an image when the tests start (`finexpert sandbox image` makes one): then the
ordinary analyses run in it, too. Its attacks are run by `finexpert sandbox attack --rung container`.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pandas as pd
import psutil
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import SandboxFailure, SandboxUnavailable, ScriptError
from finexpert.isolation import launch, rungs
from finexpert.isolation.containers import container, image, surroundings
from finexpert.isolation.containers.container import Engine
from finexpert.isolation.containers.zygote import ContainerZygote
from finexpert.sandbox import Limits, Sandbox

_IMAGE = "sha256:" + "4711" * 16
_NUMBER = AnswerFormat(kind="number")
_ENGINE = """#!{python}
import json, sys, time
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(words) + "\\n")
if words[0] != "run":
    print("unix:///var/run/docker.sock" if words[0] == "context" else "")
elif "-m" in words:
    import finexpert.isolation.containers.relay as relay
    sys.argv, relay.CACHE = ["relay", words[-1]], {folder!r}
    {body}
"""
_PRETENDS = "relay.surroundings.gaps = lambda outside: []\n    relay.main()"
Fake = Callable[..., Path]


@pytest.fixture
def fake_docker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """Put a program called docker on the path that does what `body` says where a worker is to be run; where it logs its words."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        log = folder / "log"

        def make(body: str = _PRETENDS) -> Path:
            program = folder / "bin" / "docker"
            program.write_text(_ENGINE.format(python=sys.executable, log=str(log), folder=name, body=body))
            program.chmod(0o755)
            monkeypatch.setenv("PATH", str(folder / "bin"))
            monkeypatch.setenv(container.VARIABLE, _IMAGE)
            return log

        yield make


def _said(log: Path) -> list[list[str]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def _values(line: list[str], flag: str) -> list[str]:
    return [line[place + 1] for place, word in enumerate(line) if word == flag]


@pytest.mark.parametrize("program", ["docker", "podman"])
def test_the_command_line_shuts_it_in(program: str) -> None:
    line = Engine(f"/usr/bin/{program}", _IMAGE).relay("name", {"outside": "/x"}, Limits())
    expected = {
        "--network": ["none"],
        "--user": ["65534:65534"],
        "--cap-drop": ["ALL"],
        "--security-opt": ["no-new-privileges"],
        "--ipc": ["none"],
        "--pids-limit": ["64"],
        "--pull": ["never"],
        "--log-driver": ["none"],
        "--memory": [str(2 << 30)],
        "--memory-swap": [str(2 << 30)],
        "--ulimit": ["nofile=256:256", "nproc=1024:1024", "core=0:0"],
    }
    assert {flag: _values(line, flag) for flag in expected} == expected
    assert {"--read-only", "--rm", "--interactive"} <= set(line)
    assert ("--http-proxy=false" in line) is (program == "podman")
    flags = {word.split("=")[0] for word in line[: line.index(_IMAGE)] if word.startswith("-")}
    assert not flags & {
        "-v",
        "--volume",
        "--mount",
        "--privileged",
        "-e",
        "--env",
        "--env-file",
        "--cap-add",
        "--device",
        "-p",
    }


@pytest.mark.parametrize(
    "name", ["python:3.11", "finexpert", "sha256:47", f"-v@{_IMAGE}", f"{_IMAGE} --privileged", ""]
)
def test_an_image_without_a_digest_is_refused(name: str, fake_docker: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    log = fake_docker()
    monkeypatch.setenv(container.VARIABLE, name)
    with pytest.raises(SandboxUnavailable, match=r"sha256:<64 digits>|no image is set"):
        Sandbox(rung=rungs.IN_CONTAINER)
    assert not log.exists()


@pytest.mark.parametrize("name", [_IMAGE, f"localhost/finexpert@{_IMAGE}", f"registry:5000/a/b@{_IMAGE}"])
def test_an_image_by_digest_is_taken(name: str) -> None:
    assert Engine("docker", name).problem_of_name() is None


def test_an_engine_on_another_machine_is_refused(fake_docker: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_docker()
    monkeypatch.setenv("DOCKER_HOST", "ssh://analyst@elsewhere")
    with pytest.raises(SandboxUnavailable, match="another machine"):
        Sandbox(rung=rungs.IN_CONTAINER)


def test_a_script_runs_and_nothing_of_the_environment_goes_in(
    fake_docker: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-4711")
    assert "OPENAI_API_KEY" not in container.client_environment()
    log = fake_docker()
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    frame = pd.DataFrame({"value": range(300_000)})
    with Sandbox(Limits(wall_seconds=5), rung=rungs.IN_CONTAINER, policy=False) as sandbox:
        assert dict(sandbox.self_test)["fork"] == "EPERM"
        outcome = sandbox.run("print('x' * 70_000)\nanswer = df['value'].mean()", {"df": frame}, _NUMBER)
        assert (outcome.value, len(outcome.stdout)) == (149999.5, 64 << 10)
        table = sandbox.run("answer = df.head(200_000)", {"df": frame}, AnswerFormat(kind="table")).value
        assert len(table) == 200_000
        with pytest.raises(ScriptError, match="KeyError"):
            sandbox.run("answer = df['salary']", {"df": frame}, _NUMBER)
        with pytest.raises(ScriptError, match="ended its process"):
            sandbox.run("import os\nos._exit(3)", {}, _NUMBER)
        assert sandbox.run("answer = 2", {}, _NUMBER).value == 2
    runs = [line for line in _said(log) if line[0] == "run" and "-m" in line]
    assert len({_values(line, "--name")[0] for line in runs}) == len(runs) == 2
    assert not {process.pid for process in psutil.Process().children(recursive=True)} - before
    assert not [one for one in threading.enumerate() if one.name.startswith("sandbox-container")]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("relay.main()", "not shut in.*sees the files outside"),
        (
            "relay.surroundings.gaps = lambda o: []; relay.surroundings.build = lambda: 'old'; relay.main()",
            "another version",
        ),
        ("sys.exit('Cannot connect to the daemon')", "did not come up .*Cannot connect to the daemon"),
        ("print('hello' * 1000, flush=True); sys.stdin.read()", "did not come up"),
        (
            "sys.stdout.buffer.write(b'W\\x02\\0\\0\\0[]'); sys.stdout.flush(); sys.stdin.read()",
            "does not speak as it should",
        ),
        ("time.sleep(60)", "not ready after 2 s"),
    ],
)
def test_an_engine_that_is_none_gets_no_script(fake_docker: Fake, tmp_path: Path, body: str, why: str) -> None:
    fake_docker(body)
    out = tmp_path / "out"
    patience = 2 if "sleep" in body else 60
    with (
        Sandbox(Limits(start_seconds=patience), rung=rungs.IN_CONTAINER, policy=False) as sandbox,
        pytest.raises((SandboxUnavailable, SandboxFailure), match=why),
    ):
        sandbox.run(f"open({str(out)!r}, 'w').write('ran')\nanswer = 1", {}, _NUMBER)
    assert not out.exists()


def test_an_engine_that_fails_is_named(fake_docker: Fake) -> None:
    log = fake_docker()
    program = log.parent / "bin" / "docker"
    program.write_text("#!/bin/sh\n[ $1 = run ] && { echo 'no such image' >&2; exit 125; }\nexit 0\n")
    with pytest.raises(SandboxUnavailable, match="docker fails with exit status 125: no such image"):
        Sandbox(rung=rungs.IN_CONTAINER)
    assert "125" in rungs.describe()["rungs"][rungs.IN_CONTAINER]


def test_gaps_are_seen_from_inside(tmp_path: Path) -> None:
    assert "it sees the files outside" in surroundings.gaps(str(tmp_path))
    assert "it sees the files outside" not in surroundings.gaps(str(tmp_path / "nothing"))


def test_the_image_holds_an_interpreter_and_nothing_of_the_project() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip(f"an image is made on Linux only, not on {sys.platform}")
    places = {str(place) for place in image.files()}
    mine = {place.split("/finexpert/")[1] for place in places if "/finexpert/" in place}
    assert mine == set(surroundings.INSIDE)
    assert container.INTERPRETER in places
    assert any(place.endswith("/pandas/core/frame.py") for place in places)
    assert not [place for place in places if "/duckdb/" in place or "/dspy/" in place or place.startswith("/bin/")]
    assert any("/ld-linux" in place or "/ld-musl" in place for place in places)


def test_the_image_is_owned_by_root_and_can_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret-mode").write_text("x")
    (tmp_path / "secret-mode").chmod(0o600)
    monkeypatch.setattr(image, "files", lambda: {PurePosixPath("/usr/local/x"): tmp_path / "secret-mode"})
    sink = io.BytesIO()
    assert image.write(sink) == 1
    sink.seek(0)
    with tarfile.open(fileobj=sink) as archive:
        entries = {entry.name: entry for entry in archive}
    assert {(entry.uid, entry.uname) for entry in entries.values()} == {(0, "")}
    assert entries["usr/local/x"].mode == 0o644
    packages = {name.split("/finexpert/")[1] for name in entries if name.endswith("__init__.py")}
    assert packages == {f"{folder}__init__.py" for folder in ("", "isolation/", "isolation/containers/", "sandbox/")}


def test_an_engine_that_makes_no_image_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(image, "files", dict)
    monkeypatch.setattr(launch, "compile_packages", lambda: None)
    engine = tmp_path / "podman"
    engine.write_text("#!/bin/sh\necho 'no space left' >&2\nexit 125\n")
    engine.chmod(0o755)
    with pytest.raises(SandboxUnavailable, match="no space left"):
        image.build(str(engine))
    engine.write_text(f"#!/bin/sh\ncat > /dev/null\necho {_IMAGE}\n")
    assert image.build(str(engine)) == _IMAGE


def test_a_real_container_leaves_nothing(make_sandbox: Callable[..., Sandbox]) -> None:
    sandbox = make_sandbox(rungs.IN_CONTAINER, limits=Limits(wall_seconds=1.5))
    assert sandbox.run("answer = 1", {}, _NUMBER).value == 1
    names = {worker._name for worker in sandbox._all if isinstance(worker, ContainerZygote)}
    with pytest.raises(ScriptError, match="ran longer"):
        sandbox.run("while True: pass", {}, _NUMBER)
    assert sandbox.last_seconds < 1.5 + 5
    names |= {worker._name for worker in sandbox._all if isinstance(worker, ContainerZygote)}
    sandbox.close()
    engine = container.usable()
    assert engine is not None
    left = set(engine.ask("ps", "--all", "--format", "{{.Names}}").stdout.split())
    assert len(names) == 2
    assert not names & left
