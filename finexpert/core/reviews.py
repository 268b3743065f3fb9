"""Reviews: what became of an answer after its first plan ran, stage by stage, and what that does to its confidence.

    >>> Review(agreement="agreed").judged([], 80)
    ([], 80)
    >>> Review(agreement="disputed", note="an independent plan gave 7").judged([], 80)
    (['critics: an independent plan gave 7'], 35)

Values are compared, never opinions; nothing here asks a model. The points stand in the constants below.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from finexpert.core.plans import Cell, Plan, Quote

Ending = Literal["done", "skipped", "failed", "unreachable", "budget"]
Agreement = Literal["agreed", "settled", "disputed", "unchecked"]

# A model that plans twice makes the same mistake twice: of 358 turns of ConvFinQA that a frontier model planned and its
# critic derived again, 354 agreed, and one in ten of these was wrong, as without a critic. So agreement adds nothing.
AT_MOST = {"settled": 70, "disputed": 35}
CUT_SHORT = 30
OF_A_WAREHOUSE = 80
"""How sure an answer over a warehouse is before anything was compared with it."""
UNSURE, NOT_CHECKED = "unsure: ", "not checked: "
"""How flags begin that tell of a check without an end: of one that decides about an answer, and of any other."""
_AT_MOST_UNCHECKED = {UNSURE: 30, NOT_CHECKED: 45}


class Stage(BaseModel):
    """One stage and how it ended.

    "failed": its model's text or what it proposed was of no use; "unreachable": its model or the sandbox broke;
    "budget": a further call would have passed the budget; "skipped": there was nothing for it to do.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    ending: Ending
    detail: str = ""
    seconds: float = 0.0


class Correction(BaseModel):
    """An objection that stood the test: the place is on the page, and gives another value than the step read."""

    step: int = Field(description="the step that it corrects; 0 for a value that nobody read")
    instead: Cell | Quote
    value: float | str
    reason: str

    @property
    def place(self) -> str:
        return place(self.instead)


class Verdict(BaseModel):
    """What one critic came to: corrections that were verified, or a plan of its own that was executed."""

    critic: str
    agrees: bool
    corrections: list[Correction] = Field(default_factory=list)
    plan: Plan | None = None
    value: Any = Field(default=None, exclude=True, repr=False)


class Review(BaseModel):
    """Everything after the first executed value.

    `agreement` is "agreed" where an independent plan gave the same value, "settled" where two of three did,
    "disputed" where no two did, "unchecked" where no critic had anything to compare.
    """

    stages: list[Stage] = Field(default_factory=list)
    verdicts: list[Verdict] = Field(default_factory=list)
    agreement: Agreement = "unchecked"
    revised: bool = False
    note: str = ""

    @property
    def cut_short(self) -> Stage | None:
        """The stage in which the budget ended, if it did."""
        return next((stage for stage in self.stages if stage.ending == "budget"), None)

    def judged(self, flags: Sequence[str], confidence: int) -> tuple[list[str], int]:
        """Flags and confidence of an answer, with what the review says of it."""
        found = [*flags, *([f"critics: {self.note}"] if self.note else [])]
        confidence = min(confidence, AT_MOST.get(self.agreement, 100))
        for stage in self.stages:
            if stage.ending in ("failed", "unreachable"):
                found.append(f"not reviewed by the {stage.name.replace('_', ' ')}: {stage.detail}")
        if cut := self.cut_short:
            found.append(
                f"low confidence: the budget ended before the {cut.name.replace('_', ' ')}; the best answer so far"
                + (f" ({cut.detail})" if cut.detail else "")
            )
            confidence = min(confidence, CUT_SHORT)
        return found, confidence


def unless_unchecked(flags: Sequence[str], confidence: int | None) -> int | None:
    """The confidence of an answer over a warehouse: lower where a check of its SELECT came to no end.

    >>> unless_unchecked(["unsure: no time to check whether a join multiplies rows"], None), unless_unchecked([], None)
    (30, None)
    """
    limits = [most for flag in flags for start, most in _AT_MOST_UNCHECKED.items() if flag.startswith(start)]
    return min([*limits, OF_A_WAREHOUSE if confidence is None else confidence]) if limits else confidence


def place(step: Cell | Quote) -> str:
    """Where a step reads.

    >>> place(Cell(id=1, row="net sales", column="2014")), place(Quote(id=2, quote="sales of $ 5", value="5"))
    ("row 'net sales', column '2014'", "'5' in the words 'sales of $ 5'")
    """
    if isinstance(step, Cell):
        return f"row {step.row!r}, column {step.column!r}"
    return f"{step.value!r} in the words {step.quote!r}"


def agree(one: Any, other: Any, tolerance: float = 1e-9) -> bool:
    """Whether two values are the same answer; numbers within a relative tolerance.

    >>> agree(0.3, 0.1 + 0.2), agree([1, "Yes"], [1.0, "yes"]), agree(True, 1), agree(4.5, 4.51, tolerance=0.005)
    (True, True, False, True)
    """
    if isinstance(one, pd.DataFrame) or isinstance(other, pd.DataFrame):
        return _same_tables(one, other, tolerance)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(agree(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-9)
    if isinstance(one, str) and isinstance(other, str):
        return one.strip().casefold() == other.strip().casefold()
    return isinstance(one, dt.date) and isinstance(other, dt.date) and one == other


def _same_tables(one: Any, other: Any, tolerance: float) -> bool:
    if not isinstance(one, pd.DataFrame) or not isinstance(other, pd.DataFrame) or one.shape != other.shape:
        return False
    rows = zip(one.to_numpy(dtype=object).tolist(), other.to_numpy(dtype=object).tolist(), strict=True)
    return all(agree(a, b, tolerance) for a, b in rows)
