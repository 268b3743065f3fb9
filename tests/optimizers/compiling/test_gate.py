"""The gate: worse is refused, better passes, a tie is kept out, and whoever overrules it is on record."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finexpert.optimizers.compiling.gate import decide, not_worse, score
from finexpert.optimizers.program.decision import Decision

VAL: dict[str, Any] = {"val_before": [0, 1, 0, 0], "val_after": [1, 1, 0, 0]}
RIGHT, WRONG = [1.0] * 20, [0.0] * 20


def right(n: int, of: int = 40) -> list[float]:
    return [1.0] * n + [0.0] * (of - n)


# before and after on the holdout, before and after on val: kept?, and a word of the reason
CASES: list[Any] = [
    (
        "better on both",
        right(20),
        right(30),
        right(5, 10),
        right(8, 10),
        True,
        "better on val by 0.3 (n=10) and not worse",
    ),
    ("worse on both", right(30), right(20), right(8, 10), right(5, 10), False, "worse on val"),
    ("better on val, much worse on holdout", right(30), right(20), right(5, 10), right(8, 10), False, "but worse on"),
    ("tie on both", right(20), right(20), right(5, 10), right(5, 10), False, "no better on val"),
    ("tie on val, better on holdout", right(20), right(30), right(5, 10), right(5, 10), False, "no better on val"),
    ("better on val, tie on holdout", right(20), right(20), right(5, 10), right(8, 10), True, "not worse"),
    ("one lost of forty is no proof of harm", right(20), right(19), right(5, 10), right(8, 10), True, "not worse"),
    ("all of two lost", [1, 1], [0, 0], right(5, 10), right(8, 10), False, "one-sided p=0.25"),
    ("graded, better", [0.2] * 12, [0.3] * 12, [0.5], [0.6], True, "not worse on the holdout: 0.1"),
    ("graded, worse", [0.3, 0.5] * 6, [0.2, 0.45] * 6, [0.5], [0.6], False, "but worse on the holdout: -0.075"),
    ("graded, tie", [0.3, 0.5] * 6, [0.3, 0.5] * 6, [0.1] * 3, [0.1] * 3, False, "no better on val"),
]


@pytest.mark.parametrize(
    ("before", "after", "val_before", "val_after", "keep", "reason"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_what_is_kept(
    before: list[float], after: list[float], val_before: list[float], val_after: list[float], keep: bool, reason: str
) -> None:
    decision = decide(before, after, val_before, val_after)
    assert (decision.keep, decision.passed, decision.overruled) == (keep, keep, False)
    assert reason in decision.reason
    low, high = decision.interval
    assert low - 1e-9 <= decision.difference <= high + 1e-9


def test_keeping_anyway_is_recorded() -> None:
    decision = decide(RIGHT, WRONG, **VAL, keep_anyway=True)
    assert (decision.keep, decision.passed, decision.overruled) == (True, False, True)
    assert decision.reason.startswith("kept anyway: better on val by 0.25 (n=4), but worse on the holdout")
    better = decide(WRONG, RIGHT, **VAL, keep_anyway=True)
    assert (better.keep, better.overruled) == (True, False)


def test_the_flipped_cases_are_named() -> None:
    decision = decide([0, 1, 0.5], [1, 0, 0.5], **VAL, ids=["a", "b", "c"])
    assert [tuple(flip) for flip in decision.flips] == [("a", 0, 1), ("b", 1, 0)]
    assert [flip.id for flip in decide([0, 1], [1, 1], **VAL).flips] == ["1"]


def test_a_small_holdout_says_what_it_cannot_tell() -> None:
    assert decide([1, 1], [1, 1], **VAL).note == "n=2 is too small to tell a difference below 1.50"
    assert decide(right(200, 400), right(201, 400), **VAL).note == ""


def test_the_exact_test_is_mcnemars() -> None:
    decision = not_worse(right(8, 10), right(2, 10))
    assert decision.test == "mcnemar"
    assert decision.p == pytest.approx(2 * 0.5**6)
    assert decision.p_worse == pytest.approx(0.5**6)
    assert not_worse([0.5, 1], [0.5, 1]).test == "bootstrap"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1], [1, 0], [0], [1]), "the holdout has 1 scores before and 2 after"),
        (([], [], [0], [1]), "the holdout has no scores"),
        (([1], [1], [], []), "val has no scores"),
        (([math.nan], [1], [0], [1]), "the holdout has a score that is not finite"),
    ],
)
def test_scores_that_cannot_be_compared(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decide(*given)
    with pytest.raises(ValueError, match="2 ids for 1 scores"):
        decide([1], [1], [0], [1], ids=["a", "b"])
    with pytest.raises(ValueError, match="at least 2000"):
        decide([1], [1], [0], [1], samples=100)


GRADES = st.floats(0, 1).map(lambda x: round(x, 3)) | st.sampled_from([0.0, 1.0])
PAIRS = st.lists(st.tuples(GRADES, GRADES), min_size=1, max_size=40)


def of(pairs: Any) -> Decision:
    return decide([a for a, _ in pairs], [b for _, b in pairs], **VAL, samples=2000)


@given(PAIRS)
@settings(max_examples=60, deadline=None)
def test_what_holds_for_all_scores(pairs: Any) -> None:
    decision = of(pairs)
    assert decision == of(pairs), "seeded"
    low, high = decision.interval
    assert -1 - 1e-9 <= low <= high <= 1 + 1e-9
    assert 0 < decision.p <= 1
    assert 0 < decision.p_worse <= 1
    assert decision.n == len(pairs)
    assert len(decision.flips) <= len(pairs)
    # Never refused for a gain; never kept where every example lost.
    if decision.difference >= 0:
        assert decision.keep
    if len(pairs) > 1 and all(b < a for a, b in pairs):
        assert not decision.keep


@given(PAIRS)
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_examples_decides_nothing_where_all_is_right_or_wrong(pairs: Any) -> None:
    whole = [(round(a), round(b)) for a, b in pairs]
    first, last = of(whole), of(whole[::-1])
    assert (first.keep, first.p, first.p_worse, first.reason) == (last.keep, last.p, last.p_worse, last.reason)


@given(st.lists(GRADES, min_size=1, max_size=30))
@settings(max_examples=40, deadline=None)
def test_a_score_lies_in_its_interval(values: list[float]) -> None:
    found = score(values, samples=2000)
    assert found.low - 1e-9 <= found.mean <= found.high + 1e-9
    assert found.n == len(values)
