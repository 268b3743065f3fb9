"""What happens around a running program: another process, a killed worker, a warehouse that goes, no memory, odd clocks."""

from __future__ import annotations

import datetime as dt
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

from finexpert.embeddings.embedding import embedder
from finexpert.errors import DataError
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.taught import Taught
from finexpert.language_models.usage import Meter
from finexpert.sandbox import Limits, Sandbox
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

QUESTION = "How many months have sales?"


# Two processes.


def test_a_conversation_that_goes_on_elsewhere_is_not_written_over(desk: Any) -> None:
    desk.says("planning", desk.plan())
    one, two = desk.session(), desk.session()
    one.ask(QUESTION)
    path = one.save("desk")
    two.resume("desk")
    two.ask("And in the second one?")
    two.save("desk")
    one.ask("And in the first one?")
    with pytest.raises(DataError, match=r"'desk' was saved by another process meanwhile .* under another name"):
        one.save("desk")
    assert [turn.question for turn in one.workspace.turns] == [QUESTION, "And in the first one?"]
    one.save("desk 2")
    two.save("desk")
    third = desk.session()
    third.resume("desk")
    assert [turn.question for turn in third.workspace.turns] == [QUESTION, "And in the second one?"]
    assert path.with_name("desk 2.json").is_file()


def test_two_new_conversations_of_one_name(desk: Any) -> None:
    """As with `chat --name`: neither found a file when it began."""
    desk.says("planning", desk.plan())
    one, two = desk.session(), desk.session()
    assert (one.resume("desk"), two.resume("desk")) == (None, None)
    one.ask(QUESTION)
    one.save("desk")
    two.ask(QUESTION)
    with pytest.raises(DataError, match="save this one under another name"):
        two.save("desk")


def _save(folder: Path, number: int, together: Any) -> None:
    from finexpert.answers import saved_session
    from finexpert.core.workspace import Turn, Workspace

    workspace = Workspace(turns=[Turn(question=f"{number}: " + "why? " * 20_000)])
    together.wait(30)
    for _ in range(20):
        saved_session.save(folder, "desk", workspace, "sales", None, [])


def test_processes_that_save_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    from finexpert.answers import saved_session

    context = multiprocessing.get_context("fork")
    together = context.Barrier(3)
    processes = [context.Process(target=_save, args=(tmp_path, number, together)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    saved = saved_session.load(tmp_path, "desk")
    assert saved is not None
    assert saved.turns[0].question[0] in "012"
    assert [path.name for path in tmp_path.iterdir()] == ["desk.json"]


# The sandbox.


_SLOW = "end = dt.datetime.now() + dt.timedelta(seconds=4)\nwhile dt.datetime.now() < end: pass\nanswer = len(sales)"


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_worker_that_is_killed_costs_one_try(desk: Any, times: int) -> None:
    """Between questions, once during one, and again when the script is run once more."""
    with Sandbox(Limits(wall_seconds=20)) as box:
        session = desk.session()
        session.sandbox = box
        desk.says("planning", desk.plan(_SLOW if times else "answer = len(sales)"))
        assert box.self_test
        if not times:
            _kill_workers()
            assert session.ask(QUESTION).value == 6
            return
        with subprocess.Popen([sys.executable, "-c", _KILL_LATER, str(os.getpid()), str(times)]) as killer:
            answer = session.ask(QUESTION)
            assert killer.wait(60) == 0
        assert desk.layers == ["planning"]  # no other script would mend it
        if times == 1:
            assert answer.value == 6
            return
        assert (answer.status, answer.value) == ("failed", None)
        assert (answer.failure.layer, answer.failure.kind) == ("sandbox", "sandbox")
        assert re.search(r"sandbox's worker .*; see `finexpert doctor`$", answer.failure.message)
        assert answer.usage.calls == 1
        desk.says("planning", desk.plan())
        assert session.ask(QUESTION).value == 6


_KILL_LATER = """
import sys, time, psutil

def used(child):
    try:
        return child.cpu_times().user if "sandbox" in " ".join(child.cmdline()) else 0.0
    except psutil.Error:  # it has just ended, or waits to be cleared away
        return 0.0

parent, deadline = psutil.Process(int(sys.argv[1])), time.monotonic() + 40
times = int(sys.argv[2])
while times and time.monotonic() < deadline:
    # Other workers are idle, whatever they have used before.
    before = {child: used(child) for child in parent.children(recursive=True) if child.ppid() != parent.pid}
    time.sleep(0.5)
    busy = [child for child, then in before.items() if used(child) > then + 0.1]
    for each in busy:
        # The worker is what the script's process was forked from.
        each.parent().kill()
    times -= bool(busy)
"""


def _kill_workers() -> None:
    for child in psutil.Process().children(recursive=True):
        if "sandbox" in " ".join(child.cmdline()):
            child.send_signal(signal.SIGKILL)
    time.sleep(0.2)


# The warehouse.


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[Path, DuckDBWarehouse]]:
    path = _sales(tmp_path / "own.duckdb", 6)
    with DuckDBWarehouse(path) as source:
        yield path, source


def _sales(path: Path, months: int) -> Path:
    dates = pd.date_range("2020-01-01", periods=months, freq="MS")
    data = pd.DataFrame({"date": dates, "region": "north", "amount": 1.0})
    return build_warehouse(path, [Table("sales", data, date_column="date")])


def test_a_warehouse_that_vanishes_answers_until_it_is_closed(desk: Any, own: tuple[Path, DuckDBWarehouse]) -> None:
    path, source = own
    desk.says("planning", desk.plan())
    session = desk.session(source)
    path.unlink()
    assert session.ask(QUESTION).value == 6
    with pytest.raises(DataError, match=rf"no warehouse at {path}: build it with `finexpert data fred`"):
        DuckDBWarehouse(path)


def test_a_warehouse_that_is_replaced_is_seen_when_it_is_opened_again(
    desk: Any, own: tuple[Path, DuckDBWarehouse]
) -> None:
    path, source = own
    desk.says("planning", desk.plan())
    session = desk.session(source)
    before = source.snapshot()
    _sales(path, 9)
    answer = session.ask(QUESTION)
    assert (answer.value, answer.record.source.snapshot) == (6, before)
    with DuckDBWarehouse(path) as again:
        assert again.snapshot() != before
        assert len(again.query("SELECT date FROM sales").data) == 9


def test_a_warehouse_that_is_cut_off_fails_the_question_alone(desk: Any, tmp_path: Path) -> None:
    path = _sales(tmp_path / "cut.duckdb", 20_000)
    with DuckDBWarehouse(path) as source:
        desk.says("planning", desk.plan())
        session = desk.session(source, retries=0)
        os.truncate(path, 12_288)
        # What is cached may still answer; nothing else does.
        try:
            answer = session.ask(QUESTION)
        except DataError as error:
            said = str(error)
        else:
            said = answer.failure.message if answer.failure else f"{path}: {answer.value}"
        assert str(path) in said
        assert said.endswith((": 20000", "opens"))
    with pytest.raises(DataError, match=str(path)):
        DuckDBWarehouse(path)


# Memory.

_LITTLE = """
import resource, sys, psutil
from finexpert.errors import QueryError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
with DuckDBWarehouse(sys.argv[1]) as source:
    source.query("SELECT count(*) AS n FROM sales")
    room = psutil.Process().memory_info().vms + (150 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (room, resource.RLIM_INFINITY))
    try:
        source.query("SELECT a.date, b.amount, repeat('x', 900) || a.date AS t FROM sales a, sales b")
    except QueryError as error:
        sys.stdout.write(f"QueryError: {error}")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    sys.stdout.write(f" | then {len(source.query('SELECT date FROM sales').data)}")
"""


def test_a_query_that_finds_no_memory_fails_alone(tmp_path: Path) -> None:
    path = _sales(tmp_path / "large.duckdb", 1000)
    ran = subprocess.run(
        [sys.executable, "-c", _LITTLE, str(path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.startswith("QueryError: ")
    assert ran.stdout.endswith(" | then 1000")


def test_the_limit_itself_is_felt() -> None:
    """The control of the test above: with so little room, memory does run out."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({600 << 20}, -1)); bytearray({900 << 20})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "MemoryError" in ran.stderr
    assert resource.getrlimit(resource.RLIMIT_AS)[1] == resource.RLIM_INFINITY


# Clocks.


def test_a_clock_that_jumps_changes_no_answer_and_no_duration(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = iter(range(10_000))
    monkeypatch.setattr(time, "time", lambda: 1.7e9 + (-1) ** next(jumps) * 1e8)
    desk.says("planning", desk.plan())
    with Meter() as meter:
        answer = desk.session(budget_seconds=60).ask(QUESTION)
    assert answer.value == 6
    assert 0 <= answer.usage.seconds < 60
    assert 0 <= meter.wall_seconds < 60
    assert all(seconds >= 0 for seconds in answer.usage.stages.values())


def test_a_clock_that_goes_back_does_not_bring_old_meanings_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from finexpert.knowledge import collection
    from finexpert.knowledge.entries import sql as sql_entries

    class Clock(dt.datetime):
        year_now = 2026

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:  # type: ignore[override]
            return dt.datetime(cls.year_now, 1, 1, tzinfo=tz)

    class Module:
        datetime, UTC = Clock, dt.UTC

    for module in (collection, sql_entries):
        monkeypatch.setattr(module, "dt", Module)
    with closing(Taught.open(tmp_path / "k.sqlite", embedder("words"))) as taught:
        for year, meaning in ((2026, "first"), (1999, "second"), (2040, "third")):
            Clock.year_now = year
            taught.glossary.define(Keyword(term="stress", meaning=meaning), "anna")
        kept = taught.glossary.get("stress")
        assert kept is not None
        assert (kept.meaning, kept.version) == ("third", 3)
        history = taught.glossary.entries.history("glossary", kept.id)
        assert [entry.version for entry in history] == [3, 2, 1]
        assert [entry.at.year for entry in history] == [2040, 1999, 2026]
