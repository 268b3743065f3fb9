"""Ctrl-C while a model is asked or a script runs: exit code 130, one word, no process left behind, no half-written file."""

from __future__ import annotations

import datetime as dt
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from finexpert.answers import recording
from finexpert.answers.records import Record
from finexpert.core.answers import Answer
from finexpert.core.plans import Plan, Script
from finexpert.core.workspace import Workspace
from finexpert.datasets.fred.database import open_fred
from finexpert.settings import Settings


class Silent(NamedTuple):
    """A server that takes a request and never answers."""

    url: str
    asked: threading.Event


@pytest.fixture
def silent() -> Iterator[Silent]:
    listening = socket.create_server(("127.0.0.1", 0))
    asked, held = threading.Event(), list[socket.socket]()

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            held.append(connection)
            if connection.recv(64).startswith(b"POST"):
                asked.set()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield Silent(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", asked)
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()
    for connection in held:
        connection.close()


class Running:
    """A command in a process group of its own, as a shell starts it."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "finexpert.cli.main", *arguments],
            cwd=folder,
            env=os.environ | {"FINEXPERT_API_KEY": "planted-key-7f3a9c"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def interrupt(self) -> tuple[int, str, str]:
        """Ctrl-C as a terminal sends it: to every process of the group."""
        os.killpg(self.process.pid, signal.SIGINT)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


def files(folder: Path) -> dict[Path, int]:
    """Files and when they were written; DSPy opens its cache even where nothing is kept, and what was found of the data is kept."""
    caches = {"dspy_cache", "profiles"}
    found = [path for path in folder.rglob("*") if path.is_file() and not caches & set(path.parts)]
    return {path: path.stat().st_mtime_ns for path in found}


def test_while_a_model_is_asked(home: Path, silent: Silent, tmp_path: Path) -> None:
    before = files(home)
    given = ("--lm", "openai/silent", "--api-base", silent.url, "--save-completions", "new.jsonl")
    running = Running(tmp_path, "ask", "How many?", *given)
    try:
        assert silent.asked.wait(60)
        children = running.children()
        assert running.interrupt() == (130, "", "interrupted\n")
    finally:
        running.process.kill()
    assert psutil.wait_procs(children, timeout=5)[1] == []
    assert files(home) == before
    assert list(tmp_path.iterdir()) == []


def test_while_a_script_runs(home: Path, tmp_path: Path) -> None:
    path = record(home, "answer = 0\nwhile True:\n    answer += 1").save(tmp_path)
    before = files(home)
    running = Running(tmp_path, "replay", str(path))
    try:
        # The warm interpreter, and the one forked from it for the script.
        deadline = time.monotonic() + 60
        while sum(busy(child) for child in running.children()) == 0:
            assert time.monotonic() < deadline, running.process.poll()
            time.sleep(0.1)
        children = running.children()
        assert running.interrupt() == (130, "", "interrupted\n")
    finally:
        running.process.kill()
    assert len(children) >= 2
    assert psutil.wait_procs(children, timeout=5)[1] == []
    assert files(home) == before
    assert list(tmp_path.iterdir()) == [path]


def busy(process: psutil.Process) -> bool:
    """Whether it was forked from another one, not started anew, and has computed since."""
    try:
        above = process.parent()
        return bool(above and above.cmdline() == process.cmdline() and process.cpu_times().user > 0.3)
    except psutil.NoSuchProcess:
        return False


def record(home: Path, code: str) -> Record:
    """The record of an answer that a script computed from no frame."""
    with open_fred(settings=Settings(home=home)) as source:
        answer = Answer(question="How many?", status="answered", value=1.0)
        plan = Plan(steps=[Script(id=1, task="", code=code)])
        return recording.of_answer(answer, plan, Workspace(), source, dt.date(2024, 9, 30), "")
