"""The stages of a question under way, as a list that a person reads.

of([Event("planning", "ended", 2.5, 1, 0.002)])[0].cost     "2.5 s, 1 call, $0.0020"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from finexpert.core.progress import Event, Stage

_WORDS: dict[Stage, str] = {
    "understanding": "Understanding the question",
    "recalling": "Recalling what was taught",
    "planning": "Planning",
    "extracting": "Running the SELECT",
    "scripting": "Running the script",
    "reading": "Reading filings",
    "checking": "Checking",
    "answering": "Putting the answer together",
}


@dataclass(frozen=True)
class Step:
    words: str
    note: str
    ended: bool
    cost: str


def of(events: Sequence[Event]) -> list[Step]:
    """A step for each stage that began, in that order; one that ended says what it took.

    >>> [(step.words, step.ended) for step in of([Event("planning", "started"), Event("checking", "started"),
    ...                                           Event("checking", "ended", 0.1)])]
    [('Planning', False), ('Checking', True)]
    """
    steps: list[Step] = []
    running: list[tuple[str, int]] = []
    for event in events:
        if event.state == "started":
            running.append((event.stage, len(steps)))
            steps.append(Step(_WORDS[event.stage], event.note, False, ""))
            continue
        place = next((each for each in reversed(running) if each[0] == event.stage), None)
        if place is not None:
            running.remove(place)
            steps[place[1]] = Step(_WORDS[event.stage], steps[place[1]].note, True, _cost(event))
    return steps


def _cost(event: Event) -> str:
    parts = [f"{event.seconds:.1f} s"]
    if event.calls:
        parts.append("1 call" if event.calls == 1 else f"{event.calls} calls")
        parts.append("cost unknown" if event.usd is None else f"${event.usd:.4f}")
    return ", ".join(parts)
