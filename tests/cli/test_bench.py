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
