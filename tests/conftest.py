"""Every test has a home of its own, no model from the environment, and fresh global state."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

MODEL_VARIABLES = (
    "OPENAI",
    "ANTHROPIC",
    "GEMINI",
    "AZURE",
    "GROQ",
    "MISTRAL",
    "DEEPSEEK",
    "OPENROUTER",
    "AWS_",
    "FINEXPERT",
)


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> None:
    """Ctrl-C works in tests also where a shell started them in the background, which makes processes ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(MODEL_VARIABLES) and name not in ("FINEXPERT_TEST_FRED_DIR", "FINEXPERT_TEST_CONVFINQA_DIR"):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("FINEXPERT_HOME", str(home))
    monkeypatch.setenv("DSPY_CACHEDIR", str(home / "dspy_cache"))
    return home


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--live", action="store_true", help="run the tests that need a real language model")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--live"):
        for item in items:
            if item.get_closest_marker("live"):
                item.add_marker(pytest.mark.skip(reason="needs a real language model: run with --live"))
