"""`finexpert sandbox`: the attacks in a table, and what stands around scripts here."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from finexpert.attacks import statements
from finexpert.attacks.cases import Case, Kind
from finexpert.cli.sandbox.command import sandbox_app
from finexpert.sandbox import available_rung

_SCRIPT = Case("files", "read", frozenset(), "PermissionError|FileNotFoundError", "answer = open('{secret}').read()")
_ANALYSIS = Case("analyses", "a sum", frozenset(), "", "answer = 1 + 1 == 2")
_STATEMENT = Case("files", "read text", frozenset(), "QueryError", "SELECT * FROM read_text('{folder}/secret.csv')")


def _few(script: Case) -> object:
    return lambda kind: {"scripts": [script], "analyses": [_ANALYSIS], "statements": [_STATEMENT]}[kind]


def _run(monkeypatch: pytest.MonkeyPatch, script: Case, *arguments: str) -> tuple[int, str]:
    for module in ("finexpert.attacks.cases", "finexpert.attacks.scripts", "finexpert.attacks.statements"):
        monkeypatch.setattr(f"{module}.cases", _few(script))
    monkeypatch.setattr("finexpert.isolation.rungs.RUNGS", (available_rung(),))
    done = CliRunner().invoke(sandbox_app, ["attack", "--workers", "1", *arguments])
    return done.exit_code, done.stdout


def test_what_is_held_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    code, shown = _run(monkeypatch, _SCRIPT, "--json")
    suites = json.loads(shown[shown.index("{") :])
    assert [one for results in suites.values() for one in results if not one["held"]] == []
    assert code == 0
    assert [one["held"] for one in suites["statements on DuckDB"]] == [True]
    assert any(name.startswith("scripts on ") for name in suites)


def test_what_is_not_held_ends_with_exit_code_one(monkeypatch: pytest.MonkeyPatch) -> None:
    code, shown = _run(monkeypatch, Case("files", "gets through", frozenset(), "PermissionError", "answer = 'out'"))
    assert code == 1
    assert "NOT HELD: files: gets through" in shown


def test_status_names_the_boundary_and_its_gaps() -> None:
    done = CliRunner().invoke(sandbox_app, ["status", "--json"])
    facts = json.loads(done.stdout)
    assert done.exit_code == 0
    assert facts["rung"].endswith("landlock+seccomp")
    assert facts["denied"]["fork"] == "EPERM"
    assert len(facts["not covered"]) >= 3


def test_the_memory_of_a_statement_is_measured() -> None:
    with statements.Peak() as peak:
        block = bytearray(200 << 20)
        block[:] = b"x" * len(block)
    assert peak.bytes > 100 << 20


def test_every_kind_has_cases() -> None:
    from finexpert.attacks.cases import cases

    kinds: tuple[Kind, ...] = ("scripts", "analyses", "statements")
    assert [len(cases(kind)) > 40 for kind in kinds] == [True] * 3
