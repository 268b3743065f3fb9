"""The soak, in short: no question is lost, nothing leaks, and what would be a leak or a loss is noticed."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from finexpert.cli.bench import soak as bench_soak
from finexpert.cli.bench.soak import Soaked, World, soak, world
from finexpert.settings import Settings


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    settings = Settings(
        home=tmp_path_factory.mktemp("soak"),
        as_of=dt.date(2024, 9, 30),
        judge=False,
        retries=1,
        embedder="words",
        cache=False,
    )
    with world(None, settings, latency=0.01, faults=0.1, workers=2) as made:
        yield made


def test_every_question_ends_and_nothing_leaks(shared: World) -> None:
    soak(shared, 30, 8)
    result = soak(shared, 100, 16)
    assert result.passed, result.facts()
    assert sum(result.ends.values()) == 100
    assert result.ends["answered"] >= 80
    # The faults were there: some questions met them and said so.
    assert set(result.ends) - {"answered"}
    assert all(end == "answered" or end.startswith(("failed: ", "error: Model")) for end in result.ends)


def test_more_faults_lose_no_question_either(shared: World) -> None:
    worse = World(shared.source, shared.sandbox, bench_soak.models(0.0, 0.9), shared.taught, shared.settings)
    result = soak(worse, 40, 8)
    assert (result.untyped, result.stuck, sum(result.ends.values())) == ([], 0, 40)


class Asked:
    """A world whose questions end as told."""

    def __init__(self, end: Any) -> None:
        self.end = end

    def ask(self, number: int) -> str:
        return self.end(number)  # type: ignore[no-any-return]


def test_an_error_of_no_known_kind_is_noticed() -> None:
    result = soak(Asked(lambda number: 1 // (number - 3)), 10, 2)  # type: ignore[arg-type]
    assert result.untyped == ["ZeroDivisionError: integer division or modulo by zero"]
    assert not result.passed


def test_a_deadlock_is_noticed(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench_soak, "STUCK_SECONDS", 0.3)
    let_go = threading.Event()
    result = soak(Asked(lambda number: "answered" if number < 3 else let_go.wait(20)), 5, 2)  # type: ignore[arg-type]
    let_go.set()
    assert (result.stuck, result.passed) == (2, False)
    assert "in wait" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("levels", "passed"),
    [
        ([(10, 400.0, 30), (20, 400.0, 30), (30, 410.0, 34)], True),
        ([(10, 400.0, 30), (20, 450.0, 30), (30, 500.0, 30)], False),
        ([(10, 400.0, 30), (20, 400.0, 50), (30, 400.0, 70)], False),
    ],
)
def test_growth_is_noticed(levels: list[tuple[int, float, int]], passed: bool) -> None:
    assert Soaked(2, levels=levels).passed is passed


def test_a_file_left_open_raises_the_level(tmp_path: Path) -> None:
    before = bench_soak.level()[1]
    with (tmp_path / "open").open("w"):
        assert bench_soak.level()[1] == before + 1


def test_an_end_is_counted_by_its_name() -> None:
    result, ended = Soaked(1), Future[str]()
    ended.set_result("failed: planning")
    bench_soak._note(result, ended)
    assert result.facts()["ended as"] == {"failed: planning": 1}
