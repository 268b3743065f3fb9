"""A check that has no time is told on the answer, and what has to start first takes none of the checks' time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.core.reviews import NOT_CHECKED, UNSURE, unless_unchecked
from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checked, Checks
from finexpert.warehouse.frames import Frame
from finexpert.warehouse.isolated.errors import RUN_FAILURES
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse


class Busy:
    """A warehouse on a busy machine, with a clock of its own: what the checks ask takes `asked` seconds, and a start takes `start`."""

    def __init__(
        self, source: DuckDBWarehouse, *, asked: Callable[[str], float] = lambda select: 0.0, start: float = 0
    ):
        self._source, self._asked, self._start = source, asked, start
        self.now = 0.0
        self.fails = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def clock(self) -> float:
        return self.now

    def ready(self) -> None:
        self.now += self._start

    def query(
        self, select: str, *, as_of: dt.date | None = None, declared_only: bool = False, seconds: float | None = None
    ) -> Frame:
        if seconds is not None:
            self.now += self._asked(select)
            if self.fails:
                raise QueryError(self.fails)
        return self._source.query(select, as_of=as_of, declared_only=declared_only)


FAN_OUT = "SELECT sum(a.balance) FROM accounts a JOIN trades t ON t.account_id = a.account_id"


@pytest.fixture
def opened(brokerage_file: Path) -> Any:
    # A warehouse of its own: what is found of another is kept for it.
    with DuckDBWarehouse(brokerage_file, isolated=False) as source:
        yield source


def checked(source: Busy, select: str) -> Checked:
    return Checks(source, clock=source.clock).run(select)


def test_the_start_of_a_process_takes_none_of_the_time(opened: DuckDBWarehouse) -> None:
    with pytest.raises(QueryError, match="adds up each row of a"):
        checked(Busy(opened, start=60), FAN_OUT)


@pytest.mark.parametrize(
    ("select", "flags"),
    [
        (FAN_OUT, [f"{UNSURE}there was too little time or memory to check whether a join multiplies the rows"]),
        ("SELECT count(*) FROM trades WHERE status = 'Filed' AND side = 'BUY'", ["whether the texts in its conditions stand", "which condition leaves nothing"]),
        ("SELECT count(*) FROM trades WHERE amount > 1000", [f"{UNSURE}there was too little time or memory to check which condition leaves nothing"]),
        ("SELECT max(units) FROM trades WHERE lots > 0", [f"{NOT_CHECKED}there was too little time or memory to check how texts compare"]),
    ],
)  # fmt: skip
def test_a_check_without_time_is_told(opened: DuckDBWarehouse, select: str, flags: list[str]) -> None:
    busy = Busy(opened)
    found = Checks(busy, seconds=0.01, clock=busy.clock).run(select).notes
    told = [note for note in found if note.startswith((UNSURE, NOT_CHECKED))]
    for flag in flags:
        assert any(flag in note for note in told), told
    assert all("ask again, or of fewer rows" in note for note in told)
    assert (unless_unchecked(found, None) or 100) <= 45


@pytest.mark.parametrize("words", [dict(RUN_FAILURES)["Out of Memory Error"], "it took longer than 3 s: narrow it"])
def test_a_check_that_was_broken_off_is_told(opened: DuckDBWarehouse, words: str) -> None:
    busy = Busy(opened)
    busy.fails = words
    assert any(note.startswith(UNSURE) for note in checked(busy, FAN_OUT).notes)


def test_a_slow_check_takes_the_time_of_those_after_it(opened: DuckDBWarehouse) -> None:
    busy = Busy(opened, asked=lambda select: 5.0 if '"status"' in select else 0.0)
    select = (
        "SELECT sum(a.balance) FROM accounts a JOIN trades t ON t.account_id = a.account_id WHERE t.status = 'FILLED'"
    )
    found = checked(busy, select).notes
    assert any("whether a join multiplies the rows" in note for note in found)
    assert unless_unchecked(found, 80) == 30


def test_where_there_is_time_nothing_is_told(opened: DuckDBWarehouse) -> None:
    assert (
        checked(Busy(opened, asked=lambda select: 0.01), "SELECT sum(lots) FROM trades WHERE status = 'FILLED'").notes
        == ()
    )


def test_a_process_that_is_gone_starts_before_a_select_is_timed(brokerage_file: Path) -> None:
    with DuckDBWarehouse(brokerage_file, isolated=True) as source:
        with pytest.raises(QueryError, match="took longer"):
            source.query("SELECT count(*) FROM range(100000) a, range(100000) b, range(100) c", seconds=0.05)
        source.ready()
        assert source.query("SELECT count(*) AS n FROM fees", seconds=5).data["n"].item() == 3
