"""The budget of a compile: what is asked for on the command line, and how it is shared out.

    >>> Purse(SpendingLimits.parse("calls=300")).share(parts=3).limits["calls"]
    100

Each layer gets an equal share of what is left. Within a layer, what the gate will take is set aside before candidates
are tried, so that what was found can still be judged. Minutes are those of this run; the rest counts over interruptions.
"""

from __future__ import annotations

import time

from finexpert.language_models.budget import Budget
from finexpert.language_models.limits import SpendingLimits
from finexpert.optimizers.compiling.journal import Spent


class Purse:
    """What is left of the limits. `started` is when the minutes began."""

    def __init__(self, limits: SpendingLimits) -> None:
        self.limits = limits
        self.spent = Spent()
        self.started = time.monotonic()

    def share(self, parts: int, already: Spent = Spent()) -> Budget:  # noqa: B008  (never changed)
        """One of so many equal shares of what is left, less what an interrupted run has spent of it already."""
        return Budget(
            calls=_part(self.limits.calls, self.spent.calls, parts, already.calls),
            usd=_share(self.limits.usd, self.spent.usd, parts, already.usd),
            tokens=_part(self.limits.tokens, self.spent.tokens, parts, already.tokens),
            seconds=None if self.minutes_left is None else max(0.0, self.minutes_left * 60 / parts),
        )

    @property
    def minutes_left(self) -> float | None:
        if self.limits.minutes is None:
            return None
        return self.limits.minutes - (time.monotonic() - self.started) / 60


def _share(limit: float | None, spent: float, parts: int, already: float) -> float | None:
    return None if limit is None else max(0.0, (limit - spent) / parts - already)


def _part(limit: int | None, spent: int, parts: int, already: int) -> int | None:
    # Rounded up: of the last call left, the layer that comes first gets it.
    return None if limit is None else max(0, -(-(limit - spent) // parts) - already)


def kept_back(budget: Budget, needed: Spent, seconds: float) -> Budget:
    """A budget within another one that leaves so much of it."""
    spent = budget.spent
    wanted = {"calls": needed.calls, "usd": needed.usd, "tokens": needed.tokens, "seconds": seconds}
    left = {
        name: None if limit is None else max(0.0, limit - spent[name] - wanted[name])
        for name, limit in budget.limits.items()
    }
    return Budget(
        calls=None if left["calls"] is None else int(left["calls"]),
        usd=left["usd"],
        seconds=left["seconds"],
        tokens=None if left["tokens"] is None else int(left["tokens"]),
    )
