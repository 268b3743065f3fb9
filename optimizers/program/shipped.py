"""Programs that come with finexpert, compiled for a model and measured: `runs/compiled` of the repository, which the wheel holds too.

    for_model("ollama/qwen2.5-coder:1.5b")      "qwen2.5-coder-1.5b"

A program is called as the model that it was compiled for, in small letters, with its size.
"""

from __future__ import annotations

import re
from pathlib import Path

from finexpert.optimizers.program.manifest import MANIFEST

_PACKAGE = Path(__file__).parents[2]


def folder() -> Path | None:
    """Where they lie: beside the package in a clone, within it where it was installed; None where there are none."""
    for place in (_PACKAGE.parent / "runs" / "compiled", _PACKAGE / "compiled"):
        if place.is_dir():
            return place
    return None


def names() -> list[str]:
    """The programs, by name."""
    place = folder()
    return sorted(path.parent.name for path in place.glob(f"*/{MANIFEST}")) if place else []


def for_model(model: str) -> str | None:
    """The program that was compiled for a model, by the name under which a provider has it; None where there is none."""
    said = re.sub(r"[^a-z0-9.]+", "-", model.rpartition("/")[2].lower())
    found = [name for name in names() if re.fullmatch(rf"{re.escape(name)}(?:-.*)?", said)]
    return max(found, key=len) if found else None
