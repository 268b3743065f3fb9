"""A script that looks for a word of the question in vain is no answer: a person is asked which value is meant, and told to the model what was said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

GUESS = """
m = budget.version.str.contains('approved|agreed', case=False)
if not m.any():
    m = budget.version.notna()
answer = float(budget.loc[m, 'eur'].sum())
"""
SELECT = "SELECT version, eur FROM budgets"
QUESTION = "What is the approved budget?"


@pytest.fixture
def source(tmp_path: Path) -> Iterator[DuckDBWarehouse]:
    rows = pd.DataFrame({"version": ["Draft", "Final", "Final"], "eur": [1.0, 2.0, 3.0]})
    with DuckDBWarehouse(build_warehouse(tmp_path / "own.duckdb", [Table("budgets", rows)])) as opened:
        yield opened


def plan(desk: Any, code: str, about: str = "the approved budget") -> str:
    return str(desk.plan(code, "number", select=SELECT, columns=("version", "eur"), frame="budget", about=about))


def test_a_person_is_asked_and_what_is_said_is_told(desk: Any, source: DuckDBWarehouse) -> None:
    desk.says("planning", plan(desk, GUESS))
    session = desk.session(source)
    answer = session.ask(QUESTION, clarify=True)
    assert answer.status == "needs_clarification"
    assert answer.clarification.candidates == ["Draft", "Final"]
    assert (answer.clarification.place, answer.clarification.term) == ("budget.version", "approved")
    assert "'Draft'" not in "".join(desk.of("planning"))
    assert "script_generation" not in desk.layers

    session.chosen["budget.version=approved"] = "Final"
    desk.says("planning", plan(desk, "answer = float(budget.loc[budget.version == 'Final', 'eur'].sum())"))
    answer = session.ask(QUESTION, clarify=True)
    assert (answer.status, answer.value) == ("answered", 5.0)
    assert "By 'approved' the user means the value 'Final' of version." in desk.of("planning")[-1]


def test_nobody_there_is_a_refusal_that_says_what_the_column_holds(desk: Any, source: DuckDBWarehouse) -> None:
    desk.says("planning", plan(desk, GUESS))
    answer = desk.session(source).ask(QUESTION, clarify=False)
    assert (answer.status, answer.failure.kind) == ("failed", "unknown value")
    assert answer.failure.message.endswith("budget.version holds 'Draft', 'Final'")


@pytest.mark.parametrize("guess", ["final", "FINAL"])
def test_another_spelling_goes_back_to_the_script(desk: Any, source: DuckDBWarehouse, guess: str) -> None:
    script = "answer = float(budget.loc[budget.version == '%s', 'eur'].sum())"
    desk.says("planning", plan(desk, script % guess, "the final budget"))
    desk.says("script_generation", desk.fields(code=script.replace("version ==", "version.str.lower() ==") % "final"))
    answer = desk.session(source).ask("What is the final budget?", clarify=True)
    assert (answer.status, answer.value) == ("answered", 5.0)
    assert "line 1: no value of budget.version is" in desk.of("script_generation")[0]


def test_what_nobody_spoke_of_is_the_script_s_own(desk: Any, source: DuckDBWarehouse) -> None:
    code = "k = 1000 if budget.version.str.contains('thousand').any() else 1\nanswer = float(budget.eur.sum()) * k"
    desk.says("planning", plan(desk, code, "all budgets"))
    answer = desk.session(source).ask("What is the sum of all budgets?", clarify=True)
    assert (answer.status, answer.value) == ("answered", 6.0)
