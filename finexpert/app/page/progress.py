"""The stages of a question under way, as a list that a person reads.

of([Event("planning", "ended", 2.5, 1, 0.002)])[0].cost     "2.5 s, 1 call, $0.0020"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from finexpert.core.display.stages import duration, words
from finexpert.core.progress import Event

# A step that took less, and asked no model, took no time that a person would want to know of.
_NOTHING = 0.05


@dataclass(frozen=True)
class Step:
    words: str
    ended: bool
    cost: str


def of(events: Sequence[Event]) -> list[Step]:
    """A step for each stage that began, in that order; one that ended says what it took, if it took anything.

    What stands there already is not repeated for a step that took nothing.

    >>> [(step.words, step.ended) for step in of([Event("planning", "started"), Event("checking", "started"),
    ...                                           Event("checking", "ended", 0.1)])]
    [('Planning', False), ('Checking', True)]
    """
    steps: list[Step] = []
    running: list[tuple[str, int]] = []
    for event in events:
        if event.state == "started":
            running.append((event.stage, len(steps)))
            steps.append(Step(words(event), False, ""))
            continue
        place = next((each for each in reversed(running) if each[0] == event.stage), None)
        if place is not None:
            running.remove(place)
            steps[place[1]] = Step(steps[place[1]].words, True, _cost(event))
    return list(_without_repeats(steps))


def _without_repeats(steps: Sequence[Step]) -> Iterator[Step]:
    seen: set[str] = set()
    for step in steps:
        if not (step.ended and not step.cost and step.words in seen):
            yield step
        seen.add(step.words)


def _cost(event: Event) -> str:
    if not event.calls and event.seconds < _NOTHING:
        return ""
    parts = [duration(event.seconds)]
    if event.calls:
        parts.append("1 call" if event.calls == 1 else f"{event.calls} calls")
        parts += [f"${event.usd:.4f}"] if event.usd else []
    return ", ".join(parts)
