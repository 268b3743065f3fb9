"""Ordinary analysis works with every lock in place, and is not refused."""

from __future__ import annotations

from finexpert.attacks.cases import Case, cases
from finexpert.attacks.scripts import run_analyses
from finexpert.sandbox import Sandbox, policy


def test_benign_script_works(benign: Case, on_each_rung: Sandbox) -> None:
    assert policy.refusals(benign.code) == []
    [result] = run_analyses(on_each_rung, [benign])
    assert result.held, result.said


def test_benign_script_works_with_the_policy_on(benign: Case, sandbox: Sandbox) -> None:
    [result] = run_analyses(sandbox, [benign])
    assert result.held, result.said


def test_there_are_enough() -> None:
    assert len({case.name for case in cases("analyses")}) == len(cases("analyses")) >= 40
