"""Scripts that take too much, and replies that are not what they claim to be."""

from __future__ import annotations

import pandas as pd
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import SandboxFailure, ScriptError
from finexpert.sandbox import Limits, Sandbox

_NUMBER = AnswerFormat(kind="number")
_REPLY = """
import json, os, struct
def frame(header, *blobs):
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    return b"FXS1" + struct.pack("<I", len(text)) + text + b"".join(blobs)
"""


def _works(sandbox: Sandbox) -> bool:
    return bool(sandbox.run("answer = 1 + 1", {}, _NUMBER).value == 2)


@pytest.mark.parametrize(
    "code",
    [
        "x = bytearray(8 << 30)",
        "x = np.ones(1 << 30)",
        "x = [bytearray(10 << 20) for _ in range(1000)]",
        "f = pd.DataFrame({'k': [1] * 20000})\nx = f.merge(f, on='k')",
    ],
)
def test_memory(impatient: Sandbox, code: str) -> None:
    with pytest.raises(ScriptError, match=r"MemoryError.*more than 256 MB"):
        impatient.run(code + "\nanswer = 1", {}, _NUMBER)


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import signal\nfor n in (1, 2, 15, 24): signal.signal(n, signal.SIG_IGN)\nimport time\ntime.sleep(1000)",
    ],
)
def test_time(impatient: Sandbox, code: str) -> None:
    with pytest.raises(ScriptError, match=r"ran longer than 1\.5 s"):
        impatient.run(code, {}, _NUMBER)
    assert _works(impatient)


def test_processor_time() -> None:
    with (
        Sandbox(Limits(cpu_seconds=1), policy=False) as sandbox,
        pytest.raises(ScriptError, match="more than 1 s of processor time"),
    ):
        sandbox.run("while True: pass", {}, _NUMBER)


@pytest.mark.parametrize("write", ["print('x' * 1000)", "import os\n    os.write(1, b'y' * 65536)"])
def test_endless_output(impatient: Sandbox, write: str) -> None:
    with pytest.raises(ScriptError, match="printed more than 40000 bytes"):
        impatient.run(f"while True:\n    {write}", {}, _NUMBER)


def test_output_is_cut(impatient: Sandbox) -> None:
    outcome = impatient.run("print('x' * 20_000)\nanswer = 1", {}, _NUMBER)
    assert outcome.stdout == "x" * 10_000


def test_huge_answers(impatient: Sandbox) -> None:
    with pytest.raises(ScriptError, match="the table is too large"):
        impatient.run("answer = pd.DataFrame({'a': np.arange(1_000_000)})", {}, AnswerFormat(kind="table"))
    with pytest.raises(ScriptError, match="the table is too large"):
        impatient.run("answer = pd.DataFrame({'a': ['x' * 60000] * 100})", {}, AnswerFormat(kind="table"))
    with pytest.raises(ScriptError, match="too large"):
        impatient.run("answer = 'x' * 1_000_000", {}, AnswerFormat(kind="text"))
    with pytest.raises(ScriptError, match="too large"):
        impatient.run("answer = ['x' * 100] * 100_000", {}, AnswerFormat(kind="list", items="text"))
    assert _works(impatient)


def test_figures_have_limits(impatient: Sandbox) -> None:
    with pytest.raises(ScriptError, match="at most 8 figures"):
        impatient.run("[plt.figure(n) for n in range(9)]\nanswer = 1", {}, _NUMBER)
    with pytest.raises(ScriptError, match="larger than 4096 pixels"):
        impatient.run("plt.figure(figsize=(600, 1))\nanswer = 1", {}, _NUMBER)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import os; os._exit(0)", "ended its process"),
        ("import ctypes; ctypes.string_at(8)", "SIGSEGV"),
        (
            "import sys; sys.setrecursionlimit(10**7)\nf = lambda: f()\nf()",
            "ended its process|RecursionError|ran longer|MemoryError",
        ),
    ],
)
def test_death_of_the_script(impatient: Sandbox, code: str, error: str) -> None:
    with pytest.raises(ScriptError, match=error):
        impatient.run(code, {}, _NUMBER)
    assert _works(impatient)


def test_forged_reply_is_thrown_away(impatient: Sandbox) -> None:
    twice = "os.write(3, frame({'status': 'done', 'answer': ['int', '1']}) * 2)"
    with pytest.raises(SandboxFailure, match="bytes after the one frame"):
        impatient.run(f"{_REPLY}\n{twice}\nos._exit(0)", {}, _NUMBER)


def test_a_forged_answer_is_only_an_answer(impatient: Sandbox) -> None:
    """A script can say what it likes: it passes the same gate, and the same coercion."""
    forged = "os.write(3, frame({'status': 'done', 'answer': ['text', 'x']}))"
    with pytest.raises(ScriptError, match="must be a finite number"):
        impatient.run(f"{_REPLY}\n{forged}\nos._exit(0)", {}, _NUMBER)


def test_a_forged_error_holds_no_value(impatient: Sandbox) -> None:
    frame = pd.DataFrame({"name": ["Ottokar"], "pay": [48213.0]})
    forged = """
import json
words = ' '.join(str(v) for v in staff.iloc[0])
os.write(3, frame({'status': 'error', 'type': staff.iloc[0, 0], 'message': words, 'line': 1}))"""
    with pytest.raises(ScriptError) as caught:
        impatient.run(f"{_REPLY}\n{forged}\nos._exit(0)", {"staff": frame}, _NUMBER)
    assert "Ottokar" not in str(caught.value)
    assert "48213" not in str(caught.value)


def test_half_a_reply_and_then_nothing(impatient: Sandbox) -> None:
    with pytest.raises(ScriptError, match="ran longer"):
        impatient.run(f"{_REPLY}\nos.write(3, b'FXS1')\nimport time\ntime.sleep(99)", {}, _NUMBER)


def test_pickle_is_no_answer(impatient: Sandbox) -> None:
    with pytest.raises(ScriptError, match="not the bytes it is"):
        impatient.run("import pickle\nanswer = pickle.dumps([1])", {}, AnswerFormat(kind="text"))


def test_nothing_stays_for_the_next_call(impatient: Sandbox) -> None:
    impatient.run("import sys\npd.DataFrame.sum = lambda *a: 666\nleft = sys.left = 1\nanswer = 1", {}, _NUMBER)
    code = "import sys\nclean = not hasattr(sys, 'left') and 'left' not in globals()\n"
    code += "answer = clean and pd.DataFrame({'a': [1, 2]}).sum().iloc[0] == 3"
    assert impatient.run(code, {}, AnswerFormat(kind="boolean")).value is True


def test_a_script_that_breaks_its_own_worker_breaks_nothing_else(impatient: Sandbox) -> None:
    with pytest.raises(SandboxFailure):
        impatient.run("import builtins\nbuiltins.len = lambda x: 666\nanswer = 1", {}, _NUMBER)
    assert _works(impatient)


def test_frames_are_copies(sandbox: Sandbox, frames: dict[str, pd.DataFrame]) -> None:
    before = frames["gdp"].copy()
    sandbox.run("gdp.loc[:, 'value'] = 0.0\nanswer = 1", frames, _NUMBER)
    pd.testing.assert_frame_equal(frames["gdp"], before)
    assert sandbox.run("answer = gdp['value'].max()", frames, _NUMBER).value == before["value"].max()
