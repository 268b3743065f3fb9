"""What a session does with a question before anybody answers it."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import Refused


@pytest.mark.parametrize("question", ["", " \n"])
def test_an_empty_question_is_refused_with_an_example(desk: Any, question: str) -> None:
    with pytest.raises(Refused, match="write it in words, such as"):
        desk.session(memory=False).ask(question)
    assert not desk.calls


@pytest.mark.parametrize("day", [None, "2020-12-31"])
def test_what_is_computed_again_is_of_a_given_day_where_the_first_was(desk: Any, day: str | None) -> None:
    desk.says("planning", desk.plan())
    session = desk.session(memory=False, as_of=day)
    first = session.ask("How many months?")
    again = session.ask("Compute it again.")
    assert first.record.as_of_given == again.record.as_of_given == (day is not None)
