"""What compiling a layer came to: what was tried, what was decided, and why."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from finexpert.optimizers.compiling.journal import Spent, States
from finexpert.optimizers.program.decision import Decision
from finexpert.optimizers.program.manifest import BeforeAfter, Provenance


@dataclass
class Candidate:
    """A program of the layer; `scores` are those of val, in order."""

    name: str
    states: States
    scores: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return math.fsum(self.scores) / len(self.scores)

    @property
    def size(self) -> int:
        """How much it adds to a prompt."""
        return len(json.dumps([dict(state) for state in self.states.values()]))


@dataclass
class Outcome:
    """What compiling a layer came to. Without a decision the budget ended before there was anything to decide."""

    layer: str
    recipe: str
    base: States
    tried: list[Candidate]
    best: Candidate | None = None
    decision: Decision | None = None
    scores: dict[str, BeforeAfter] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    ended: str = ""

    @property
    def kept(self) -> bool:
        return self.decision is not None and self.decision.keep

    @property
    def states(self) -> States:
        """The states that the program goes on with."""
        return self.best.states if self.kept and self.best else self.base

    @property
    def why(self) -> str:
        """The decision in words."""
        if self.decision is None:
            return f"not kept: {self.ended}"
        return f"{'kept' if self.kept else 'not kept'}: {self.decision.reason}"

    def provenance(self, **about: Any) -> Provenance:
        """What the manifest says of the layer; empty where it stayed as it was."""
        if not self.kept or self.best is None:
            return Provenance()
        arguments = {**about.pop("arguments", {}), "candidate": self.best.name, "tried": len(self.tried) - 1}
        arguments |= {"calls": self.spent.calls, "minutes": round(self.seconds / 60, 1), **self.counts}
        return Provenance(
            optimizer=self.recipe, arguments=arguments, scores=self.scores, decision=self.decision, **about
        )
