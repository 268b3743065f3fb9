"""The tools for tests without a model are public, and what the documentation shows of them runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from finexpert import testing
from finexpert.language_models.scripted import ScriptedModel

PAGE = Path(__file__).parents[1] / "docs" / "events.md"


def test_what_is_public() -> None:
    assert testing.__all__ == ["LanguageModels", "ScriptedModel", "fields"]
    assert testing.ScriptedModel is ScriptedModel


def test_what_the_documentation_shows_runs() -> None:
    (block,) = [
        text for text in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if "ScriptedModel" in text
    ]
    ran = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
