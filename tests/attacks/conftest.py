"""A session whose model says the same at every call, and the table of what was tried and held."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.session import Session
from finexpert.settings import Settings

# The tests that attack; see `make attack`.
ATTACKS = ("tests/attacks/", "tests/sandbox/", "tests/confidentiality/", "tests/injections/", "tests/poison/", "test_screen", "test_exported_code",
           "test_hostile_", "test_catalogue_apart", "test_attack_statements", "test_select_rules", "test_as_of_forms", "test_exhausting",
           "tests/app/security/", "test_held", "test_folder_file", "test_foreign_yaml", "test_appended_lines")  # fmt: skip


@pytest.fixture
def says(warehouse: Any, sandbox: Any) -> Callable[..., Session]:
    """Makes a session over the small warehouse whose model always says one text."""

    def made(text: str, **settings: Any) -> Session:
        models = LanguageModels(ScriptedModel(lambda _: text))
        given = Settings(as_of=dt.date(2020, 12, 31), cache=False, **settings)
        return Session(warehouse, settings=given, models=models, sandbox=sandbox)

    return made


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many attacks of each file were tried, and how many held."""
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            place = report.nodeid.partition("::")[0]
            if any(part in place for part in ATTACKS):
                counts.setdefault(place, Counter())["held" if outcome == "passed" else "not held"] += 1
    if not counts:
        return
    terminalreporter.section("attacks: tried and held")
    for name, count in sorted(counts.items()):
        area = Path(name).stem.removeprefix("test_").replace("_", " ")
        terminalreporter.write_line(f"{area:28} {count.total():6,} tried {count['held']:6,} held   {name}")
