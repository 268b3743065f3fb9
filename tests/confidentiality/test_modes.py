"""What is kept is readable by its owner only, also where the system's usual mode is another (umask 022)."""

from __future__ import annotations

import stat
from typing import Any

import pytest

PRIVATE = {
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
    "the store of MLflow": "runs/mlflow.db",
}
FOLDERS = ("home/records", "home/sessions", "home/stores", "recordings", "processes", "runs", "runs/artifacts")


@pytest.mark.parametrize("kind", PRIVATE)
def test_files(left: Any, kind: str) -> None:
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in left.folder.glob(PRIVATE[kind])}
    assert modes
    assert set(modes.values()) == {"0o600"}, modes


@pytest.mark.parametrize("name", FOLDERS)
def test_folders(left: Any, name: str) -> None:
    assert oct(stat.S_IMODE((left.folder / name).stat().st_mode)) == "0o700"


def test_the_usual_mode_is_another(left: Any) -> None:
    """The control: what the run wrote for itself is readable by all."""
    assert oct(stat.S_IMODE((left.folder / "seen.json").stat().st_mode)) == "0o644"
