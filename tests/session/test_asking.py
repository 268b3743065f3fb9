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
