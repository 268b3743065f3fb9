"""`finexpert bench sandbox`: what a call into the sandbox costs, on each boundary that works here and beside other ways.

finexpert bench sandbox -n 30 --json

A call is timed from the frame in this process to the typed answer in it, with a warm worker: `answer = 1`, and the mean of a
column of 100,000 rows and five columns. A plain subprocess and DSPy's interpreters do the same; what does not start is said.
Then so many calls one after the other show what is left behind (`executions.py`).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.bench import executions as bench_executions
from finexpert.cli.bench import frame

if TYPE_CHECKING:
    import pandas as pd

ROWS = 100_000
_SMALL, _FRAME = "answer = 1", "answer = df['a'].mean()"
_PLAIN = "import sys, pandas as pd, pyarrow as pa\ndf = pa.ipc.open_stream(sys.stdin.buffer).read_pandas()\n"
_LISTS = "import statistics\nstatistics.fmean(df['a'])"
Call = Callable[[], object]


def sandbox(
    n: Annotated[int, typer.Option("-n", min=3, help="Calls to time, after two that are not counted.")] = 30,
    executions: Annotated[
        int, typer.Option(min=0, help="Calls in a row, after which memory, open files and processes are counted.")
    ] = 200,
    as_json: common.Json = False,
) -> None:
    """Time a call into the sandbox on each boundary beside other ways, and count what many calls leave behind."""
    common.settings_from()
    ways = dict(_measured(n))
    left = bench_executions.executions(executions) if executions else {}
    frame.tell(
        {"n": n, "rows": ROWS, "calls": ways, "executions": left},
        as_json,
        title=f"a warm call, median (95th percentile) in ms, n = {n}",
        columns=("where", "small answer", f"mean over {ROWS:,} rows"),
        rows=[(name, *_words(found)) for name, found in ways.items()],
        facts=left,
    )


def _words(found: dict[str, Any]) -> list[str]:
    if "not started" in found:
        return [found["not started"], ""]
    return [f"{figure['median_ms']:.1f} ({figure['p95_ms']:.1f})" for figure in found.values()]


def _measured(n: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each way by name, with what it took or why it did not start."""
    from finexpert.isolation.rungs import RUNGS, problem

    data = _frame()
    for rung in RUNGS:
        why = problem(rung)
        yield rung, {"not started": why} if why else _tried(partial(_in_sandbox, rung, data), n)
    yield "python -c, pandas imported", _tried(partial(_in_subprocess, data), max(3, n // 5))
    for name in ("LocalInterpreter", "PythonInterpreter"):
        yield f"dspy.{name}", _tried(partial(_in_dspy, name, data), n)


def _frame() -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    return pd.DataFrame(np.random.default_rng(0).random((ROWS, 5)), columns=list("abcde"))


def _tried(ways: Callable[[], Any], n: int) -> dict[str, Any]:
    from dspy import CodeInterpreterError

    from finexpert.errors import FinexpertError

    try:
        with ways() as (small, large):
            return {
                "small": frame.figures(frame.seconds_of(small, n)),
                "frame": frame.figures(frame.seconds_of(large, n)),
            }
    except (FinexpertError, CodeInterpreterError, OSError, subprocess.SubprocessError) as error:
        return {"not started": str(error).splitlines()[0]}


@contextmanager
def _in_sandbox(rung: str, data: pd.DataFrame) -> Iterator[tuple[Call, Call]]:
    from finexpert.core.answers import AnswerFormat
    from finexpert.sandbox import Sandbox

    number = AnswerFormat(kind="number")
    with Sandbox(rung=rung) as box:
        yield lambda: box.run(_SMALL, {}, number), lambda: box.run(_FRAME, {"df": data}, number)


@contextmanager
def _in_subprocess(data: pd.DataFrame) -> Iterator[tuple[Call, Call]]:
    from finexpert.sandbox.tables import encode_input

    def run(code: str, given: bytes) -> None:
        program = f"{code}\nprint(answer)"
        subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, check=True, timeout=60)

    yield (
        lambda: run(f"import pandas as pd\n{_SMALL}", b""),
        lambda: run(_PLAIN + _FRAME, encode_input(data)),
    )


@contextmanager
def _in_dspy(name: str, data: pd.DataFrame) -> Iterator[tuple[Call, Call]]:
    """The frame goes as lists, which is what these interpreters take; neither is asked for pandas."""
    import dspy

    def lists() -> dict[str, Any]:
        return {"df": {column: data[column].tolist() for column in data}}

    with getattr(dspy, name)() as interpreter:
        yield lambda: interpreter.execute("1"), lambda: interpreter.execute(_LISTS, variables=lists())
