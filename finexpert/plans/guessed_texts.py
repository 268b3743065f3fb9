"""Texts that a script looked for in vain, where the question or the plan's reading of it speaks of them.

    versions.str.contains("approved")     "the approved budget", and the versions are 'Draft' and 'Final': a person is asked which

The model is told which text is nowhere and nothing else; the values are for the person. A SELECT's texts are looked up by
`warehouse/checks/literals.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz import fuzz, process, utils

from finexpert.core.workspace import NamedFrame
from finexpert.errors import UnknownValue
from finexpert.sandbox.looked_for import Unmet

_WORD = re.compile(r"[^\W\d_]{4,}")
_STEM = 5
_SHOWN = 20
_FEW = 50


def check_looked_for(unmet: Iterable[Unmet], frames: Mapping[str, NamedFrame], spoken_of: str) -> None:
    """Raises UnknownValue for a text that is spoken of and that no cell was.

    >>> import pandas as pd
    >>> budget = NamedFrame("budget", pd.DataFrame({"version": ["Draft", "Final"]}), "SELECT version FROM budget")
    >>> check_looked_for([Unmet(("approved|agreed",), 3, "budget", "version")], {"budget": budget}, "The approved budget of 2024.")
    Traceback (most recent call last):
    finexpert.errors.UnknownValue: line 3: no value of budget.version is 'approved|agreed'. Its values are not shown: other spellings that are likely may be looked for, and nothing else in its place
    >>> check_looked_for([Unmet(("TEUR", "thousands"), 3, "budget", "version")], {"budget": budget}, "The approved budget of 2024.")
    """
    said = _stems(spoken_of)
    for one in unmet:
        frame = frames.get(one.frame)
        if frame is None or one.column not in frame.data.columns or not said & _stems(" ".join(one.texts)):
            continue
        # What the SELECT compares with has been looked up in the table.
        if any(f"'{text}'" in frame.select for text in one.texts):
            continue
        place, looked_for = f"{one.frame}.{one.column}", " or ".join(map(repr, one.texts))
        raise UnknownValue(
            f"line {one.line}: no value of {place} is {looked_for}. Its values are not shown: other spellings that are likely may be "
            "looked for, and nothing else in its place",
            place=place,
            text=_spoken(one.texts, said),
            values=_values(frame, one),
        )


def is_for_a_person(error: UnknownValue) -> bool:
    """Whether the values are few enough to choose one, where no other spelling would find it."""
    return 0 < len(error.values) <= _SHOWN and not any(
        utils.default_process(error.text) in utils.default_process(value) for value in error.values
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM].casefold() for word in _WORD.findall(text))


def _spoken(texts: Sequence[str], said: frozenset[str]) -> str:
    words = [word for text in texts for word in _WORD.findall(text)]
    return next((word for word in words if word[:_STEM].casefold() in said), texts[0])


def _values(frame: NamedFrame, one: Unmet) -> tuple[str, ...]:
    """The column's values, all where they are few, else those nearest to what was looked for."""
    held = [str(value) for value in frame.data[one.column].dropna().unique()]
    if len(held) <= _SHOWN:
        return tuple(sorted(held))
    near = process.extract(" ".join(one.texts), held, scorer=fuzz.WRatio, processor=utils.default_process, limit=_FEW)
    return tuple(match[0] for match in near)
