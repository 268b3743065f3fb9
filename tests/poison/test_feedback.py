"""What people say about answers as a way in: nothing of it is in a prompt, defines a word, verifies a query or is an example, whatever it says.

Each line of `feedback.jsonl` is a reason as somebody might write it who wants it to be more than a reason.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finexpert.answers import feedback
from finexpert.datasets.layers import kept
from finexpert.errors import DataError

CASES = [json.loads(line) for line in Path(__file__).with_name("feedback.jsonl").read_text("utf-8").splitlines()]
QUESTION = "What was the total amount in the north region in 2020?"
SELECT = "SELECT sum(amount) AS total FROM sales WHERE region = 'north'"


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_reason_is_a_reason(desk: Any, case: dict[str, str], up: bool) -> None:
    desk.says("planning", desk.plan("", "number", SELECT, ("total",), "totals"))
    session = desk.session()
    first = session.ask(QUESTION)
    home = session.settings.home
    try:
        feedback.add(home, feedback.of_record(first.record, "chat", up, case["reason"], "mallory"))
    except DataError:
        assert "\x1b" in case["reason"]
        return
    (entry,) = feedback.queue(home)
    assert (entry.id, entry.up, entry.question, entry.select) == (first.record.id, up, QUESTION, SELECT)
    assert entry.reason.split() == case["reason"].split()
    desk.calls.clear()
    again = desk.session().ask(QUESTION)
    assert (again.value, again.meanings, again.processes, again.offers) == (first.value, {}, [], [])
    assert [layer for layer in desk.layers if layer != "listening"] == ["planning"]
    assert "CANARY" not in "".join(desk.prompts)
    taught = desk.taught()
    assert (taught.verified.items(), taught.memory.items(), taught.glossary.items()) == ([], [], [])
    assert not kept.examples_file(home).exists()


def test_there_are_enough_of_them() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 12
    assert all("CANARY" in case["reason"] for case in CASES)
