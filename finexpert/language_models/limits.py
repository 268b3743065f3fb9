"""What may be spent, as it is written: calls, dollars, tokens, time.

    >>> SpendingLimits.parse("calls=300,usd=2,minutes=30")
    SpendingLimits(calls=300, usd=2.0, tokens=None, minutes=30.0)
    >>> SpendingLimits.parse("minutes=0.5").as_settings("run")
    {'budget_run_seconds': 30.0}

Whose it is (an answer's, a conversation's, a run's) stands in the names of the settings; it is kept by
`finexpert.language_models.budget`.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

from finexpert.errors import ConfigurationError

Whose = Literal["answer", "conversation", "run"]
PREFIX: dict[Whose, str] = {"answer": "budget", "conversation": "budget_conversation", "run": "budget_run"}


class SpendingLimits(NamedTuple):
    """What may be spent; None is no limit."""

    calls: int | None = None
    usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None

    @classmethod
    def parse(cls, text: str | None) -> SpendingLimits:
        """The limits in words such as "calls=300,minutes=30"; ConfigurationError names what is wrong."""
        given: dict[str, float] = {}
        for part in (text or "").split(","):
            name, _, number = (word.strip() for word in part.partition("="))
            if not name:
                continue
            if name not in cls._fields:
                raise ConfigurationError(f"--budget: {name!r} is none of {', '.join(cls._fields)}")
            try:
                given[name] = float(number)
            except ValueError:
                raise ConfigurationError(f"--budget: {part.strip()!r} is not of the form calls=300") from None
            if not math.isfinite(given[name]) or given[name] < 0:
                raise ConfigurationError(f"--budget: {part.strip()!r} is no amount")
        whole = {name: int(number) for name, number in given.items() if name in ("calls", "tokens")}
        return cls(**{**given, **whole})  # type: ignore[arg-type]

    def words(self) -> str:
        """As it is written on the command line.

        >>> SpendingLimits(calls=3).words(), SpendingLimits().words()
        ('calls=3', 'none')
        """
        return ",".join(f"{name}={value:g}" for name, value in self._asdict().items() if value is not None) or "none"

    def as_settings(self, whose: Whose) -> dict[str, Any]:
        """The settings that say the same."""
        given = {"calls": self.calls, "usd": self.usd, "tokens": self.tokens}
        given["seconds"] = None if self.minutes is None else self.minutes * 60
        return {f"{PREFIX[whose]}_{name}": value for name, value in given.items() if value is not None}
