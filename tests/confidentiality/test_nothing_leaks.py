"""No cell and no key in anything that commands leave behind: screens, logs, records, exports, stores, MLflow, recordings.

What an answer says is data on purpose; here every answer is a count, so that any cell that is found has leaked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CELLS = {"the note of a row": "zyxwcanary", "an amount": "918273645", "an amount as printed": "918,273,645"}
# What stands on the left must be there, or nothing was looked at.
PLACES = {
    "screens and errors": "out/*.txt",
    "logs at the level DEBUG": "debug.log",
    "records": "home/records/*.json",
    "figures": "home/records/*.png",
    "conversations": "home/sessions/*.json",
    "what was taught": "home/stores/*",
    "recorded completions": "recordings/*.jsonl",
    "the trace of a conversation": "trace.json",
    "exported scripts": "exported.py",
    "exported processes": "processes/*.md",
    "exported words": "words.csv",
    "results of an evaluation": "results.json",
    "runs, parameters, tags and traces of MLflow": "runs/mlflow.db",
    "artifacts of MLflow": "runs/artifacts/**/*",
    "DSPy's cache of completions": "cache/**/*",
}


def contents(folder: Path, pattern: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob(pattern) if path.is_file()}


def found(left: Any, pattern: str, secrets: dict[str, str]) -> set[tuple[str, str]]:
    files = contents(left.folder, pattern)
    assert files, f"nothing was left at {pattern}"
    return {(path, name) for path, held in files.items() for name, secret in secrets.items() if secret.encode() in held}


@pytest.mark.parametrize("place", PLACES)
def test_no_cell(left: Any, place: str) -> None:
    assert found(left, PLACES[place], CELLS) == set()


@pytest.mark.parametrize("place", PLACES)
def test_no_key(left: Any, place: str) -> None:
    assert found(left, PLACES[place], left.secrets) == set()


def test_no_cell_in_a_prompt(left: Any) -> None:
    prompts = left.seen["prompts"]
    assert len(prompts) > 8
    assert not [prompt for prompt in prompts if any(cell in prompt for cell in CELLS.values())]


def test_only_the_key_of_the_house_is_sent(left: Any) -> None:
    assert f"Bearer {left.keys['FINEXPERT_API_KEY']}" in left.seen["keys"]
    others = [key for name, key in left.keys.items() if name != "FINEXPERT_API_KEY"]
    assert not [sent for sent in left.seen["keys"] if any(key in sent for key in others)]


def test_no_file_but_the_data_holds_a_cell_or_a_key(left: Any) -> None:
    """Places that the table above does not know."""
    kept = {
        name: held for name, held in contents(left.folder, "**/*").items() if name not in ("sales.duckdb", "seen.json")
    }
    secrets = CELLS | left.secrets
    leaks = {(path, name) for path, held in kept.items() for name, secret in secrets.items() if secret.encode() in held}
    assert leaks == set()


def test_the_commands_did_what_they_are_here_for(left: Any) -> None:
    """Answers, failures of every kind, and errors that repeated the key or would have repeated a cell."""
    codes = left.seen["codes"]
    assert {name for name, code in codes.items() if code == 0} >= {
        "ask-json",
        "ask-chart",
        "chat",
        "export",
        "evaluate",
    }
    assert {"ask-leaking", "ask-refused", "ask-password", "ask-unreachable", "ask-database", "store-unreachable"} <= {
        name for name, code in codes.items() if code != 0
    }
    screens = {path.stem: path.read_text("utf-8") for path in (left.folder / "out").iterdir()}
    # Of an exception that the script made its kind is told, and its line.
    assert "ValueError (line" in screens["ask-leaking"]
    assert "provided: ***" in screens["ask-refused"]
    assert "***@127.0.0.1" in screens["ask-password"]
