"""What a plan that is being run has so far, and what its steps refer to."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from finexpert.core.answers import AnswerFormat
from finexpert.core.plans import Plan, Reference, Step
from finexpert.core.workspace import NamedFrame, Value, Workspace
from finexpert.errors import PlanError
from finexpert.plans.surroundings import Surroundings


@dataclass
class Running:
    """The registers of one run: what each step gave, and the steps as they were in the end run."""

    plan: Plan
    workspace: Workspace
    around: Surroundings
    registers: dict[int, Value] = field(default_factory=dict)
    done: dict[int, Step] = field(default_factory=dict)
    figures: list[bytes] = field(default_factory=list)
    repairs: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"sql": 0.0, "script": 0.0})
    answer_format: AnswerFormat | None = None

    def look_up(self, ref: Reference) -> Value:
        if ref.kind == "step":
            if ref.number not in self.registers:
                raise PlanError(f"step {ref.number} gives no value to use or to answer with")
            return self.registers[ref.number]
        turn = self.workspace.turn(ref.number)
        if turn.value is None:
            raise PlanError(f"turn {ref.number} ({turn.question!r}) has no answer to refer to")
        return self._of_its_day(ref.number, turn.as_of, turn.value)

    def _of_its_day(self, number: int, then: dt.date | None, value: Value) -> Value:
        """The value of an earlier turn, where it may be used as of the day of this question: PlanError where it holds what came later."""
        checks = self.around.checks
        if checks is None:
            return value
        day = None if checks.declared_only else checks.as_of
        if day is not None and (then is None or then > day):
            was = f"as of {then}" if then else "without a day"
            raise PlanError(
                f"turn {number} was answered {was}, and this question is asked as of {day}: compute it again"
            )
        if then is not None and then != day:
            return value.with_flags(f"turn {number} was answered as of {then}: what came later is not in its value")
        return value


def counted(steps: Sequence[Step], one: str, several: str) -> str:
    """How many steps there are, in words for who waits."""
    return f"{len(steps)} {one if len(steps) == 1 else several}"


def iso_date(text: str) -> dt.date | None:
    """The day that a text says; None for any other text."""
    try:
        return dt.date.fromisoformat(text.strip())
    except ValueError:
        return None


def span(frames: Sequence[NamedFrame]) -> str | None:
    """First and last date of the frames: the time that an answer rests on, where the script does not say it."""
    columns = [f.data[c].dropna() for f in frames for c in f.data.columns if f.data[c].dtype.kind == "M"]
    days = [day for column in columns if len(column) for day in (column.min(), column.max())]
    return f"{min(days).date()} to {max(days).date()}" if days else None
