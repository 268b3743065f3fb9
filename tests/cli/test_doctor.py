"""`finexpert doctor`: what was found, what was not, and never a key."""

from __future__ import annotations

from typing import Any

import pytest


def test_everything_is_there(finexpert: Any, home: Any) -> None:
    ran = finexpert("doctor", "--lm", "recorded")
    assert ran.code == 0
    for shown in (
        "recorded completions",
        "landlock",
        "read a file: ENOENT",
        "made-up numbers",
        "unemployment",
        str(home),
    ):
        assert shown in ran.out.replace("\n", "")
    assert "missing" not in ran.out


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A doctor that takes the sandbox for granted: the first test starts one."""
    monkeypatch.setattr("finexpert.cli.doctor._sandbox", lambda: "warm")


@pytest.mark.usefixtures("quick")
def test_as_json_with_a_missing_part(finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_API_BASE", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FINEXPERT_API_KEY", "planted-key-5d1e")
    ran = finexpert("doctor", "--json", "--data", "/nowhere")
    assert ran.code == 1
    found = ran.json
    assert {name: part["ok"] for name, part in found.items()} == {
        "model": False,
        "sandbox": True,
        "data": False,
        "MLflow": True,
        "home": True,
    }
    assert "/nowhere" in found["data"]["found"]
    assert "http://127.0.0.1:9/v1" in found["model"]["found"]
    assert found["MLflow"]["found"].endswith("runs/mlflow.db")
    assert "planted-key" not in ran.out + ran.err


@pytest.mark.usefixtures("quick")
def test_without_a_model_the_recordings_answer(finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from finexpert.language_models import discovery

    monkeypatch.setattr(discovery, "_local", lambda environ, probe: None)
    found = finexpert("doctor", "--json").json["model"]
    assert found["found"].endswith("recorded completions (no language model was found: recorded completions answer)")
