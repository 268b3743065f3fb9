"""One run of many commands, over data with canaries and with planted keys; the tests look at what it left."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from finexpert.warehouse.local.duckdb_warehouse import Table, build_warehouse

HERE = Path(__file__).parent
CANARY, NUMBER = "zyxwcanary", 918273645.5


def _planted() -> dict[str, str]:
    """Keys by the variable that holds them: none of them is real, and none of them stands in this file."""
    word = secrets.token_hex
    return {
        "FINEXPERT_API_KEY": f"house-{word(12)}",
        "OPENAI_API_KEY": f"sk-proj-{word(20)}",
        "ANTHROPIC_API_KEY": f"sk-ant-api03-{word(20)}",
        "AWS_ACCESS_KEY_ID": f"AKIA{word(8).upper()}",
        "AWS_SECRET_ACCESS_KEY": f"{word(10)}/{word(9)}",
        "HF_TOKEN": f"hf_{word(17)}",
    }


class Left(NamedTuple):
    """What the commands left: their folder, the planted keys, and what the server saw."""

    folder: Path
    keys: dict[str, str]
    seen: dict[str, Any]

    @property
    def secrets(self) -> dict[str, str]:
        """Every key, and the password that stood in addresses."""
        return self.keys | {"the password of an address": "urlpassw0rd7"}


def run_commands(folder: Path, commands: Path, keys: dict[str, str], **settings: str) -> Left:
    dates = pd.date_range("2020-01-01", periods=6, freq="MS")
    rows = {"date": dates, "note": [f"{CANARY}{n}" for n in range(6)], "amount": [NUMBER + n for n in range(6)]}
    build_warehouse(folder / "sales.duckdb", [Table("sales", pd.DataFrame(rows), date_column="date")])
    question = {"id": "count", "question": "How many months?", "answer_format": {"kind": "integer"}, "gold": 6}
    leaky = question | {"id": "leaky", "question": "How many notes?"}
    lines = [json.dumps(one | {"as_of": "2020-12-31"}) for one in (question, leaky)]
    (folder / "mine.jsonl").write_text("\n".join(lines) + "\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FINEXPERT", "MLFLOW", "OPENAI"))}
    given = {"FINEXPERT_HOME": str(folder / "home"), "DSPY_CACHEDIR": str(folder / "cache"), "COLUMNS": "150"}
    given |= {"FINEXPERT_EMBEDDER": "words", "FINEXPERT_AS_OF": "2020-12-31", "FINEXPERT_TIMEOUT": "5"}
    given["PYTHONPATH"] = str(HERE.parent / "helpers")
    ran = subprocess.run(
        [sys.executable, str(HERE / "run_commands.py"), str(folder), str(commands)],
        cwd=folder,
        env=kept | given | keys | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
        umask=0o022,
    )
    assert ran.returncode == 0, ran.stderr
    return Left(folder, keys, json.loads((folder / "seen.json").read_text()))


@pytest.fixture(scope="session")
def left(tmp_path_factory: pytest.TempPathFactory) -> Left:
    return run_commands(tmp_path_factory.mktemp("left"), HERE / "commands.txt", _planted())
