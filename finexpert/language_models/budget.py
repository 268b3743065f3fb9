"""Budgets: a call that would pass one is not made.

    >>> with Budget(calls=2) as budget:
    ...     for _ in range(2):
    ...         admit((budget,)).close()
    ...     admit((budget,))
    Traceback (most recent call last):
        ...
    finexpert.errors.BudgetExceeded: the budget is used up: 2 of 2 calls; give more calls (FINEXPERT_BUDGET_CALLS)

Calls are exact. What a call takes in tokens or dollars is known only when it ends, so the last call may pass the
limit; side by side, calls are held back while those under way could use up the rest, so that no more than one does.
Money is what is paid now: a call served by a cache or a recording costs a call and its tokens, and no dollar.
Seconds are those on the clock within the budget; a call under way is not cut off by them.

An answer and a conversation that run out of budget end as the best answer so far, or as a failed one. A run stops: what
it had under way is dropped, so that nothing it measured was cut short, and it can go on with more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, Protocol, Self

from finexpert.core import progress
from finexpert.errors import BudgetExceeded, ConfigurationError
from finexpert.language_models.limits import PREFIX, Whose
from finexpert.language_models.scope import current, within
from finexpert.language_models.usage import Call

# One lock for all budgets: a call is admitted by every budget around it or by none.
_admission = threading.Condition()
# A call that is held back hears of a cancelled question as late as this.
_LOOK_UP_SECONDS = 0.5


class RunEnded(Exception):
    """The budget of a run is used up. Never leaves an evaluation, see `ended_by`."""


class Budget:
    """How much the calls within it may take. None means no limit. Budgets nest; the tightest decides.

    `whose` decides which settings a message names, and what happens when it is used up: BudgetExceeded for an answer
    and a conversation, RunEnded for a run.
    """

    def __init__(
        self,
        calls: int | None = None,
        usd: float | None = None,
        seconds: float | None = None,
        tokens: int | None = None,
        *,
        whose: Whose = "answer",
    ) -> None:
        self.whose = whose
        self.limits = {"calls": calls, "usd": usd, "seconds": seconds, "tokens": tokens}
        for name, limit in self.limits.items():
            if limit is not None and limit < 0:
                raise ConfigurationError(f"the budget {name}={limit} is negative; leave it out for no limit")
        self._spent = {"calls": 0.0, "usd": 0.0, "tokens": 0.0}
        self._largest: dict[str, float] = {}
        self._running = 0
        self._unpriced: str | None = None
        self._inside = 0
        self._started = time.monotonic()
        self._seconds = 0.0
        self._stack: ExitStack | None = None

    @classmethod
    def of(cls, settings: BudgetSettings, whose: Whose) -> Self:
        """The budget that the settings have for an answer, a conversation or a run."""
        limits: dict[str, Any] = {
            name: getattr(settings, f"{PREFIX[whose]}_{name}") for name in ("calls", "usd", "seconds", "tokens")
        }
        return cls(**limits, whose=whose)

    @contextmanager
    def counting(self) -> Iterator[Self]:
        """Within it, calls count against the budget; for one that is kept over several stretches of time."""
        with _admission:
            if not self._inside:
                self._started = time.monotonic()
            self._inside += 1
        try:
            with within(budgets=(*current().budgets, self)):
                yield self
        finally:
            with _admission:
                self._inside -= 1
                if not self._inside:
                    self._seconds += time.monotonic() - self._started

    def __enter__(self) -> Self:
        if self._stack is not None:
            raise RuntimeError("this budget is running already; use one budget for each answer")
        self._stack = ExitStack()
        self._stack.enter_context(self.counting())
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._stack is not None:
            self._stack.close()
            self._stack = None

    @property
    def spent(self) -> dict[str, float]:
        """What the calls took so far: calls, usd, tokens, and the seconds within the budget."""
        running = time.monotonic() - self._started if self._inside else 0.0
        return {**self._spent, "seconds": self._seconds + running}

    def add(self, spent: Mapping[str, float]) -> None:
        """Count what was spent before, as `spent` gave it then.

        >>> budget = Budget(calls=5); budget.add({"calls": 3.0, "seconds": 60.0}); budget.describe()
        {'calls': [3.0, 5]}
        """
        with _admission:
            for name in self._spent:
                self._spent[name] += spent.get(name, 0.0)
            self._seconds += spent.get("seconds", 0.0)

    @property
    def limited(self) -> bool:
        return any(limit is not None for limit in self.limits.values())

    def describe(self) -> dict[str, list[float]]:
        """What was spent of each limit, as [spent, limit].

        >>> Budget(calls=5, usd=0.5).describe()
        {'calls': [0.0, 5], 'usd': [0.0, 0.5]}
        """
        spent = self.spent
        return {name: [round(spent[name], 6), limit] for name, limit in self.limits.items() if limit is not None}

    def check(self) -> None:
        """Raise BudgetExceeded, or RunEnded, when no further call may be made."""
        for name, spent in self.spent.items():
            limit = self.limits[name]
            if limit is not None and spent >= limit:
                whose = "" if self.whose == "answer" else f" of this {self.whose}"
                told = (
                    f"the budget{whose} is used up: {spent:,.6g} of {limit:,.6g} {name}; "
                    f"give more {name} ({self._setting(name)})"
                )
                raise RunEnded(told) if self.whose == "run" else BudgetExceeded(told)
        if self._unpriced is not None and self.limits["usd"] is not None:
            raise ConfigurationError(
                f"the budget of {self.limits['usd']:g} usd cannot be kept: the price of {self._unpriced} is not known. "
                f"Give a budget of calls or seconds instead ({self._setting('calls')}, {self._setting('seconds')})."
            )

    def _setting(self, name: str) -> str:
        return f"FINEXPERT_{PREFIX[self.whose]}_{name}".upper()

    def must_wait(self) -> bool:
        """Whether the calls under way could use up the rest."""
        if not self._running:
            return False
        for name in ("usd", "tokens"):
            limit = self.limits[name]
            if limit is None:
                continue
            largest = self._largest.get(name)
            if largest is None or self._spent[name] + self._running * largest >= limit:
                return True
        return False

    def reserve(self) -> None:
        """Begin a call."""
        self._running += 1
        self._spent["calls"] += 1

    def settle(self, call: Call | None) -> None:
        """End a call; None if it failed."""
        self._running -= 1
        if call is None:
            return
        tokens = float(call.prompt_tokens + call.completion_tokens)
        paid = 0.0 if call.cached or call.replayed else call.cost
        if paid is None:
            self._unpriced = call.model
            paid = 0.0
        for name, amount in (("tokens", tokens), ("usd", paid)):
            self._spent[name] += amount
            self._largest[name] = max(self._largest.get(name, 0.0), amount)


class BudgetSettings(Protocol):
    """The settings that are read here; `finexpert.settings.Settings` has them."""

    budget_calls: int | None
    budget_usd: float | None
    budget_seconds: float | None
    budget_tokens: int | None


class Ended:
    """Whether a run came to the end of its budget, and in which words it says so."""

    def __init__(self) -> None:
        self.why = ""

    def __bool__(self) -> bool:
        return bool(self.why)


@contextmanager
def ended_by(budget: Budget) -> Iterator[Ended]:
    """A run within its budget: what is raised when that is used up ends the run, and is told.

    >>> with ended_by(Budget(calls=0, whose="run")) as ended:
    ...     admit((*current().budgets,))
    >>> ended.why
    'the budget of this run is used up: 0 of 0 calls; give more calls (FINEXPERT_BUDGET_RUN_CALLS)'
    """
    ended = Ended()
    try:
        with budget.counting():
            yield ended
    except RunEnded as error:
        ended.why = str(error)


class Ticket:
    """Leave to make one call; closing it says what the call took."""

    def __init__(self, budgets: tuple[Budget, ...]) -> None:
        self._budgets = budgets

    def close(self, call: Call | None = None) -> None:
        with _admission:
            for budget in self._budgets:
                budget.settle(call)
            self._budgets = ()
            _admission.notify_all()


def admit(budgets: tuple[Budget, ...]) -> Ticket:
    """Leave to make one call, waiting for calls under way where need be; BudgetExceeded if a budget is used up."""
    with _admission:
        while (ticket := _try(budgets)) is None:
            _admission.wait(_LOOK_UP_SECONDS)
            progress.check()
        return ticket


def _try(budgets: tuple[Budget, ...]) -> Ticket | None:
    for budget in budgets:
        budget.check()
    if any(budget.must_wait() for budget in budgets):
        return None
    for budget in budgets:
        budget.reserve()
    return Ticket(budgets)
