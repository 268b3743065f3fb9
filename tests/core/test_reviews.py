"""What counts as the same answer, and what a review does to confidence and flags."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import pytest

from finexpert.core.reviews import Agreement, Review, Stage, agree

DAY = dt.date(2020, 1, 1)
TABLE = pd.DataFrame({"year": [2019, 2020], "growth": [1.5, 2.5]})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (0.3, 0.1 + 0.2, True),
        (3, 3.0, True),
        (0.0, 0.0, True),
        (1.0, -1.0, False),
        (13.4, 0.134, False),
        (True, True, True),
        (True, 1, False),
        ("Yes", " yes", True),
        ("yes", 1.0, False),
        (DAY, DAY, True),
        (DAY, "2020-01-01", False),
        ([DAY, 1.0], [DAY, 1], True),
        ([1.0, 2.0], [2.0, 1.0], False),
        ([1.0], [1.0, 2.0], False),
        (TABLE, TABLE.copy(), True),
        (TABLE, TABLE * 2, False),
        (TABLE, TABLE.iloc[:1], False),
        (TABLE, 1.5, False),
        (None, None, False),
    ],
)
def test_the_same_answer(one: Any, other: Any, same: bool) -> None:
    assert agree(one, other) is agree(other, one) is same


def test_tolerance_is_relative() -> None:
    assert agree(100.0, 100.4, tolerance=0.005)
    assert not agree(100.0, 100.6, tolerance=0.005)


@pytest.mark.parametrize(
    ("agreement", "before", "after"),
    [
        ("agreed", 95, 95),
        ("agreed", 40, 40),
        ("settled", 95, 70),
        ("settled", 50, 50),
        ("disputed", 95, 35),
        ("unchecked", 80, 80),
    ],
)
def test_confidence(agreement: Agreement, before: int, after: int) -> None:
    assert Review(agreement=agreement).judged([], before)[1] == after


def test_a_stage_that_went_wrong_is_told() -> None:
    stages = [
        Stage(name="calculation_critic", ending="failed", detail="no form"),
        Stage(name="extraction_critic", ending="skipped"),
        Stage(name="revision", ending="budget", detail="used up"),
    ]
    flags, confidence = Review(stages=stages, agreement="agreed").judged(["fuzzy"], 95)
    assert flags == [
        "fuzzy",
        "not reviewed by the calculation critic: no form",
        "low confidence: the budget ended before the revision; the best answer so far (used up)",
    ]
    assert confidence == 30
