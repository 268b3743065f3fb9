"""What a compile has done so far, on disk, so that an interrupted one goes on behind the last thing that was finished.

    {"kind": "made", "name": "bootstrap 2", "program": "5d1c...", "states": {"write": {...}}, "spent": {"calls": 6, ...}}
    {"kind": "scored", "program": "5d1c...", "split": "val", "id": "trades_without_fee", "score": 0.4, "spent": {...}}

One file a layer. A program is known by the fingerprint of its states, so a score counts whoever asked for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from finexpert.datasets.evaluations import journal
from finexpert.language_models.usage import Call
from finexpert.optimizers.program.fingerprints import digest

States = Mapping[str, Mapping[str, Any]]


class Spent(BaseModel):
    """What something took. `usd` is what was paid: nothing for calls served by a cache or a recording."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(calls=self.calls + other.calls, tokens=self.tokens + other.tokens, usd=self.usd + other.usd)

    @classmethod
    def of(cls, calls: Sequence[Call]) -> Spent:
        paid = sum(call.cost or 0.0 for call in calls if not (call.cached or call.replayed))
        return cls(calls=len(calls), tokens=sum(c.prompt_tokens + c.completion_tokens for c in calls), usd=paid)


class Line(BaseModel):
    """A candidate that was made, or an example that was scored."""

    kind: Literal["made", "scored"]
    program: str
    name: str = ""
    states: dict[str, dict[str, Any]] = Field(default_factory=dict)
    split: str = ""
    id: str = ""
    score: float = 0.0
    feedback: str = ""
    spent: Spent = Spent()
    of: str = ""


class Journal:
    """The lines of one layer, looked up by what they are about."""

    def __init__(self, place: Path) -> None:
        self._file = journal.Journal(place, Line)
        lines = self._file.results
        self.found = bool(lines)
        self._made = {line.name: line for line in lines if line.kind == "made"}
        self._scored = {_key(line): line for line in lines if line.kind == "scored"}

    def made(self, name: str) -> States | None:
        """The states of a candidate, None if it was not made yet."""
        return self._made[name].states if name in self._made else None

    def scored(self, program: str, split: str, id: str) -> Line | None:
        return self._scored.get((program, split, id))

    def add_made(self, name: str, states: States, spent: Spent) -> None:
        plain = {place: dict(state) for place, state in states.items()}
        line = Line(kind="made", name=name, program=fingerprint(states), states=plain, spent=spent)
        self._made[name] = line
        self._file.add(line)

    def add_scored(self, line: Line) -> None:
        """Keep a score; the first one of an example counts."""
        if self._scored.setdefault(_key(line), line) is line:
            self._file.add(line)

    @property
    def spent(self) -> Spent:
        """All that the lines took."""
        return sum((line.spent for line in list(self._file.results)), Spent())


def _key(line: Line) -> tuple[str, str, str]:
    return line.program, line.split, line.id


def fingerprint(states: States) -> str:
    """What a program asks, as a hash."""
    return digest({place: dict(state) for place, state in states.items()})
