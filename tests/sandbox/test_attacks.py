"""Every attack that ships with the package, with the early refusal switched off.

Covered: reading and writing files, links, /proc, the environment, networks, processes, threads, signals, tracing, limits,
namespaces, the kernel's surface, memory, time, output, forged replies, and the ways from pandas to the system. The weaker
boundary is tried with all of them but the slow ones, the stronger with those that it answers in another way. Not covered is
what `not_covered` in `isolation/rungs.py` lists.
"""

from __future__ import annotations

import platform
from collections.abc import Callable

import pytest
from control import unconfined

from finexpert.attacks.cases import Case, cases
from finexpert.attacks.scripts import LIMITS, Result, run_attacks
from finexpert.core.answers import AnswerFormat
from finexpert.isolation import rungs
from finexpert.sandbox import Sandbox

_OTHERWISE = {"reading files", "writing files", "the process and its surroundings", "network", "processes"}
_FAST = [case for case in cases("scripts") if "slow" not in case.marks]
_CHOSEN = [(rungs.WITHOUT_BWRAP, case) for case in _FAST if "bwrap" not in case.marks]
_CHOSEN += [(rungs.WITH_BWRAP, case) for case in _FAST if case.group in _OTHERWISE]


@pytest.fixture(scope="module")
def results(make_sandbox: Callable[..., Sandbox]) -> Callable[[str], dict[str, Result]]:
    """The results on a rung by name: all of its attacks run side by side when the first is asked for."""
    known: dict[str, dict[str, Result]] = {}

    def run(rung: str) -> dict[str, Result]:
        if rung not in known:
            sandbox = make_sandbox(rung, limits=LIMITS, workers=3)
            sandbox.warm()
            chosen = [case for where, case in _CHOSEN if where == rung]
            known[rung] = {one.case.name: one for one in run_attacks(sandbox, chosen, threads=3)}
            sandbox.close()
        return known[rung]

    return run


@pytest.mark.parametrize(("rung", "case"), _CHOSEN, ids=[f"{rung.split('+')[0]}-{case.name}" for rung, case in _CHOSEN])
def test_attack_is_held(results: Callable[[str], dict[str, Result]], rung: str, case: Case) -> None:
    if "x86_64" in case.marks and platform.machine() != "x86_64":
        pytest.skip("an attack on x86_64")
    result = results(rung)[case.name]
    assert result.held, f"{result.wrong}: {result.said}"


def test_attacks_succeed_without_the_sandbox() -> None:
    """The control: what the sandbox stops is not broken by itself."""
    chosen = cases("scripts")
    reached = unconfined(chosen)
    may_lack = {case.name for case in chosen if "feature" in case.marks}
    failed = {name: outcome for name, outcome in reached.items() if outcome != "answer" and name not in may_lack}
    assert not failed
    assert len(reached) > 80


def test_the_suite_is_whole() -> None:
    """No two attacks of one name, none without an expectation, and as many as are promised."""
    chosen = cases("scripts")
    assert len({case.name for case in chosen}) == len(chosen) >= 200
    assert all(case.expected and case.code for case in chosen)
    known = {"no control", "feature", "x86_64", "bwrap", "slow"}
    assert {mark for case in chosen for mark in case.marks} == known


def test_a_boundary_that_leaks_is_noticed(make_sandbox: Callable[..., Sandbox]) -> None:
    """The runner itself: an attack that reaches something, or says something else, is not held."""
    leaks = [
        Case("", "answers", frozenset(), "PermissionError", "answer = 'through'"),
        Case("", "says a secret", frozenset(), "ScriptError", "raise ValueError('{secret}')\n"),
        Case("", "says another thing", frozenset(), "PermissionError", "answer = 1 / 0"),
    ]
    found = list(run_attacks(make_sandbox(rungs.WITHOUT_BWRAP), leaks))
    assert [(one.case.name, one.held) for one in found] == [
        ("answers", False),
        ("says a secret", True),
        ("says another thing", False),
    ]


def test_a_script_sees_nothing_of_the_parent(on_each_rung: Sandbox) -> None:
    """No host name of the home folder, no package of the program, a fixed clock zone."""
    code = "import os, sys\nanswer = sorted(os.environ)"
    seen = on_each_rung.run(code, {}, AnswerFormat(kind="list", items="text")).value
    assert "PATH" in seen
    assert not [name for name in seen if "FINEXPERT" in name or "KEY" in name or "USER" in name]
