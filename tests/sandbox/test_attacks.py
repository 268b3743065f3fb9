"""Every attack of attacks.txt on every rung, with the early refusal switched off.

Covered: reading and writing files, links, /proc, the environment, networks, processes, threads, signals, tracing, limits,
namespaces, memory outside the limits, pickles, and the ways from pandas to the system. Not covered here: limits and
forged results (test_limits.py), and what this boundary does not promise: that a file's existence stays hidden without
bwrap, kernel faults, side channels, and that an answer says nothing about the frames it was computed from.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from finexpert.answers import AnswerFormat
from finexpert.errors import ScriptError
from finexpert.sandbox import Sandbox

_SECRET = "only the host knows 4711"
_CONTROL = """
import contextlib, io, json, sys
import matplotlib; matplotlib.use('Agg')
import numpy as np, pandas as pd
reached = []
for title, code in json.load(sys.stdin):
    names = {'pd': pd, 'np': np}
    try:
        exec(code, names)
    except Exception as error:
        reached.append([title, repr(error)])
    else:
        reached.append([title, 'answer' if names.get('answer') else 'no answer'])
print(json.dumps(reached))
"""


@pytest.fixture
def places(tmp_path: Path) -> Iterator[dict[str, str | int]]:
    """What the attacks aim at: real files, a real port, a real socket."""
    (tmp_path / "secret").write_text(_SECRET)
    (tmp_path / "victim").write_text("alive")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "unix"))
        unix.listen()
        yield {
            "secret": str(tmp_path / "secret"),
            "victim": str(tmp_path / "victim"),
            "out": str(tmp_path / "out"),
            "port": tcp.getsockname()[1],
            "unix": str(tmp_path / "unix"),
        }


def test_attack_is_denied(
    attack: tuple[str, str], on_each_rung: Sandbox, places: dict[str, str | int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINEXPERT_TEST_SECRET", _SECRET)
    title, code = attack
    with pytest.raises(ScriptError, match=title.split("~")[1].strip()) as caught:
        on_each_rung.run(code.format(**places), {}, AnswerFormat(kind="text"))
    assert _SECRET not in str(caught.value)
    assert not Path(str(places["out"])).exists()
    assert not Path("/dev/shm/finexpert-attack").exists()
    assert Path(str(places["victim"])).read_text() == "alive"


def test_attacks_succeed_without_the_sandbox(
    attacks: list[tuple[str, str]], places: dict[str, str | int], tmp_path: Path
) -> None:
    """The control: what the sandbox stops is not broken by itself."""
    cases = []
    for number, (title, code) in enumerate(attacks):
        victim = tmp_path / f"victim-{number}"
        victim.write_text("alive")
        own = {**places, "victim": str(victim), "out": str(tmp_path / f"out-{number}.png")}
        if "!" not in title:
            cases.append((title, code.format(**own)))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _CONTROL],
        input=json.dumps(cases),
        env={**os.environ, "FINEXPERT_TEST_SECRET": _SECRET},
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
    )
    reached = json.loads(done.stdout.splitlines()[-1])
    expected_to_need_a_system_feature = {"enter a new namespace", "set up io_uring", "make System V memory"}
    failed = [(title, outcome) for title, outcome in reached if outcome != "answer"]
    unexplained = [case for case in failed if case[0].split("~")[0].strip() not in expected_to_need_a_system_feature]
    assert not unexplained
    assert len(reached) == len(cases) > 40


def test_a_script_sees_nothing_of_the_parent(on_each_rung: Sandbox) -> None:
    """No host name of the home folder, no package of the program, a fixed clock zone."""
    code = "import os, sys\nanswer = sorted(os.environ)"
    seen = on_each_rung.run(code, {}, AnswerFormat(kind="list", items="text")).value
    assert "PATH" in seen
    assert not [name for name in seen if "FINEXPERT" in name or "KEY" in name or "USER" in name]


def test_existence_is_hidden_by_the_mount_namespace(on_each_rung: Sandbox, tmp_path: Path) -> None:
    if "bwrap" not in on_each_rung.rung:
        pytest.skip("without a mount namespace stat answers: a documented limit of this rung")
    code = f"import os\nanswer = os.path.exists({str(tmp_path)!r}) or os.path.exists('/etc/passwd')"
    assert on_each_rung.run(code, {}, AnswerFormat(kind="boolean")).value is False
