"""Sandboxes that are started once, and the sections of the data files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from finexpert.errors import SandboxUnavailable
from finexpert.sandbox import Limits, Sandbox, rungs

_HERE = Path(__file__).parent


def _sections(name: str) -> list[tuple[str, str]]:
    text = (_HERE / name).read_text(encoding="utf-8")
    return [
        (part[1].strip(), part[2].strip())
        for part in re.finditer(r"^### (.*)\n((?:(?!### ).*\n)*)", text, re.MULTILINE)
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A fixture called `attack` or `benign` runs over the sections of that file."""
    for name in ("attack", "benign"):
        if name in metafunc.fixturenames:
            cases = _sections({"attack": "attacks.txt", "benign": "benign.txt"}[name])
            metafunc.parametrize(name, cases, ids=[re.sub(r"[~!].*", "", title).strip() for title, _ in cases])


@pytest.fixture
def attacks() -> list[tuple[str, str]]:
    """Every attack: its title and its code."""
    return _sections("attacks.txt")


@pytest.fixture(scope="session")
def make_sandbox() -> Iterator[Callable[..., Sandbox]]:
    """Make a sandbox on a rung, or skip where this machine does not have it; closed at the end."""
    made: list[Sandbox] = []

    def make(
        rung: str | None = None, *, limits: Limits | None = None, workers: int = 1, policy: bool = False
    ) -> Sandbox:
        try:
            sandbox = Sandbox(limits or Limits(), workers=workers, rung=rung, policy=policy)
        except SandboxUnavailable as error:
            pytest.skip(f"this machine has no such boundary: {error}")
        made.append(sandbox)
        return sandbox

    yield make
    for sandbox in made:
        sandbox.close()


@pytest.fixture(scope="session", params=rungs.RUNGS)
def on_each_rung(request: pytest.FixtureRequest, make_sandbox: Callable[..., Sandbox]) -> Sandbox:
    """A sandbox without the policy in front, on each rung of the ladder."""
    return make_sandbox(request.param)


@pytest.fixture(scope="session")
def sandbox(make_sandbox: Callable[..., Sandbox]) -> Sandbox:
    """The strongest sandbox of this machine, policy on, as it is used."""
    return make_sandbox(policy=True)


@pytest.fixture(scope="session")
def impatient(make_sandbox: Callable[..., Sandbox]) -> Sandbox:
    """A sandbox with small limits, for scripts that pass them."""
    limits = Limits(wall_seconds=1.5, memory_bytes=256 << 20, stdout_bytes=10_000, result_bytes=1 << 20)
    return make_sandbox(rungs.WITHOUT_BWRAP, limits=limits, workers=3)


@pytest.fixture(scope="session")
def frames() -> dict[str, pd.DataFrame]:
    """Twelve quarters of two regions, and a rate for each."""
    dates = pd.date_range("2018-01-01", periods=12, freq="QS")
    gdp = pd.DataFrame({"date": dates, "value": [100.0 + 5 * n for n in range(12)], "region": ["east", "west"] * 6})
    return {"gdp": gdp, "rates": pd.DataFrame({"date": dates, "rate": [1.5, 2.0, 0.5] * 4})}
