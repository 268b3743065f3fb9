"""What a line of a conversation asks for, where no model is needed to see it: the last answer once more, or computed again.

    "Sorry, what was that again?"  ->  "repeat"        "Compute it again."  ->  "again"        any question  ->  None

Only whole lines of a known form count, so "what was that in 2009?" stays a question.
"""

from __future__ import annotations

import re
from typing import Literal

Route = Literal["repeat", "again"]

_BEFORE = r"\W*(?:(?:and|sorry|wait|hm+|oh|ok|okay|please|pardon|excuse me|hold on)\b\W*)*"
_AFTER = r"(?:\W+(?:please|for me|thanks|thank you))*\W*"
_IT = r"(?:that|it|this|the (?:last |previous )?(?:answer|result|number|figure|value))"
_POLITELY = r"(?:(?:can|could|would|will) you (?:please )?)?"
_REPEAT = (
    rf"what(?: was|'s|\u2019s| is| were) {_IT} again"
    r"|what was the (?:last |previous )?answer"
    rf"|{_POLITELY}(?:repeat|restate) {_IT}(?: again| once more)?"
    rf"|{_POLITELY}(?:say|tell me|give me) {_IT} (?:again|once more|one more time)"
    r"|what did you (?:just )?say(?: again| just now)?"
    r"|(?:come again|say again|once more|one more time)"
    r"|(?:remind me )(?:again )?what (?:that|it|the (?:last )?answer) was"
    r"|i (?:did not|didn't|didn\u2019t) (?:catch|get|hear) that"
)
_AGAIN = (
    rf"{_POLITELY}(?:compute|calculate|work out|work|answer|ask) {_IT} (?:out )?(?:again|anew|afresh|once more)"
    rf"|{_POLITELY}(?:recompute|recalculate|redo)(?: {_IT})?"
)
_RULES: tuple[tuple[Route, re.Pattern[str]], ...] = (
    ("repeat", re.compile(f"{_BEFORE}(?:{_REPEAT}){_AFTER}", re.IGNORECASE)),
    ("again", re.compile(f"{_BEFORE}(?:{_AGAIN}){_AFTER}", re.IGNORECASE)),
)
_LONGEST = 120


def route(line: str) -> Route | None:
    """What the line asks for without naming it; None where it is a question like any other.

    >>> route("And what was that again?"), route("Could you repeat the answer, please?"), route("Recalculate that.")
    ('repeat', 'repeat', 'again')
    >>> route("What was that in 2009?"), route("Repeat that for 2010.")
    (None, None)
    """
    if len(line) > _LONGEST:
        return None
    return next((name for name, pattern in _RULES if pattern.fullmatch(line.strip())), None)
