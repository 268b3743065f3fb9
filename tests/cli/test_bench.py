"""`finexpert bench overhead`: times outside the model, by stage."""

from __future__ import annotations

from typing import Any


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
