"""Counts the calls of language models: by layer and in all, with tokens, seconds and cost.

    >>> with Meter() as meter, layer("planning"):
    ...     meter.add(Call("planning", "gpt", prompt_tokens=812, completion_tokens=95, seconds=2.5, cost=0.002))
    >>> meter.usage().by_layer, meter.usage().prompt_tokens
    ({'planning': 1}, 812)

A call that a cache or a recording serves counts with the tokens, the seconds and the cost that it had when it was
made: a usage says what the answer takes, not what this run of it happened to pay. `cached` says how many
calls DSPy's cache served. A call that failed is counted in `failed` alone, and in `fell_back` if another model was asked
instead, whose call counts as any other.
"""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from finexpert.core.answers import Usage
from finexpert.language_models.overlap import Span, on_the_clock
from finexpert.language_models.scope import Scope, current, within

UNNAMED = "other"


@dataclass(frozen=True)
class Call:
    """One completed call. `seconds` is the model's time when the call was made, `waited` the time it took now.

    `prefix` is the share of the prompt that the one before it began with. `ended` is when it ended now, by `time.perf_counter`.
    """

    layer: str | None
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    cost: float | None = None
    cached: bool = False
    replayed: bool = False
    prefix: float | None = None
    ended: float = field(default_factory=time.perf_counter, compare=False)


class Meter:
    """Counts the calls made within it, in any thread that DSPy starts or that runs in a copied context.

    Meters nest: a call counts for every meter around it, so the meter of a run sums those of its answers.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._stack: ExitStack | None = None
        self._started: float | None = None
        self._ended: float | None = None
        self.failed = 0
        self.fell_back = 0

    def __enter__(self) -> Self:
        if self._stack is not None:
            raise RuntimeError("this meter is running already; use one meter for each answer")
        self._stack = ExitStack()
        self._stack.enter_context(within(meters=(*current().meters, self)))
        self._started, self._ended = time.perf_counter(), None
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._ended = time.perf_counter()
        if self._stack is not None:
            self._stack.close()
            self._stack = None

    def add(self, call: Call) -> None:
        """Count one call."""
        with self._lock:
            self._calls.append(call)

    def add_failure(self) -> None:
        """Count one call that gave no completion."""
        with self._lock:
            self.failed += 1

    def add_fallback(self) -> None:
        """Count one call for which another model was asked instead."""
        with self._lock:
            self.fell_back += 1

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls in the order in which they ended."""
        with self._lock:
            return tuple(self._calls)

    @property
    def wall_seconds(self) -> float:
        """Seconds on the clock since the meter was entered, until it was left."""
        if self._started is None:
            return 0.0
        return (self._ended or time.perf_counter()) - self._started

    def usage(self) -> Usage:
        """The sums. Cost is None as soon as the price of one call is not known.

        `seconds` is the time on the clock with the model's own time in place of the wait for a cache or a recording.
        `model_seconds` are those of them in which at least one call ran: calls side by side count once, so
        `seconds - model_seconds` is the time outside the model, replayed or not.
        """
        calls = self.calls
        prefixes = [(call.prefix, call.prompt_tokens) for call in calls if call.prefix is not None]
        asked = sum(tokens for _, tokens in prefixes)
        by_layer: dict[str, int] = {}
        for call in calls:
            by_layer[call.layer or UNNAMED] = by_layer.get(call.layer or UNNAMED, 0) + 1
        started = self._started if self._started is not None else 0.0
        spans = [Span(max(call.ended - call.waited, started), call.ended, call.seconds) for call in calls]
        seconds, model_seconds = on_the_clock(spans, started, started + self.wall_seconds)
        return Usage(
            calls=len(calls),
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            completion_tokens=sum(call.completion_tokens for call in calls),
            cost_usd=total_cost(calls),
            seconds=seconds,
            model_seconds=model_seconds,
            by_layer=by_layer,
            cached=sum(call.cached and not call.replayed for call in calls),
            failed=self.failed,
            fell_back=self.fell_back,
            prefix_share=sum(share * tokens for share, tokens in prefixes) / asked if asked else None,
        )


def total_cost(calls: tuple[Call, ...]) -> float | None:
    """The sum of the costs, or None when one is not known.

    >>> total_cost((Call("planning", "a", cost=0.25), Call("planning", "b", cost=0.5)))
    0.75
    >>> total_cost((Call("planning", "a", cost=0.25), Call("planning", "b", cost=None))) is None
    True
    """
    costs = [call.cost for call in calls]
    return None if None in costs else float(sum(cost for cost in costs if cost is not None))


def layer(name: str) -> AbstractContextManager[Scope]:
    """Names the layer of the calls made within it."""
    return within(layer=name)
