"""An answer whose checks had no time says so, and is not taken for sure."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.answers.cache.cache import SURE
from finexpert.warehouse.checks.reading import probing

CASE = {
    "id": "no-time", "database": "bank", "question": "What do customers with a ticket about fees owe?", "kind": "number",
    "first": "SELECT sum(l.outstanding_eur) FROM loans l JOIN tickets t ON t.customer_id = l.customer_id WHERE t.topic = 'Fees'",
}  # fmt: skip


def test_an_answer_without_its_checks_is_unsure(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "_SHORTEST", 99.0)
    answer = ask(CASE).answer
    assert answer.status == "answered"
    assert [flag for flag in answer.flags if flag.startswith("unsure: ") and "a join multiplies" in flag]
    # It is not kept for the next who asks.
    assert answer.confidence == 30 < SURE
