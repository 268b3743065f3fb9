"""The workspace: what a conversation has so far, frames and values by name, with where each came from.

    >>> space = Workspace()
    >>> space.add_turn(Turn(question="revenue in 2017?", value=Value(value=26.0, unit="USD million")))
    >>> space.turn(-1).value.value
    26.0

It holds data, no language model and no connection; a session saves it, an answer reads it.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace

import pandas as pd

from finexpert.core.answers import AnswerFormat, Citation, Scalar
from finexpert.core.plans import Plan
from finexpert.errors import PlanError


@dataclass(frozen=True)
class Value:
    """One value with its meaning and its origin.

    `value` is at full precision in the unit of its page; `scale` says by how much a printed number is to be
    multiplied to have plain units (1e6 for "in millions") and is 1 where nothing is said.
    """

    value: Scalar | list[float]
    unit: str | None = None
    scale: float = 1.0
    entity: str | None = None
    period: str | None = None
    citations: tuple[Citation, ...] = ()
    flags: tuple[str, ...] = ()

    def with_flags(self, *flags: str) -> Value:
        return replace(self, flags=self.flags + flags)


class NamedFrame:
    """A frame of the conversation: the data, and the SELECT it came from.

    `written` is the SELECT as the model wrote it, for prompts: the one that ran may hold texts as their column spells them. `notes` are for
    the person, `as_of` is the day that it was fetched as of, and `period` what its conditions ask about.
    """

    # No dataclass: tracers write out the fields of dataclasses, and what is printed or traced must not hold rows.

    def __init__(
        self,
        name: str,
        data: pd.DataFrame,
        select: str,
        purpose: str = "",
        truncated: bool = False,
        fingerprint: str = "",
        as_of: dt.date | None = None,
        notes: tuple[str, ...] = (),
        period: str | None = None,
        written: str = "",
    ) -> None:
        self.name = name
        self.data = data
        self.select = select
        self.written = written or select
        self.purpose = purpose
        self.truncated = truncated
        self.fingerprint = fingerprint
        self.as_of = as_of
        self.notes = notes
        self.period = period

    def known_by(self, day: dt.date | None) -> bool:
        """Whether nothing in it is later than a day: a frame that was fetched as of a later day may not be used again."""
        return day is None or (self.as_of is not None and self.as_of <= day)

    def _repr_html_(self) -> str:
        """What a notebook shows; its owner looks at it, and it is in no log or trace."""
        from finexpert.core.display import html

        return html.of_frame(self)

    def __repr__(self) -> str:
        return f"NamedFrame({self.name!r}, {len(self.data):,} rows of {self.select!r})"


@dataclass(frozen=True)
class Turn:
    """An earlier question and what became of it; `value` is None where there was no answer, `as_of` where no day was asked for.

    `words` are all that was answered of it, where `value` is what was asked first. A message that only `explained` something asked nothing.
    """

    question: str
    value: Value | None = None
    interpretation: str = ""
    entity: str | None = None
    plan: Plan | None = None
    script: str | None = None
    answer_format: AnswerFormat | None = None
    as_of: dt.date | None = None
    words: str = ""
    explained: bool = False


@dataclass
class Workspace:
    """Frames by name, and the turns so far."""

    frames: dict[str, NamedFrame] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)

    def add_frame(self, frame: NamedFrame) -> None:
        self.frames[frame.name] = frame

    def add_turn(self, turn: Turn) -> None:
        self.turns.append(turn)

    def turn(self, number: int) -> Turn:
        """The turn counted from 1, or from the end with a negative number."""
        index = number - 1 if number > 0 else len(self.turns) + number
        if number == 0 or not 0 <= index < len(self.turns):
            raise PlanError(f"there is no turn {number}; the conversation has {len(self.turns)} so far")
        return self.turns[index]
