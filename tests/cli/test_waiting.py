"""What a terminal shows while something is asked: on stderr, only on a terminal, and nothing of it stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dspy
import pytest

from finexpert.cli import waiting
from finexpert.core import progress
from finexpert.settings import Settings

ASK = ("ask", "How many recessions have there been in the last 30 years?", "--as-of", "2024-09-30", "--lm", "recorded")


def read_all(terminal: int) -> str:
    said = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    return said.decode(errors="replace")


def test_a_terminal_sees_the_stage_and_a_pipe_the_answer(home: Path) -> None:
    terminal, its_end = os.openpty()
    program = str(Path(sys.executable).with_name("finexpert"))
    with subprocess.Popen([program, *ASK], stdout=subprocess.PIPE, stderr=its_end, env=os.environ, text=True) as asked:
        os.close(its_end)
        shown = read_all(terminal)
        out = asked.stdout.read() if asked.stdout else ""
    os.close(terminal)
    assert asked.returncode == 0
    assert "Starting" in shown
    assert "0:00:0" in shown
    # The line is taken away at the end.
    assert shown.rstrip().endswith("\x1b[2K")
    assert "Answer: 3 recessions" in out
    assert "Starting" not in out


def test_the_last_stage_to_begin_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[str] = []
    bar: Any = SimpleNamespace(update=lambda task, description: named.append(description))
    shown = waiting._Shown(bar, 0)  # type: ignore[arg-type]
    with (
        progress.watching(progress.Watch(shown.hear)),
        progress.stage("extracting", "2 SELECTs"),
        progress.stage("checking"),
        progress.stage("checking"),
    ):
        pass
    with progress.watching(progress.Watch(shown.hear)), progress.stage("answering"):
        pass
    assert named == ["Running 2 SELECTs", "Checking", "Running 2 SELECTs", "Putting the answer together"]


def test_nothing_is_shown_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with waiting.waiting():
        pass
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("lm", "cache", "opened"), [("openai/x", True, True), ("openai/x", False, False), ("recorded", True, False)]
)
def test_completions_are_opened_beside_the_rest(
    monkeypatch: pytest.MonkeyPatch, lm: str, cache: bool, opened: bool
) -> None:
    monkeypatch.delitem(vars(dspy), "cache", raising=False)
    opening = waiting.completions_soon(Settings(lm=lm, cache=cache))
    if opening is not None:
        opening.join()
    assert ("cache" in vars(dspy)) is opened
