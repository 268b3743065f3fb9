"""`finexpert examples`: what it lists, what it finds wrong, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from finexpert.cli.examples import examples_app
from finexpert.datasets.layers.examples import LAYERS, fingerprint, load
from finexpert.errors import ConfigurationError, QuestionFileError

RIGHT: dict[str, Any] = {
    "id": "fees", "split": "train", "scenario": "fund", "question": "How much in fees?", "today": "2024-06-28",
    "frames": [{"name": "fees", "columns": ["fee_usd"], "purpose": "fees", "select": "SELECT fee_usd FROM trades"}],
    "answer_format": {"kind": "number"}, "task": "1. Sum.", "code": "answer = fees['fee_usd'].sum()",
}  # fmt: skip


def run(*arguments: str) -> Result:
    return CliRunner().invoke(examples_app, list(arguments), catch_exceptions=False)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file with a right record, a wrong reference and a wrong line."""
    path = tmp_path / "mine.jsonl"
    wrong = RIGHT | {"id": "lucky", "question": "How much?", "code": "answer = 5"}
    path.write_text("\n".join([json.dumps(RIGHT), json.dumps(wrong), json.dumps(RIGHT | {"split": "test"})]))
    return path


def test_list_names_every_layer_with_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    ran = run("list")
    assert ran.exit_code == 0
    for layer in LAYERS:
        row = next(line for line in ran.output.splitlines() if layer in line)
        assert fingerprint(layer)[:12] in row
        assert f" {len(load(layer, 'holdout'))} " in row


def test_a_right_file_passes(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    without_script = {key: value for key, value in RIGHT.items() if key not in ("answer_format", "task", "code")}
    path.write_text(json.dumps(without_script))
    ran = run("check", "sql_extraction", "--file", str(path))
    assert ran.exit_code == 0
    assert "fund 1" in ran.output
    assert "no problem" in ran.output


def test_what_is_wrong_is_named_with_file_and_line(mine: Path) -> None:
    ran = run("check", "script_generation", "--file", str(mine))
    assert ran.exit_code == 1
    assert f"{mine}, line 2: lucky: the answer is the same on both variants: 5.0" in ran.output
    assert f"{mine}, line 3: split: " in ran.output
    assert "2 problems" in ran.output
    assert "line 1" not in ran.output


def test_a_file_needs_its_layer(mine: Path) -> None:
    ran = run("check", "--file", str(mine))
    assert ran.exit_code == 2
    assert "--file needs the layer" in ran.output


def test_an_unknown_layer_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no example set of 'sql'"):
        run("check", "sql")
    with pytest.raises(QuestionFileError, match="cannot be read"):
        run("check", "planning", "--file", str(tmp_path / "none.jsonl"))


def test_a_layer_without_references_is_read_and_counted() -> None:
    ran = run("check", "memory_lookup")
    assert ran.exit_code == 0
    assert "memory_lookup" in ran.output
    assert "no problem" in ran.output


def test_turns_of_convfinqa_are_taken_from_the_file_named(tmp_path: Path) -> None:
    from importlib.resources import files

    path = tmp_path / "mine.jsonl"
    record = {"id": "c", "split": "val", "convfinqa": "Single_HRBR/2015/page_41.pdf-1", "turn": 2}
    path.write_text(json.dumps(record))
    pages = files("finexpert.datasets") / "questions" / "convfinqa_sample.json"
    ran = run("check", "planning", "--file", str(path), "--convfinqa", str(pages))
    assert ran.exit_code == 0
    assert "HRBR/2015/page_41.pdf 1" in ran.output
