"""Lines that ask for the last answer again, and lines that only look so."""

from __future__ import annotations

import pytest

from finexpert.answers.routing import route

REPEAT = """
What was that again?
and what was that again?
what was it again
Sorry, what was the answer again?
What was the last answer?
repeat that
Please repeat the answer.
Could you repeat that, please?
say that again
Can you say it once more?
what did you say?
Wait, what did you just say?
Come again?
One more time, please.
Remind me what that was.
I didn't catch that.
"""
AGAIN = """
Compute it again.
Please recalculate that.
recompute
Can you work it out again?
Ask that again.
"""
QUESTIONS = """
What was that in 2009?
And what was that as a percentage?
Repeat that for 2010.
What was it before?
What is that?
Say what the rate was again in 2001.
What did you say the rate was in 2001?
Compute it again without 2008.
How often did it fall again?
What was the answer to the first question?
Again?
what was the total again in 2008?
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (line, expected)
        for lines, expected in ((REPEAT, "repeat"), (AGAIN, "again"), (QUESTIONS, None))
        for line in lines.strip().splitlines()
    ],
)
def test_what_a_line_asks_for(line: str, expected: str | None) -> None:
    assert route(line) == expected


def test_a_long_line_is_a_question() -> None:
    assert route("please " * 40 + "repeat that") is None
