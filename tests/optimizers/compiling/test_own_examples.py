"""Layers judged over a database of the user's own: on its numbers alone, and with no row in a prompt or a demonstration."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.datasets.layers.copies import Copies
from finexpert.datasets.layers.sets import ExampleSets
from finexpert.modules.planning import Planning
from finexpert.modules.script_generation import ScriptGeneration
from finexpert.modules.sql_extraction import SqlExtraction
from finexpert.optimizers.compiling.tasks import CompileBench, Task, task_of
from finexpert.optimizers.planning import Carried
from finexpert.warehouse.local.duckdb_warehouse import Table, build_warehouse

SELECT = "SELECT exposure FROM positions WHERE desk = 'rates'"
RECORD: dict[str, Any] = {
    "id": "mine", "split": "train", "scenario": "own", "question": "How much is open?", "today": "2024-06-28",
    "frames": [{"name": "open", "columns": ["exposure"], "purpose": "exposures of the rates desk", "select": SELECT}],
}  # fmt: skip
SCRIPT = {"answer_format": {"kind": "number"}, "task": "1. Sum.", "code": "answer = open['exposure'].sum()"}
LAYERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "sql_extraction": (SqlExtraction, RECORD),
    "script_generation": (ScriptGeneration, RECORD | SCRIPT),
    "planning": (Planning, RECORD | SCRIPT | {"interpretation": "The sum."}),
}


@pytest.fixture
def own(bench: CompileBench, tmp_path: Path) -> Iterator[CompileBench]:
    """A bench with one example of each layer over one database."""
    rows = pd.DataFrame({"desk": ["rates", "rates", "fx"], "exposure": [777123.5, 1.5, 4.0]})
    small = pd.DataFrame({"fee": [0.25]})
    path = build_warehouse(tmp_path / "desk.duckdb", [Table("positions", rows), Table("fees", small)])
    files = {}
    for layer, (_, record) in LAYERS.items():
        files[layer] = [tmp_path / f"{layer}.jsonl"]
        files[layer][0].write_text(json.dumps(record))
    settings = bench.settings.model_copy(update={"privacy": "samples"})
    with Copies(data=path) as copies:
        yield replace(bench, settings=settings, examples=ExampleSets(files, True, copies))


def loaded(layer: str, own: CompileBench) -> tuple[Task, Any]:
    task = task_of(layer, own)
    return task, task.load("train")[0]


@pytest.mark.parametrize("layer", LAYERS)
def test_demonstrations_hold_the_tables_read_and_no_row(layer: str, own: CompileBench) -> None:
    task, record = loaded(layer, own)
    found = task.demonstrations(LAYERS[layer][0](), record)
    assert len(found) == (2 if layer == "sql_extraction" else 1)
    for place, demo in found.items():
        text = json.dumps(dict(demo.items()), default=str)
        assert place == "write_one" or demo.question == "How much is open?"
        assert "777123" not in text
        assert SELECT in text
        if layer != "script_generation":
            assert demo.schema_card.startswith("table positions")
            assert "fees" not in demo.schema_card


@pytest.mark.parametrize(
    ("select", "score"),
    [
        (SELECT, 1.0),
        ("SELECT exposure FROM positions WHERE exposure > 5 OR exposure < 2", 1.0),
        ("SELECT exposure FROM positions WHERE desk = 'fx'", 0.4),
        ("SELECT value FROM positions", 0.0),
    ],
)
def test_a_select_is_compared_on_the_numbers_there_are(select: str, score: float, own: CompileBench) -> None:
    task, record = loaded("sql_extraction", own)
    assert task.judge(record, {"open": select}).score == score


def test_a_script_and_a_plan_are_run_on_the_numbers_there_are(own: CompileBench) -> None:
    task, record = loaded("script_generation", own)
    assert [task.judge(record, f"answer = {code}").score for code in ("open.exposure.sum()", "777125.0", "1.0")] == [
        1.0,
        1.0,
        0.2,
    ]
    task, record = loaded("planning", own)
    carried = task.run(record, record.plan)
    assert (carried.value, task.judge(record, carried).score) == (777125.0, 1.0)
    assert task.judge(record, Carried(record.plan, 4.0)).score == 0.3
