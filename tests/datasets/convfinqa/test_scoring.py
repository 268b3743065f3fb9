"""Scoring: the three measures, the tables and calibration."""

from __future__ import annotations

import math

import pytest

from finexpert.datasets.convfinqa.conversations import load
from finexpert.datasets.convfinqa.programs import tokenize
from finexpert.datasets.convfinqa.scoring import (
    TurnResult,
    interval,
    lenient,
    reliability,
    strict,
    summarise,
)
from finexpert.datasets.evaluations.answer_matching import close


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        (35.8, 35.8, "strict close lenient"),
        (35.799999999, 35.8, "strict close lenient"),
        (35.9, 35.8, "close lenient"),
        (36.0, 35.8, ""),
        (-35.8, 35.8, "lenient"),
        (14.136, 0.14136, "lenient"),
        (0.14136, 14.136, "lenient"),
        (-14.1, 0.14136, "lenient"),
        (0.00009, 0.0, "close lenient"),
        (0.0002, 0.0, "lenient"),
        (0.05, 0.0, ""),
        (0.0011, 0.00105, "close lenient"),
        (1_000_004.0, 1e6, "close lenient"),
        ("yes", "yes", "strict close lenient"),
        (" Yes", "yes", "strict close lenient"),
        (True, "yes", "strict close lenient"),
        (False, "yes", ""),
        ("no", "yes", ""),
        (1.0, "yes", ""),
        ("yes", 1.0, ""),
        (None, 0.0, ""),
        (math.nan, 0.0, ""),
        (math.inf, 5.0, ""),
        ([5.0], 5.0, ""),
        (5, 5.0, "strict close lenient"),
    ],
)
def test_the_measures(predicted: object, gold: float | str, expected: str) -> None:
    found = [
        name for name, rule in (("strict", strict), ("close", close), ("lenient", lenient)) if rule(predicted, gold)
    ]
    assert " ".join(found) == expected


def result(
    conversation: str, turn: int, right: bool, *, page: str = "", confidence: int | None = None, program: str = "5"
) -> TurnResult:
    return TurnResult(
        conversation=conversation,
        page=page or conversation,
        turn=turn,
        type="II" if conversation.startswith("D") else "I",
        gold=5.0,
        predicted=5.0 if right else None,
        gold_program="add(2, 3)" if turn == 2 else "5",
        program=tuple(tokenize(program)),
        confidence=confidence,
    )


RESULTS = [result("a", 1, True), result("a", 2, True, program="add(3, 2)"), result("b", 1, True), result("b", 2, False),
           result("D", 1, False), result("D", 2, True, program="5")]  # fmt: skip


def test_the_table_of_a_run() -> None:
    summary = summarise(RESULTS)
    assert (summary.turns["close"].right, summary.turns["close"].of) == (4, 6)
    assert (summary.conversations["strict"].right, summary.conversations["strict"].of) == (1, 3)
    assert summary.answered.share == pytest.approx(4 / 6)
    assert {k: (v.right, v.of) for k, v in summary.by_turn.items()} == {1: (2, 3), 2: (2, 3)}
    assert {k: (v.right, v.of) for k, v in summary.by_type.items()} == {"I": (3, 4), "II": (1, 2)}
    assert {k: (v.right, v.of) for k, v in summary.by_steps.items()} == {0: (2, 3), 1: (2, 3)}
    assert {k: (v.right, v.of) for k, v in summary.given.items()} == {"right": (1, 2), "wrong": (1, 1)}
    assert (summary.programs.right, summary.programs.of) == (4, 6)
    assert summary.program_execution.right == 6
    low, high = summary.turns["close"].low, summary.turns["close"].high
    assert low is not None
    assert high is not None
    assert low < 4 / 6 < high


def test_an_empty_run_has_no_share() -> None:
    assert math.isnan(summarise([]).turns["close"].share)


def test_the_interval_resamples_pages_and_not_turns() -> None:
    right = [True] * 50 + [False] * 50
    apart = interval(right, [str(n) for n in range(100)])
    together = interval(right, ["a"] * 50 + ["b"] * 50)
    assert apart == interval(right, [str(n) for n in range(100)])
    assert 0.38 < apart[0] < 0.44
    assert 0.56 < apart[1] < 0.62
    assert together == (0.0, 1.0)


def test_reliability() -> None:
    sure = [result(f"c{n}", 1, n < 8, confidence=90) for n in range(10)]
    unsure = [result(f"u{n}", 1, n < 1, confidence=30) for n in range(10)]
    table, error = reliability([*sure, *unsure, result("none", 1, True), result("full", 1, True, confidence=100)])
    assert [(b.low, b.count, round(b.confidence, 2), round(b.accuracy, 2)) for b in table] == [
        (30, 10, 0.3, 0.1), (90, 11, 0.91, 0.82)]  # fmt: skip
    assert error == pytest.approx((10 * 0.2 + 11 * (1000 / 1100 - 9 / 11)) / 21)
    assert reliability([result("a", 1, True)])[0] == []


def test_a_result_of_a_conversation() -> None:
    conversation = load()[0]
    made = TurnResult.of(conversation, 4, 0.1012, ["n/a", "EOF"], confidence=80)
    assert (made.turn, made.gold, made.steps, made.type) == (4, 0.10125, 2, "I")
    assert (made.right("strict"), made.right("close"), made.program_right) == (False, True, False)
