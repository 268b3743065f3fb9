"""`finexpert bench`: times outside the model, by stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def test_overhead_by_stage(finexpert: Any) -> None:
    ran = finexpert("bench", "overhead", "-n", "3", "--json")
    assert ran.code == 0
    assert ran.json["n"] == 3
    stages = ran.json["stages"]
    whole = stages.pop("all, outside the model")
    assert set(stages) == {
        "planning (prompt, parsing)",
        "SQL extraction (checks, query)",
        "script (sandbox)",
        "execution, the rest",
        "record",
    }
    assert all(0 <= stage["median_ms"] <= stage["p95_ms"] for stage in [*stages.values(), whole])
    # Medians do not add up exactly, and a busy machine shows.
    assert 0.1 < sum(stage["median_ms"] for stage in stages.values()) / whole["median_ms"] < 2


def test_filing_by_stage(finexpert: Any) -> None:
    ran = finexpert("bench", "filing", "--rounds", "1", "--json")
    assert ran.code == 0
    assert ran.json["n"] == 22
    assert ran.json["stages"]["all, outside the model"]["median_ms"] > 0


def test_overhead_does_not_depend_on_how_drafts_are_set(finexpert: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("FINEXPERT_DRAFTS", "false")
    assert finexpert("bench", "overhead", "-n", "3", "--json").code == 0


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedder that takes no time to load."""
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")


@pytest.mark.usefixtures("words")
def test_memory_by_stage(finexpert: Any, home: Path) -> None:
    ran = finexpert("bench", "memory", "--entries", "1200", "--phrases", "2", "-n", "3", "--json")
    assert ran.code == 0
    found = ran.json
    assert (found["n"], found["entries"], found["phrases"], found["embedder"]) == (3, 1200, 2, "words-v1-1024")
    stages = found["stages"]
    whole = stages.pop("all of it, nothing found")
    assert set(stages) == {
        "terms of the glossary, plain words",
        "processes that are named",
        "nearest in meaning",
        "is there anything",
    }
    assert 0.1 < sum(stage["median_ms"] for stage in stages.values()) / whole["median_ms"] < 2
    assert found["filled in s"] > 0
    # Nothing is left of it, least of all among what was taught.
    assert list(Path().iterdir()) == []
    assert not (home / "stores").exists()


@pytest.mark.usefixtures("words")
def test_a_made_up_store_is_filled_once(finexpert: Any) -> None:
    for _ in range(2):
        ran = finexpert("bench", "memory", "--entries", "20", "-n", "2", "--store", "made-up.sqlite")
        assert ran.code == 0
        assert "20 processes" in ran.out
    assert (
        finexpert("bench", "memory", "--entries", "30", "-n", "2", "--store", "made-up.sqlite", "--json").json[
            "entries"
        ]
        == 30
    )


@pytest.mark.usefixtures("words")
def test_a_store_that_somebody_taught_is_left_alone(finexpert: Any) -> None:
    assert finexpert("glossary", "define", "stress month", "a month", "--store", "taught.sqlite").code == 0
    ran = finexpert("bench", "memory", "--entries", "20", "--store", "taught.sqlite")
    assert (ran.code, "holds what somebody taught" in ran.err) == (1, True)
    assert finexpert("memory", "list", "--store", "taught.sqlite", "--json").json == []
