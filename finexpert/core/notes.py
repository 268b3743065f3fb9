"""The order of what is said on an answer: what may change it, then how its words were read, then what is good to know.

    >>> in_order(["trades is seen up to 2024-01-31 by day", "read 'Filled' as 'FILLED'", "COUNT(fee) leaves out the rows in which fee is missing"])
    ['COUNT(fee) leaves out the rows in which fee is missing', "read 'Filled' as 'FILLED'", 'trades is seen up to 2024-01-31 by day']

A note that no pattern knows may change the answer. Notes of one kind keep their order, and each stands once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from finexpert.core.reviews import NOT_CHECKED, UNSURE
from finexpert.core.statuses import MISSING

SHOWN = 5
"""As many notes are shown at once; the others unfold, or stand in the record."""
_READING = re.compile(r"read ['\"].+ as |of .+, these values matched: ")
_TO_KNOW = re.compile(
    r".+ is seen up to |.+ has no date column: it is read as it stands today|.+ is kept with a time zone: |no row is without a match: "
    r"|.+ leaves out nothing$|.+ meets no row: the other branches |the same question as in row |asked on "
)


# What a note says of the values that a column holds, and what it says without them.
_VALUES = (
    (re.compile(r"(of .+), these values matched: .*", re.DOTALL), r"\1, several values matched"),
    (
        re.compile(r"also holds .+, which is not the same text as", re.DOTALL),
        "also holds a text that is not the same as",
    ),
    (
        re.compile(r"(by \S+) .+ in (\S+), which is none of the words", re.DOTALL),
        r"\1 what was met in \2 is none of the words",
    ),
)


def without_values(note: str) -> str:
    """A note for a model that a program is asked by, which sees the values that an answer holds and no others.

    >>> without_values("of trades.side, these values matched: 'BUY', 'buy'")
    'of trades.side, several values matched'
    """
    for pattern, said in _VALUES:
        note = pattern.sub(said, note)
    return note


def in_order(notes: Iterable[str]) -> list[str]:
    """The notes without those that stand twice, the weightiest first."""
    return sorted(dict.fromkeys(notes), key=_place)


def may_change(note: str) -> bool:
    """Whether a note may change what an answer means to who reads it; the others tell how it came about.

    >>> may_change("COUNT(fee) leaves out the rows in which fee is missing"), may_change("of side, these values matched: 'buy'")
    (True, False)
    """
    return _place(note) < 2


def _place(note: str) -> int:
    if note.startswith((MISSING, UNSURE, NOT_CHECKED)):
        return 0
    return 2 if _READING.match(note) else 3 if _TO_KNOW.match(note) else 1
