"""Runs the attacks and the analyses on a sandbox and says which were held, which work.

    for result in run_attacks(sandbox):
        print(result.case.name, result.held, result.said)

An attack is held if its outcome says what it must, no secret stands in it, nothing it aimed at was touched, its limits held
within two seconds, and the next script works; with the policy on it may also be refused, but must not say anything else. What the sandbox does not promise is listed in `isolation/rungs.py`, not tried here.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import pandas as pd

from finexpert.attacks.aims import Aims
from finexpert.attacks.cases import Case, cases
from finexpert.core.answers import AnswerFormat
from finexpert.errors import SandboxFailure, ScriptError
from finexpert.sandbox import Limits, Sandbox

# Small, so that what passes a limit is over soon; every script that is no attack stays far below.
LIMITS = Limits(wall_seconds=1.5, cpu_seconds=2, memory_bytes=256 << 20, stdout_bytes=10_000, result_bytes=4 << 20)
LATE_SECONDS = 2.0  # after its limit, by which a script is gone
_REFUSED = "ScriptError: the script was refused. "
_TEXT, _BOOLEAN, _TABLE = AnswerFormat(kind="text"), AnswerFormat(kind="boolean"), AnswerFormat(kind="table")


@dataclass(frozen=True)
class Result:
    """What came of one case: whether it went as it must, what the outcome said, and what is wrong otherwise."""

    case: Case
    held: bool
    said: str
    wrong: str
    seconds: float


def applies(case: Case, rung: str) -> bool:
    """Whether the attack is one that this machine and this rung promise to hold."""
    machine = "x86_64" not in case.marks or platform.machine() == "x86_64"
    return machine and ("bwrap" not in case.marks or rung.startswith("bwrap"))


def run_attacks(sandbox: Sandbox, chosen: Iterable[Case] | None = None, *, threads: int = 1) -> Iterator[Result]:
    """The result of every attack that applies, in order; `sandbox` should have the limits `LIMITS`."""
    chosen = [case for case in (cases("scripts") if chosen is None else chosen) if applies(case, sandbox.rung)]
    with ThreadPoolExecutor(threads, thread_name_prefix="attack") as pool:
        yield from pool.map(partial(attack, sandbox), chosen)


def attack(sandbox: Sandbox, case: Case) -> Result:
    """Run one attack and look at everything that it must not have done."""
    with Aims() as aims:
        frame = pd.DataFrame({"name": [aims.cell], "pay": [918273.5]})
        asked = _TABLE if "table(" in case.code and "{forge}" in case.code else _TEXT
        said, shown = _outcome(sandbox, case.filled(aims.places), {"staff": frame}, asked)
        took = sandbox.last_seconds
        wrong = list(aims.touched())
        refused = sandbox.policy and said.startswith(_REFUSED)
        if not refused and (re.search(case.expected, said, re.DOTALL) is None or not _is_held(case, said)):
            wrong.append("the outcome does not say what it must")
        if aims.secret in shown or aims.cell in said:
            wrong.append("a secret stands in the outcome")
        if took > sandbox.limits.wall_seconds + LATE_SECONDS:
            wrong.append(f"it took {took:.1f} s")
    wrong += _next_script(sandbox)
    return Result(case, not wrong, said, "; ".join(wrong), took)


def _is_held(case: Case, said: str) -> bool:
    return case.expected.startswith("answer") or not said.startswith("answer") or "answer:" in case.expected


def _outcome(sandbox: Sandbox, code: str, frames: dict[str, pd.DataFrame], asked: AnswerFormat) -> tuple[str, str]:
    """What an author of the script would be told; and all that came out, printed lines too."""
    try:
        outcome = sandbox.run(code, frames, asked)
    except (ScriptError, SandboxFailure) as error:
        said = f"{type(error).__name__}: {error}"
        return said, said
    said = f"answer: {outcome.value!r}"
    return said, said + outcome.stdout


def _next_script(sandbox: Sandbox) -> list[str]:
    """Whether an ordinary script still gives the right answer, as if nothing had been before it."""
    # A poisoned module is looked for where a script may import it.
    look = "clean = True" if sandbox.policy else "import json, sys\nclean = not hasattr(sys, 'poisoned')"
    code = f"{look}\nanswer = str(clean and int(pd.DataFrame({{'a': [1, 2]}})['a'].sum()) == 3 and len('four') == 4)"
    said, _ = _outcome(sandbox, code, {}, _TEXT)
    return [] if said == "answer: 'True'" else [f"the next script says {said[:200]}"]


def run_analyses(sandbox: Sandbox, chosen: Iterable[Case] | None = None) -> Iterator[Result]:
    """The result of every ordinary analysis: held means that it works."""
    for case in cases("analyses") if chosen is None else chosen:
        began = time.monotonic()
        said, _ = _outcome(sandbox, case.code, example_frames(), _BOOLEAN)
        works = said == "answer: True"
        yield Result(case, works, said, "" if works else said, time.monotonic() - began)


def example_frames() -> dict[str, pd.DataFrame]:
    """Twelve quarters of two regions, and a rate for each."""
    dates = pd.date_range("2018-01-01", periods=12, freq="QS")
    gdp = pd.DataFrame({"date": dates, "value": [100.0 + 5 * n for n in range(12)], "region": ["east", "west"] * 6})
    return {"gdp": gdp, "rates": pd.DataFrame({"date": dates, "rate": [1.5, 2.0, 0.5] * 4})}
