"""What a shell offers for a value, and that it never fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from finexpert.cli.terminal import completing
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.taught import Taught
from finexpert.settings import Settings


def test_records_and_conversations_the_newest_first(own_home: Path) -> None:
    for place in ("records", "sessions"):
        (own_home / place).mkdir()
        for age, name in enumerate(("one", "two", "other")):
            path = own_home / place / f"{name}.json"
            path.touch()
            os.utime(path, (age, age))
    assert completing.records("") == ["other", "two", "one"]
    assert completing.conversations("t") == ["two"]


def test_terms_that_were_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    assert completing.terms("") == []
    with Taught.from_settings(Settings()) as taught:
        taught.glossary.define(Keyword(term="slow money", meaning="held for a year", source="expert"), "anna")
    assert completing.terms("slow") == ["slow money"]
    assert completing.headings("") == []


def test_nothing_is_offered_where_nothing_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_RETRIES", "many")
    assert completing.records("") == completing.terms("") == completing.programs("") == []


def test_a_shell_is_answered() -> None:
    asked = {
        **os.environ,
        "_FINEXPERT_COMPLETE": "complete_bash",
        "COMP_WORDS": "finexpert ask --mode re",
        "COMP_CWORD": "3",
    }
    program = Path(sys.executable).with_name("finexpert")
    ran = subprocess.run([program], env=asked, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["reviewed"]


def test_the_version_is_told() -> None:
    program = Path(sys.executable).with_name("finexpert")
    ran = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.split()[0] == "finexpert"
    assert ran.stdout.split()[1][0].isdigit()
