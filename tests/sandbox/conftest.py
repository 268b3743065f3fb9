"""Sandboxes that are started once, and the ordinary analyses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pandas as pd
import pytest

from finexpert.attacks.cases import cases
from finexpert.attacks.scripts import example_frames
from finexpert.errors import SandboxUnavailable
from finexpert.isolation import rungs
from finexpert.isolation.containers import container
from finexpert.sandbox import Limits, Sandbox

# Tests have no settings of their user; this one says what to test with.
_IMAGE = os.environ.get(container.VARIABLE)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A fixture called `benign` runs over the ordinary analyses."""
    if "benign" in metafunc.fixturenames:
        analyses = cases("analyses")
        metafunc.parametrize("benign", analyses, ids=[case.name for case in analyses])


@pytest.fixture(autouse=True)
def look_again() -> Iterator[None]:
    """What was found about this machine is looked for again: a test may change it."""
    caches = rungs._pinned, rungs._bwrap_problem, container.problem
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(scope="session")
def make_sandbox() -> Iterator[Callable[..., Sandbox]]:
    """Make a sandbox on a rung, or skip where this machine does not have it; closed at the end."""
    made: list[Sandbox] = []

    def make(
        rung: str | None = None, *, limits: Limits | None = None, workers: int = 1, policy: bool = False
    ) -> Sandbox:
        if rung == rungs.IN_CONTAINER and _IMAGE:
            os.environ[container.VARIABLE] = _IMAGE
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
    return example_frames()
