"""`--mode` on the commands: one for a question, several for a paired comparison."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FRED = ("eval", "fred", "--only", "year_cpi_rose_above_200,latest_recession", "--lm", "recorded")
Scripted = Callable[[Any], list[str]]


def runs(store: Path) -> list[Any]:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{store}")
    return list(client.search_runs([experiment.experiment_id for experiment in client.search_experiments()]))


def test_fred_in_several_modes(finexpert: Any, tracked: Path, home: Path) -> None:
    modes = ("--mode", "direct", "--mode", "checked", "--mode", "single-call")
    ran = finexpert(*FRED, *modes, "--plot", "pareto.png", "--json", "out.json")
    assert ran.code == 0
    written = json.loads(Path("out.json").read_text())
    assert {r["rung"] for r in written["results"]} == {"direct", "checked", "single-call"}
    compared = written["comparison"]
    assert [(p["name"], p["accuracy"]["right"], p["calls"]) for p in compared["points"]] == [
        ("direct", 2, 1.0),
        ("checked", 2, 1.0),
        ("single-call", 2, 1.0),
    ]
    assert Path("pareto.png").read_bytes().startswith(b"\x89PNG")
    assert "checked against direct: 0 won, 0 lost; McNemar p = 1.000" in ran.out
    parent = next(run for run in runs(tracked) if run.info.run_name == "eval fred")
    assert parent.data.metrics["modes/direct/accuracy"] == 1.0


def test_convfinqa_in_two_modes(finexpert: Any, tracked: Path, home: Path) -> None:
    ran = finexpert(
        "eval", "convfinqa", "--lm", "recorded", "--mode", "direct", "--mode", "checked", "--json", "out.json"
    )
    assert ran.code == 0
    written = json.loads(Path("out.json").read_text())
    assert [report["mode"] for report in written["reports"]] == ["direct", "checked"]
    turns = [t for r in written["reports"][0]["conversations"] for t in r["turns"]]
    assert {turn["confidence"] for turn in turns} == {None}
    assert len(written["comparison"]["points"]) == 2


@pytest.mark.parametrize("command", [("ask", "how many?"), ("chat",), ("eval", "fred"), ("eval", "convfinqa")])
def test_an_unknown_mode_is_one_line(finexpert: Any, command: tuple[str, ...]) -> None:
    ran = finexpert(*command, "--mode", "six")
    assert ran.code != 0
    assert "there is no mode 'six'; the modes are direct, checked, cheap-first, reviewed, panel, single-call" in ran.err


def test_the_mode_of_a_question(finexpert: Any, scripted: Scripted) -> None:
    prompts = scripted(["no form at all"])
    ran = finexpert("ask", "how many?", "--mode", "direct", "--assume", "--json")
    assert ran.code == 3
    assert len(prompts) == 1  # in direct mode nothing is repaired


def test_fred_across_models(finexpert: Any, tracked: Path, home: Path) -> None:
    modes = ("--mode", "direct", "--mode", "single-call", "--lm", "recorded")
    ran = finexpert(*FRED, *modes, "--plot", "pareto.png", "--json", "out.json")
    assert ran.code == 0
    points = json.loads(Path("out.json").read_text())["comparison"]["points"]
    assert [p["name"] for p in points] == ["direct", "single-call"] * 2
    refused = finexpert(*FRED, "--lm", "recorded")
    assert refused.code == 2
    assert "several models are compared in modes" in refused.err
