"""What the sign index finds is what comparing all vectors finds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finexpert.embeddings.sign_index import BITS, Coded, SignIndex, best, codes
from finexpert.embeddings.vectors import Vectors


def topics(count: int, dimensions: int, seed: int) -> Vectors:
    """Vectors in clusters, with a few directions that matter more, as sentences have them."""
    random = np.random.default_rng(seed)
    spectrum = 1 / np.sqrt(1 + np.arange(dimensions) / 12)
    centres = np.random.default_rng(0).standard_normal((300, dimensions))
    rows = (
        centres[random.integers(0, 300, count)] + 0.7 * random.standard_normal((count, dimensions)) + 0.4
    ) * spectrum
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def coded(vectors: Vectors, start: int = 0, status: str = "active") -> list[Coded]:
    return [(start + n, start + n, 0, status, code) for n, code in enumerate(codes(vectors))]


@pytest.mark.parametrize(("dimensions", "count"), [(64, 3_000), (384, 6_000), (1024, 2_500), (1536, 2_000)])
def test_the_best_eight_are_those_of_an_exact_search(dimensions: int, count: int) -> None:
    vectors, questions = topics(count, dimensions, 1), topics(40, dimensions, 2)
    index, fetched = SignIndex(), 0
    index.update(1, [], coded(vectors))

    def fetch(numbers: Sequence[int]) -> Vectors:
        nonlocal fetched
        fetched += len(numbers)
        assert list(numbers) == sorted(set(numbers))
        return vectors[list(numbers)]

    for question in questions:
        scores = [score for _, _, score in index.nearest(question[None], {"active"}, 8, fetch)]
        assert scores == pytest.approx(sorted(vectors @ question, reverse=True)[:8], abs=1e-6)
    assert fetched < 40 * 1_100


def test_codes_never_change() -> None:
    """Codes stand in the files of users: if this fails, the schema needs a new version."""
    rows = np.sin(np.arange(3 * 384, dtype=np.float64) ** 1.3).astype(np.float32).reshape(3, 384)
    assert [len(code) for code in codes(rows)] == [BITS // 8] * 3
    assert hashlib.sha256(b"".join(codes(rows))).hexdigest()[:16] == "e348d3b754ba263d"


def test_codes_of_many_are_those_of_each() -> None:
    vectors = topics(5_000, 64, 4)
    apart = [code for start in range(0, 5_000, 1_000) for code in codes(vectors[start : start + 1_000])]
    assert codes(vectors) == apart


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["active", "draft", "retired"])), max_size=12), st.data())
def test_updates_one_by_one_are_like_all_at_once(changes: list[tuple[int, str]], data: st.DataObject) -> None:
    vectors = topics(len(changes) + 1, 32, 3)
    step, now = SignIndex(), dict[int, Coded]()
    for number, (entry, status) in enumerate(changes):
        old = [now[entry][1]] if entry in now else []
        (now[entry],) = coded(vectors[number : number + 1], number, status)
        step.update(number, old, [now[entry]])
    once = SignIndex()
    once.update(1, [], list(now.values()))
    statuses = data.draw(st.sets(st.sampled_from(["active", "draft", "retired"])))
    found = [i.nearest(vectors[-1:], statuses, 4, lambda numbers: vectors[list(numbers)]) for i in (step, once)]
    assert found[0] == found[1]
    assert {seq for seq, _, _ in found[0]} <= {seq for _, seq, _, status, _ in now.values() if status in statuses}


def test_equals_come_in_the_order_in_which_they_were_kept() -> None:
    assert best([(3, 0, 0.5), (1, 1, 0.5), (1, 0, 0.5), (2, 0, 0.5)], 2) == [(1, 0, 0.5), (2, 0, 0.5)]
