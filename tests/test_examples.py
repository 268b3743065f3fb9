"""The programs under examples/ run as they stand, without a key, and print what they are there to show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PRINTED = {
    "ask_a_database.py": ["3 recessions", "SELECT count(*) AS recessions", "the same again: True"],
    "ask_a_filing.py": ["486.20 million USD ['net sales / 2015']"],
    "ask_frames.py": ["rates  160.0"],
    "ask_many.py": ["3 recessions", "this prompt is not among the recorded ones"],
    "teach_a_term.py": [
        "What do you mean by 'heavy weeks'?",
        "2 weeks {'heavy weeks': 'a week of more than 90 tonnes'}",
    ],
}


def test_each_example_is_run() -> None:
    assert sorted(PRINTED) == sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert ran.returncode == 0, ran.stderr
    for words in PRINTED[name]:
        assert words in ran.stdout
