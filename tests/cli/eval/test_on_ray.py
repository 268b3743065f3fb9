"""Evaluations on a Ray cluster of two nodes: the results of threads, from the same recordings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ray_nodes import two_nodes

# What a clock says, and which question came before which.
_OF_A_RUN = re.compile("seconds|stages|prefix_share")
FRED = ("eval", "fred", "--lm", "recorded", "--only", "year_cpi_rose_above_200,latest_recession")


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with two_nodes(monkeypatch) as cluster:
        yield cluster


def same(found: Any) -> Any:
    """What has to be the same however the questions were asked, in any order."""
    if isinstance(found, dict):
        return {name: same(each) for name, each in found.items() if not _OF_A_RUN.search(name)}
    if isinstance(found, list):
        return sorted(map(same, found), key=lambda each: json.dumps(each, sort_keys=True))
    return found


@pytest.mark.parametrize(
    "command",
    [
        (*FRED, "--rungs", "sql+script,+retries,+memory"),
        ("eval", "house", "--lm", "recorded", "--half", "keywords", "--every", "16"),
        ("eval", "convfinqa", "--lm", "recorded", "--sample", "3"),
    ],
)
def test_the_results_are_those_of_threads(
    finexpert: Any, tracked: Path, home: Path, nodes: Any, command: tuple[str, ...]
) -> None:
    assert finexpert(*command, "--json", "threads.json").code == 0
    assert finexpert(*command, "--json", "ray.json", "--engine", "ray").code == 0
    on_threads, on_ray = (json.loads(Path(f"{name}.json").read_text()) for name in ("threads", "ray"))
    assert on_threads["measured"]["done"] >= 2
    assert same(on_ray) == same(on_threads)


def test_a_budget_ends_the_run_and_the_next_one_goes_on(finexpert: Any, tracked: Path, home: Path, nodes: Any) -> None:
    command = (
        *FRED,
        "--mode",
        "direct",
        "--mode",
        "checked",
        "--engine",
        "ray",
        "--threads",
        "1",
        "--json",
        "out.json",
    )
    ran = finexpert(*command, "--budget", "calls=1")
    assert "budget of this run is used up" in ran.out + ran.err
    assert json.loads(Path("out.json").read_text())["measured"]["done"] == 1
    ran = finexpert(*command)
    assert "going on after 1 answers" in ran.out + ran.err
    assert json.loads(Path("out.json").read_text())["measured"]["done"] == 4


def test_completions_are_kept_by_threads_alone(finexpert: Any, tracked: Path, home: Path) -> None:
    ran = finexpert(*FRED, "--engine", "ray", "--save-completions", "kept.jsonl")
    assert ran.code == 1
    assert "engine ray keeps no completions" in ran.err
