"""`finexpert.evaluate`: the table of an evaluation as a frame, as the command prints it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import finexpert as package
from finexpert.errors import ConfigurationError
from finexpert.modules.financial_expert import FinancialExpert

ONLY = "year_cpi_rose_above_200,latest_recession"


def test_the_frame_is_the_table_of_the_command(finexpert: Any, tracked: Path) -> None:
    ran = finexpert("eval", "fred", "--only", ONLY, "--rungs", "+retries", "--lm", "recorded")
    found = package.evaluate("fred", lm="recorded", program=FinancialExpert(), only=ONLY, rungs="+retries")
    header, *rows = [
        line.split() for line in ran.out.splitlines() if line.startswith((" rung", " +retries", " single"))
    ]
    assert header == " ".join(found.columns).split()
    assert [row[:2] for row in rows] == [["+retries", "2/2"], ["single-call", "2/2"]]
    assert found[["rung", "right", "calls"]].values.tolist() == [["+retries", 1.0, 1.0], ["single-call", 1.0, 1.0]]


def test_the_rows_of_several_models_name_them(tracked: Path) -> None:
    found = package.evaluate("fred", lm=["recorded"] * 2, mode=["direct"], only="latest_recession")
    assert found[["model", "rung", "right"]].values.tolist() == [["recorded", "direct", 1.0]] * 2


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("fried", {}, "there is no evaluation 'fried'; there are "),
        ("fred", {"rung": "x"}, "unexpected keyword argument 'rung'; see `finexpert eval fred --help`"),
        ("house", {"filing": "page.json"}, "unexpected keyword argument 'filing'; see `finexpert eval house --help`"),
        ("fred", {"rungs": "first"}, "'first' is no rung; there are sql, "),
    ],
)
def test_what_cannot_be_evaluated_is_named(name: str, options: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        package.evaluate(name, lm="recorded", **options)
    assert why in str(caught.value)


def test_no_evaluation_imports_another() -> None:
    folder = Path(package.__file__).parent / "cli" / "eval"
    for file in folder.glob("*.py"):
        imported = [
            node.module or "" for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)
        ]
        assert file.name in ("command.py", "frame.py") or not [
            name for name in imported if name.startswith("finexpert.cli.eval.")
        ]
