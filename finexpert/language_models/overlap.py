"""How long calls take on the clock where some run side by side, made now or replayed.

    two calls of 3 s, one after the other   ->   6 s
    two calls of 3 s, side by side          ->   3 s

A call that a cache or a recording serves takes no time now. It is given the time that it had when it was made, and what began
after its end still begins after it: so what ran side by side still does, and a replayed answer takes as long as the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """When a call began and ended now, on one clock, and how long it took when it was made."""

    began: float
    ended: float
    seconds: float


def on_the_clock(spans: Sequence[Span], started: float, ended: float) -> tuple[float, float]:
    """Seconds from start to end, and those of them in which at least one call ran.

    >>> on_the_clock([Span(0, 3, 3), Span(4, 7, 3)], 0, 8)
    (8, 6.0)
    >>> on_the_clock([Span(0, 3, 3), Span(1, 4, 3)], 0, 8)
    (8, 4.0)
    >>> on_the_clock([Span(0, 0, 3), Span(1, 1, 3)], 0, 2), on_the_clock([Span(0, 1, 3), Span(0, 1, 2)], 0, 2)
    ((8, 6.0), (4, 3.0))
    """
    moved: list[tuple[float, float]] = []
    waiting = sorted(spans, key=lambda span: span.ended)
    placed: dict[int, float] = {}
    done = 0
    last, last_moved = started, started
    for place in sorted(range(len(waiting)), key=lambda place: waiting[place].began):
        span = waiting[place]
        # Of those before it in this order none is missing: what ended before this one began, began earlier too.
        while done < len(waiting) and waiting[done].ended <= span.began and done in placed:
            last, last_moved = waiting[done].ended, max(last_moved, placed[done])
            done += 1
        begin = last_moved + span.began - last
        placed[place] = begin + span.seconds
        moved.append((begin, placed[place]))
    if waiting:
        last, last_moved = waiting[-1].ended, max(placed.values())
    return last_moved + ended - last - started, _covered(moved)


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """The length of the union."""
    covered, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, until))
        until = max(until, end)
    return covered
