"""`--budget` on ask, chat and eval: whose it is, and that an evaluation stops cleanly and goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FRED = ("eval", "fred", "--only", "year_cpi_rose_above_200,latest_recession", "--lm", "recorded", "--threads", "1")


def metrics(store: Path, name: str) -> dict[str, float]:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{store}")
    found = client.search_runs([experiment.experiment_id for experiment in client.search_experiments()])
    return dict(next(run for run in found if run.info.run_name == name).data.metrics)


def test_a_run_that_is_out_of_budget_goes_on_with_more(finexpert: Any, tracked: Path, home: Path) -> None:
    modes = ("--mode", "direct", "--mode", "checked")
    ran = finexpert(*FRED, *modes, "--budget", "calls=3", "--json", "out.json")
    assert ran.code == 0
    assert "measured 3 of 4: the budget of this run is used up: 3 of 3 calls" in ran.out
    assert "FINEXPERT_BUDGET_RUN_CALLS" in ran.out
    written = json.loads(Path("out.json").read_text())
    assert len(written["results"]) == 3
    assert all(result["failure"] is None for result in written["results"])
    assert written["measured"]["budget"] == {"calls": [3.0, 3]}
    told = metrics(tracked, "eval fred")
    assert (told["measured"], told["measured_of"], told["budget_ended"], told["budget/calls"]) == (3, 4, 1, 3)
    again = finexpert(*FRED, *modes, "--budget", "calls=9", "--json", "out.json")
    assert "going on after 3 answers" in again.out
    assert "measured" not in again.out
    written = json.loads(Path("out.json").read_text())
    assert (written["measured"]["done"], written["measured"]["budget"]) == (4, {"calls": [1.0, 9]})


def test_conversations_that_are_out_of_budget(finexpert: Any, tracked: Path, home: Path) -> None:
    command = ("eval", "convfinqa", "--lm", "recorded", "--mode", "direct", "--threads", "1", "--json", "out.json")
    ran = finexpert(*command, "--budget", "calls=5")
    assert ran.code == 0
    assert "the budget of this run is used up: 5 of 5 calls" in ran.out
    measured = json.loads(Path("out.json").read_text())["measured"]
    assert 0 < measured["done"] <= 5 < measured["of"]
    assert finexpert(*command).code == 0
    assert json.loads(Path("out.json").read_text())["measured"]["done"] == measured["of"]


@pytest.mark.parametrize("name", ["lookup", "keywords"])
def test_a_labelled_set_that_is_out_of_budget(finexpert: Any, tracked: Path, home: Path, name: str) -> None:
    command = ("eval", name, "--lm", "recorded", "--threads", "1", "--json", "out.json")
    ran = finexpert(*command, "--budget", "calls=4")
    assert ran.code == 0
    assert "the budget of this run is used up: 4 of 4 calls" in ran.out
    written = json.loads(Path("out.json").read_text())
    assert 0 < written["measured"]["done"] == written["summary"]["n"] == len(written["results"]) <= 4
    assert len([*(home / "eval").glob(f"{name}-*.jsonl")]) == 1
    done = written["measured"]["done"]
    again = finexpert(*command)
    assert (again.code, f"going on after {done} answers" in again.out) == (0, True)
    written = json.loads(Path("out.json").read_text())
    assert written["measured"]["done"] == written["measured"]["of"] == written["summary"]["n"]


def test_layers_that_are_out_of_budget(finexpert: Any, tracked: Path, home: Path) -> None:
    command = ("eval", "layers", "keyword_rephrasing", "memory_lookup", "--lm", "recorded", "--holdout", "2")
    ran = finexpert(*command, "--threads", "1", "--budget", "calls=0", "--json", "out.json")
    assert ran.code == 0
    assert "measured 0 of 4: the budget of this run is used up: 0 of 0 calls" in ran.out
    assert json.loads(Path("out.json").read_text())["layers"] == []
    assert "measured" not in finexpert(*command, "--threads", "1", "--json", "out.json").out
    assert len(json.loads(Path("out.json").read_text())["layers"]) == 2


EVALUATIONS = [("eval", name) for name in ("fred", "convfinqa", "house", "review", "filings", "lookup", "keywords", "layers")]  # fmt: skip


@pytest.mark.parametrize("command", [("ask", "how many?"), ("chat",), *EVALUATIONS])
def test_a_wrong_budget_is_one_line(finexpert: Any, command: tuple[str, ...]) -> None:
    ran = finexpert(*command, "--budget", "call=1")
    assert ran.code != 0
    assert "--budget: 'call' is none of calls, usd, tokens, minutes" in ran.err


def test_a_question_without_budget_fails_with_the_setting_to_raise(finexpert: Any, scripted: Any) -> None:
    prompts = scripted(["never asked"])
    ran = finexpert("ask", "how many?", "--budget", "calls=0", "--assume", "--json")
    assert ran.code == 3
    assert "FINEXPERT_BUDGET_CALLS" in json.loads(ran.out)["failure"]["message"]
    assert prompts == []
