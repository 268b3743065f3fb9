"""Many questions of one source: once each, apart from each other, and never again after an interruption."""

from __future__ import annotations

import dataclasses
import datetime as dt
import fcntl
import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.batch import ask_all as asking
from finexpert.batch.ask_all import ask_all
from finexpert.errors import DataError, ModelError, ModelUnreachable
from finexpert.settings import Settings
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.schema import Metric

QUESTIONS = [f"How many months of kind {number}?" for number in range(6)]


@pytest.fixture
def ask(desk: Any) -> Any:
    """Asks questions of the desk's sales, whose model says that there are six months."""
    desk.says("planning", desk.plan())

    def run(questions: Any = QUESTIONS, **given: Any) -> pd.DataFrame:
        options = given.pop("settings", {})
        settings = Settings(**{"memory": False, "cache": False, "as_of": dt.date(2020, 12, 31)} | options)
        usual: dict[str, Any] = {"models": desk.models, "sandbox": desk.sandbox, "settings": settings, "threads": 2}
        return ask_all(desk.warehouse, questions, **usual | given)

    return run


def asked(desk: Any) -> list[str]:
    """Which questions the model was asked, in order."""
    return [re.findall(r"How many months of kind \d", prompt)[-1] + "?" for prompt in desk.prompts]


def journals(home: Path) -> list[Path]:
    return list((home / "batch").iterdir())


def test_a_row_an_answer_beside_what_was_given(ask: Any, desk: Any, own_home: Path) -> None:
    questions = pd.DataFrame({"question": QUESTIONS, "region": range(6)}, index=list("abcdef"))
    answers = ask(questions)
    assert list(answers.index) == list("abcdef")
    assert answers.region.tolist() == list(range(6))
    assert answers.status.tolist() == ["answered"] * 6
    assert (answers.number.tolist(), answers.value.tolist()) == ([6.0] * 6, ["6"] * 6)
    assert answers.calls.tolist() == [1] * 6
    assert sorted(f"{name}.json" for name in answers.record) == sorted(p.name for p in (own_home / "records").iterdir())
    assert sorted(asked(desk)) == QUESTIONS
    assert journals(own_home) == []


def test_each_question_is_a_conversation_of_its_own(ask: Any, desk: Any) -> None:
    ask(threads=1)
    for prompt, question in zip(desk.prompts, QUESTIONS, strict=True):
        assert {*re.findall(r"How many months of kind \d\?", prompt)} == {question}


def test_the_same_question_is_asked_once(ask: Any, desk: Any) -> None:
    answers = ask(["How many months of kind 1?", "How many months of kind 2?", "How many  months of kind 1?"])
    assert len(desk.calls) == 2
    assert answers.value.tolist() == ["6"] * 3
    assert answers.calls.tolist() == [1, 1, 0]
    assert answers["flags"][2][-1] == "the same question as in row 1, asked once"
    days = pd.DataFrame({"question": QUESTIONS[:1] * 2, "as_of": ["2020-06-30", "2020-12-31"]})
    ask(days)
    assert len(desk.calls) == 4


def test_a_question_without_an_answer_is_a_row(ask: Any, desk: Any) -> None:
    def said(prompt: str) -> str:
        if "kind 3" in prompt:
            raise ModelError("the prompt is longer than it can read")
        return "nonsense" if "kind 4" in prompt else str(desk.plan())

    desk.says("planning", said)
    answers = ask(settings={"retries": 0})
    assert answers.status.tolist() == ["answered"] * 3 + ["failed"] * 2 + ["answered"]
    assert answers.value.isna().tolist() == [False] * 3 + [True] * 2 + [False]
    assert (answers.failed_layer[3], answers.failed_kind[3]) == ("language_models", "model")
    assert "longer than it can read" in answers.reason[3]
    assert (answers.failed_layer[4], answers.failed_kind[4]) == ("planning", "output")


def test_a_run_goes_on_after_its_budget(ask: Any, desk: Any, own_home: Path, tmp_path: Path) -> None:
    first = ask(settings={"budget_run_calls": 4}, out=tmp_path / "answers.csv")
    assert sorted(first.status) == ["answered"] * 4 + ["not_asked"] * 2
    assert "budget of this run is used up: 4 of 4 calls" in first.reason.dropna().iloc[0]
    assert pd.read_csv(tmp_path / "answers.csv").status.tolist() == first.status.tolist()
    told: list[Any] = []
    second = ask(on_progress=told.append)
    assert second.status.tolist() == ["answered"] * 6
    assert sorted(asked(desk)) == QUESTIONS
    assert [(each.done, each.of) for each in told] == [(4, 6), (5, 6), (6, 6)]
    assert journals(own_home) == []
    ask()
    assert len(desk.calls) == 12


def test_a_model_that_cannot_be_reached_stops_it_and_loses_nothing(ask: Any, desk: Any, own_home: Path) -> None:
    def said(prompt: str) -> str:
        if "kind 3" in prompt:
            raise ModelUnreachable("no connection")
        return str(desk.plan())

    desk.says("planning", said)
    with pytest.raises(ModelUnreachable):
        ask(threads=1)
    (journal,) = (path for path in journals(own_home) if path.suffix == ".jsonl")
    assert len(journal.read_text().splitlines()) == 3
    desk.says("planning", desk.plan())
    assert ask().status.tolist() == ["answered"] * 6
    assert [asked(desk).count(question) for question in QUESTIONS] == [1, 1, 1, 2, 1, 1]


@pytest.mark.parametrize("change", ["fresh", "as_of", "mode", "questions", "clarify"])
def test_what_changes_the_answers_starts_over(ask: Any, desk: Any, change: str) -> None:
    ask(settings={"budget_run_calls": 4})
    changes: dict[str, dict[str, Any]] = {
        "fresh": {"fresh": True},
        "as_of": {"settings": {"as_of": dt.date(2020, 6, 30)}},
        "mode": {"settings": {"mode": "direct"}},
        "questions": {"questions": QUESTIONS[:5]},
        "clarify": {"clarify": True},
    }
    answers = ask(**changes[change])
    assert len(desk.calls) == 4 + len(answers)


def test_a_metric_that_is_defined_otherwise_starts_over(ask: Any, desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fees = Metric("fees", "sum(sales.amount)")
    monkeypatch.setattr(desk.warehouse, "metrics", (fees,))
    ask(settings={"budget_run_calls": 4})
    monkeypatch.setattr(desk.warehouse, "metrics", (dataclasses.replace(fees, expression="max(sales.amount)"),))
    ask()
    assert len(desk.calls) == 4 + len(QUESTIONS)


def test_answers_of_another_day_say_so(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(QUESTIONS[:2], settings={"budget_run_calls": 1, "as_of": None}, threads=1)
    monkeypatch.setattr(asking, "_today", lambda: dt.date(2030, 1, 2))
    answers = ask(QUESTIONS[:2], settings={"as_of": None})
    assert [any("asked on" in flag for flag in flags) for flags in answers["flags"]] == [True, False]


def test_a_file_that_cannot_be_written_costs_no_answer(ask: Any, desk: Any, tmp_path: Path) -> None:
    desk.says("planning", desk.plan('answer = "x" * 40_000', "text"))
    with pytest.raises(DataError, match="asks nothing again"):
        ask(QUESTIONS[:2], out=tmp_path / "answers.xlsx")
    ask(QUESTIONS[:2], out=tmp_path / "answers.parquet")
    assert len(desk.calls) == 2


def test_two_processes_do_not_ask_the_same(ask: Any, desk: Any, own_home: Path) -> None:
    ask(settings={"budget_run_calls": 4})
    (journal,) = journals(own_home)
    held = os.open(journal.with_suffix(".lock"), os.O_CREAT | os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.raises(DataError, match="by another process"):
        ask()
    os.close(held)
    assert len(desk.calls) == 4
    assert ask().status.tolist() == ["answered"] * 6


def test_a_lock_whose_file_is_gone_holds_nothing(
    ask: Any, desk: Any, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        real(descriptor, operation)
        for path in (own_home / "batch").glob("*.lock"):
            path.unlink()

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(DataError, match="by another process"):
        ask()
    assert desk.calls == []


@pytest.mark.makes_a_fault
def test_a_fault_at_one_question_fails_it_alone(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(self: Any, select: str, *given: Any, **options: Any) -> Any:
        if self.question == QUESTIONS[2]:
            raise KeyError("x")
        return run(self, select, *given, **options)

    run = Checks.run
    monkeypatch.setattr(Checks, "run", faulty)
    answers = ask()
    assert answers.status.tolist() == ["answered", "answered", "failed", "answered", "answered", "answered"]
    assert "a fault of this program (KeyError)" in answers.reason[2]
    assert answers.failed_layer[2] == "program"
