"""`finexpert knowledge check`: what was taught, run on the data as they are now."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.knowledge.process import Process, ProcessStep, TaughtCase, Variable
from finexpert.knowledge.taught import Taught
from finexpert.settings import Settings

STEPS = [
    ProcessStep(text="Trades with a fee.", sql="SELECT day, fee_usd FROM trades WHERE fee_usd > 0", name="paid_trades"),
    ProcessStep(text="How many.", sql="SELECT count(*) AS n FROM paid_trades WHERE fee_usd > <least>", name="counts"),
]
CASE = TaughtCase(
    question="How many above 15?", as_of=dt.date(2024, 1, 31), answer_format=AnswerFormat(kind="integer"), expected=2
)
PROCESS = Process(
    heading="Paid Trade", variables=[Variable(name="least", example="15")], steps=STEPS, status="active", case=CASE
)


@pytest.fixture
def trades(monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    for name, value in {"EMBEDDER": "words", "STORE": "knowledge.sqlite", "BY": "anna"}.items():
        monkeypatch.setenv(f"FINEXPERT_{name}", value)
    path = Path("trades.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE trades (day DATE, fee_usd DOUBLE)")
        connection.execute("INSERT INTO trades VALUES ('2022-03-01', 10), ('2023-03-01', 20), ('2023-06-01', 30)")
    return path


def kept(*processes: Process) -> None:
    with Taught.from_settings(Settings()) as taught:
        for process in processes:
            taught.memory.restore(process, "anna", "add")


def test_a_process_is_proved_by_its_last_select(finexpert: Any, trades: Path) -> None:
    kept(PROCESS)
    ran = finexpert("knowledge", "check", "--data", trades)
    assert (ran.code, ran.err) == (0, "")
    assert "holds: its last SELECT gives the result that was accepted" in ran.out
    assert "0 verified queries and 1 processes tried, 0 broke" in ran.out
    checked = finexpert("memory", "check", "Paid Trade", "--data", trades)
    assert checked.code == 0, checked.err
    assert "gave the accepted result" in checked.out


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("ALTER TABLE trades RENAME fee_usd TO fee", "step 1: its SELECT does not run"),
        ("CREATE TABLE counts (n INTEGER)", "step 2: counts is a table of trades: give it another name"),
    ],
)
def test_a_change_of_the_data_is_found(finexpert: Any, trades: Path, statement: str, said: str) -> None:
    kept(PROCESS)
    with duckdb.connect(str(trades)) as connection:
        connection.execute(statement)
    ran = finexpert("knowledge", "check", "--data", trades)
    assert ran.code == 1
    assert said in ran.out
    assert finexpert("knowledge", "check", "--data", trades, "--json").json["processes"][0]["problem"].startswith(said)


def test_another_result_is_no_proof_and_nothing_is_said_to_break(finexpert: Any, trades: Path) -> None:
    kept(PROCESS.model_copy(update={"case": CASE.model_copy(update={"expected": 3})}))
    ran = finexpert("knowledge", "check", "--data", trades)
    assert (ran.code, "holds: its SELECTs run" in ran.out) == (0, True)


def test_processes_of_other_data_are_left_alone(finexpert: Any, trades: Path) -> None:
    step = ProcessStep(text="Positions.", sql="SELECT isin FROM positions")
    kept(
        Process(heading="Position", steps=[step], status="active"),
        PROCESS.model_copy(update={"scope": "other"}),
    )
    assert "0 processes tried" in finexpert("knowledge", "check", "--data", trades).out


def test_two_processes_with_a_name_between_them(finexpert: Any, trades: Path) -> None:
    kept(PROCESS, Process(heading="Other", steps=[STEPS[0]], status="active"))
    ran = finexpert("knowledge", "check", "--data", trades)
    assert ran.code == 1
    for other in ("Paid Trade", "Other"):
        assert f"step 1: paid_trades is the name of step 1 of the process {other!r}: give it another name" in ran.out
