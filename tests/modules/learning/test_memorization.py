"""A model's text as a process: what is tidied, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import OutputError
from finexpert.modules.calling import using
from finexpert.modules.learning.memorization import Memorization


def memorize(desk: Any, heading: str = "", **given: Any) -> Any:
    desk.says("memorization", desk.process(**given))
    with using(desk.models):
        return Memorization()(conversation="turn 1, expert: count", schema_card="table sales", heading=heading)


def test_a_process_is_a_draft_with_steps_and_variables(desk: Any) -> None:
    variable = {"name": "start", "meaning": "first day", "example": "2020-01-01"}
    steps = [
        {"text": " Get the sales since <start>. ", "sql": "```sql\nSELECT date FROM sales WHERE date >= <start>;\n```"},
        {"text": "Count.", "code": "```python\nanswer = len(sales)\n```"},
    ]
    made = memorize(desk, variables=[variable], steps=steps, case_question=" How\nmany? ")
    process = made.process
    assert (process.heading, process.status, process.version, process.id) == ("Month count", "draft", 0, "")
    assert process.variables[0].model_dump() == variable
    assert [step.text for step in process.steps] == ["Get the sales since <start>.", "Count."]
    assert [step.sql for step in process.steps] == ["SELECT date FROM sales WHERE date >= <start>", None]
    assert [step.code for step in process.steps] == [None, "answer = len(sales)"]
    assert made.case_question == "How many?"


@pytest.mark.parametrize(("given", "heading"), [("", "Month count"), ("Counting", "Counting")])
def test_the_heading_of_the_expert_comes_first(desk: Any, given: str, heading: str) -> None:
    assert memorize(desk, given).process.heading == heading
    assert f"[[ ## given_heading ## ]]\n{given or '(none)'}" in desk.prompts[0]


def test_aliases_are_tidied(desk: Any) -> None:
    made = memorize(desk, aliases=["Month count", "  ", "count\nof months", "count of months"])
    assert made.process.aliases == ["count of months"]


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"steps": []}, "steps"),
        ({"heading": "?!"}, "heading"),
        ({"heading": "x" * 121}, "heading"),
        ({"heading": "Month\u202ecount"}, "heading"),
        ({"aliases": ["a" * 5000]}, "aliases.0"),
        ({"steps": [{"text": ""}]}, "text"),
        ({"steps": [{"text": "x" * 5000}]}, "text"),
        ({"steps": [{"text": "Count.", "sql": "SELECT 1 -- \u200b"}]}, "sql"),
        ({"variables": [{"name": "", "meaning": "", "example": ""}]}, "name"),
        ({"steps": [{"text": "Count."}] * 61}, "steps"),
        ({"steps": [{"no_text": "Count."}]}, "form asked for"),
        ({"steps": "count them"}, "form asked for"),
        ({"case_question": "  "}, "case_question"),
    ],
)
def test_what_is_no_process_is_refused(desk: Any, given: dict[str, Any], place: str) -> None:
    with pytest.raises(OutputError, match=place):
        memorize(desk, **given)
