"""A check that has no time is told on the answer, and what has to start first takes none of the checks' time."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from finexpert.core.pace import Pace
from finexpert.core.reviews import NOT_CHECKED, UNSURE, unless_unchecked
from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checked, Checks
from finexpert.warehouse.frames import Frame
from finexpert.warehouse.isolated.errors import RUN_FAILURES, took_too_long
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse


class Busy:
    """A warehouse that says how long it took: what the checks ask, and the SELECT itself; a start takes time of nobody."""

    def __init__(
        self,
        source: DuckDBWarehouse,
        *,
        asked: Callable[[str], float] = lambda select: 0.0,
        itself: float = 0,
    ):
        self._source, self._asked, self._itself = source, asked, itself
        self.took = 0.0
        self.given: list[float] = []
        self.fails = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def query(
        self, select: str, *, as_of: dt.date | None = None, declared_only: bool = False, seconds: float | None = None
    ) -> Frame:
        took = self._itself if seconds is None else self._asked(select)
        self.took += took
        if seconds is not None:
            self.given.append(seconds)
            if self.fails or took > seconds:
                raise QueryError(self.fails or took_too_long(seconds))
        return replace(self._source.query(select, as_of=as_of, declared_only=declared_only), seconds=took)


class Paced(Pace):
    """A machine that goes so many times slower than an idle one."""

    def __init__(self, slowness: float = 1.0) -> None:
        super().__init__()
        self._slowness = slowness

    @property
    def slowness(self) -> float:
        return self._slowness


FAN_OUT = "SELECT sum(a.balance) FROM accounts a JOIN trades t ON t.account_id = a.account_id"


@pytest.fixture
def opened(brokerage_file: Path) -> Any:
    # A warehouse of its own: what is found of another is kept for it.
    with DuckDBWarehouse(brokerage_file, isolated=False) as source:
        yield source


def checked(source: Busy, select: str, slowness: float = 1.0) -> Checked:
    return Checks(source, pace=lambda: Paced(slowness)).run(select)


@pytest.mark.parametrize(("slowness", "seconds"), [(1.0, 0.4), (8.0, 3.2)])
def test_a_busy_machine_gives_the_checks_as_much_more_time(
    opened: DuckDBWarehouse, slowness: float, seconds: float
) -> None:
    busy = Busy(opened, asked=lambda select: seconds)
    with pytest.raises(QueryError, match="adds up each row of a"):
        checked(busy, FAN_OUT, slowness)
    assert busy.given[0] == 3 * slowness


def test_what_takes_as_long_on_an_idle_machine_is_unsure(opened: DuckDBWarehouse) -> None:
    notes = checked(Busy(opened, asked=lambda select: 3.2), FAN_OUT).notes
    assert any(note.startswith(UNSURE) for note in notes)


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
    found = Checks(busy, seconds=0.01).run(select).notes
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
    busy = Busy(opened, asked=lambda select: 2.98 if '"status"' in select else 0.0)
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


@pytest.mark.parametrize(("took", "told"), [(0.5, 1), (1.5, 0)])
def test_a_slow_select_is_not_run_again_for_a_note(opened: DuckDBWarehouse, took: float, told: int) -> None:
    busy = Busy(opened, asked=lambda select: 4.0 if "ordered_by" in select and took > 1 else 0.0, itself=took)
    notes = checked(
        busy, "SELECT account_id, count(*) AS n FROM trades GROUP BY account_id ORDER BY n DESC LIMIT 1"
    ).notes
    assert sum(note.startswith("LIMIT 1 leaves out a row") for note in notes) == told
    assert unless_unchecked(notes, 80) == 80
    assert busy.took == took


def test_a_process_that_is_gone_starts_before_a_select_is_timed(brokerage_file: Path) -> None:
    with DuckDBWarehouse(brokerage_file, isolated=True) as source:
        with pytest.raises(QueryError, match="took longer"):
            source.query("SELECT count(*) FROM range(100000) a, range(100000) b, range(100) c", seconds=0.05)
        source.ready()
        assert source.query("SELECT count(*) AS n FROM fees", seconds=5).data["n"].item() == 3


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("large") / "large.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE trades AS SELECT i AS trade_id, i // 10 AS account_id, 'Ref' || i AS ref, DATE '2023-01-01' + (i % 300)::INTEGER AS day, "
            "1.0 AS lots FROM range(250000) t(i)"
        )
        connection.execute(
            "CREATE TABLE rates AS SELECT DATE '2023-01-01' + (10 * i)::INTEGER AS since, DATE '2023-01-11' + (10 * i)::INTEGER AS until, 2.0 AS rate FROM range(30) t(i)"
        )
    with DuckDBWarehouse(path, isolated=False) as source:
        yield source


def asked_of(source: DuckDBWarehouse, select: str) -> tuple[Checked, list[str]]:
    asked: list[str] = []

    def noted(select: str) -> float:
        asked.append(select)
        return 0.0

    checked = Checks(Busy(source, asked=noted), seconds=60).run(select)
    return checked, asked


def test_a_text_that_is_there_is_not_looked_for_in_all_spellings(large: DuckDBWarehouse) -> None:
    checked, asked = asked_of(large, "SELECT count(*) FROM trades WHERE ref = 'Ref249999'")
    assert (checked.frame.data.iat[0, 0], checked.notes) == (1, ())
    assert not [select for select in asked if "LOWER" in select]
    checked, asked = asked_of(large, "SELECT count(*) FROM trades WHERE ref = 'ref249998'")
    assert (checked.frame.data.iat[0, 0], checked.notes) == (1, ("read 'ref249998' as 'Ref249998'",))


def test_rows_are_numbered_after_the_first_are_taken(large: DuckDBWarehouse) -> None:
    select = "SELECT sum(t.lots * r.rate) FROM trades t JOIN rates r ON t.day >= r.since AND t.day < r.until"
    checked, asked = asked_of(large, select)
    assert checked.frame.data.iat[0, 0] == 500_000
    numbered = [select for select in asked if "ROW_NUMBER" in select]
    assert numbered
    assert all(
        re.search(r"FROM \(SELECT \* FROM trades AS t LIMIT 20000\)", select)
        for select in numbered
        if "t.finexpert_row" in select
    )


@pytest.mark.makes_a_fault
def test_a_fault_of_a_check_is_told_on_the_answer_and_the_other_checks_go_on(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: Any) -> list[str]:
        raise KeyError("x")

    monkeypatch.setattr("finexpert.warehouse.checks.checked.check_fan_out", faulty)
    notes = run("SELECT count(*) FROM trades WHERE status IN ('FILLED', 'DONE')").notes
    told = [note for note in notes if "a fault of this program" in note]
    assert told[0].startswith(f"{UNSURE}a fault of this program ended the check whether a join multiplies")
    assert unless_unchecked(told, None) == 30
    assert "of trades.status, these values matched: 'FILLED'" in notes
    with pytest.raises(QueryError, match="several currencies"):
        run("SELECT sum(amount) FROM trades")
