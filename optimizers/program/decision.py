"""What a gate decided on a candidate, as the manifest keeps it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field


class Flip(NamedTuple):
    """An example of the holdout whose score changed."""

    id: str
    before: float
    after: float


class Score(BaseModel):
    """A mean score with its 95 % interval: Wilson's for scores of 0 and 1, else by bootstrap."""

    model_config = ConfigDict(extra="forbid")

    mean: float
    n: int
    low: float
    high: float


class Decision(BaseModel):
    """Whether a candidate is kept, and what it rests on. `difference` and what follows are of the holdout."""

    model_config = ConfigDict(extra="forbid")

    keep: bool
    reason: str
    passed: bool = Field(description="what the gate said; `keep` differs from it where it was overruled")
    test: Literal["mcnemar", "bootstrap"]
    difference: float = Field(description="mean score after minus before")
    interval: tuple[float, float] = Field(description="95 % interval of the difference, by paired bootstrap")
    p: float = Field(description="two-sided: how likely such a difference is if nothing changed")
    p_worse: float = Field(description="one-sided: how likely such a loss is if nothing got worse; 1 for no loss")
    n: int
    val_difference: float | None = None
    val_n: int | None = None
    flips: list[Flip] = Field(default_factory=list)
    note: str = Field(default="", description="what the holdout is too small to tell")
    overruled: bool = Field(default=False, description="kept by --keep-anyway")
