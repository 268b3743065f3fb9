"""Ways of answering side by side, on the same questions: what each got right, what it cost, and what an extra call buys.

    >>> cheap = Way("a model", "direct", {"1": True, "2": False}, [Usage(calls=1), Usage(calls=1)])
    >>> dear = Way("a model", "reviewed", {"1": True, "2": True}, [Usage(calls=3), Usage(calls=3)])
    >>> [point.name for point in frontier([cheap.point, dear.point], "calls")], against(cheap, dear).won
    (['direct', 'reviewed'], ['2'])

A way is a mode with a model. Everything is paired: questions that only one of two ways was asked are left out of their
comparison.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from finexpert.core.answers import Usage
from finexpert.datasets.evaluations.evaluation import Result, Share, mcnemar, share
from finexpert.language_models.recordings.recorded import RECORDED

Cost = Literal["calls", "tokens", "cost_usd", "seconds"]
COSTS: tuple[Cost, ...] = ("calls", "tokens", "cost_usd", "seconds")


@dataclass(frozen=True)
class Point:
    """One way: its share of right answers, and its means a question.

    `cost_usd` is None where no price is known, `seconds` where completions were replayed: nobody waited for a model.
    """

    name: str
    accuracy: Share
    calls: float
    tokens: float
    cost_usd: float | None
    seconds: float | None

    def cost(self, kind: Cost) -> float | None:
        found: float | None = getattr(self, kind)
        return found


@dataclass(frozen=True)
class Way:
    """What one model in one mode answered: right or not by question, and what each question took."""

    model: str
    mode: str
    right: Mapping[str, bool]
    usages: Sequence[Usage]
    named: str = ""

    @property
    def name(self) -> str:
        return self.named or self.mode

    def only(self, keys: Collection[str]) -> Way:
        """The way on these questions alone, in its own order."""
        kept = [place for place, key in enumerate(self.right) if key in keys]
        right = {key: value for key, value in self.right.items() if key in keys}
        return replace(self, right=right, usages=[self.usages[place] for place in kept])

    @property
    def point(self) -> Point:
        n = max(1, len(self.usages))
        costs = [usage.cost_usd for usage in self.usages]
        return Point(
            self.name,
            share(sum(self.right.values()), len(self.right)),
            calls=sum(usage.calls for usage in self.usages) / n,
            tokens=sum(usage.prompt_tokens + usage.completion_tokens for usage in self.usages) / n,
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None) / n,
            seconds=None if self.model == RECORDED else sum(usage.seconds for usage in self.usages) / n,
        )


@dataclass(frozen=True)
class Pair:
    """A way against the first one: questions won and lost, McNemar's exact two-sided p, and what it cost more.

    `per_call` is what accuracy an extra call buys; None where there is no extra call.
    """

    first: str
    other: str
    won: list[str]
    lost: list[str]
    p: float
    gain: float
    extra_calls: float
    per_call: float | None


def against(first: Way, other: Way) -> Pair:
    """The other way against the first, on the questions that both were asked."""
    both = [key for key in first.right if key in other.right]
    _, _, p = mcnemar([first.right[key] for key in both], [other.right[key] for key in both])
    won = [key for key in both if other.right[key] and not first.right[key]]
    lost = [key for key in both if first.right[key] and not other.right[key]]
    gain = (len(won) - len(lost)) / len(both) if both else 0.0
    extra = other.point.calls - first.point.calls
    return Pair(first.name, other.name, won, lost, p, gain, extra, gain / extra if extra > 1e-9 else None)


def ways_of(results: Sequence[Result], modes: Sequence[str], model: str) -> list[Way]:
    """The results of single questions as ways of answering, one a mode that was asked anything."""
    ways = []
    for mode in modes:
        chosen = [result for result in results if result.rung == mode]
        if not chosen:
            continue
        right = {r.id if r.repeat == 1 else f"{r.id} ({r.repeat})": r.correct for r in chosen}
        ways.append(Way(model, mode, right, [result.usage for result in chosen]))
    return ways


def frontier(points: Sequence[Point], kind: Cost) -> list[Point]:
    """The points that no other beats: none is as accurate for less, none more accurate for the same; cheapest first."""
    best: list[Point] = []
    priced = [(cost, point) for point in points if (cost := point.cost(kind)) is not None]
    for _, point in sorted(priced, key=lambda each: (each[0], -each[1].accuracy.share)):
        if not best or point.accuracy.share > best[-1].accuracy.share:
            best.append(point)
    return best


def named(ways: Sequence[Way]) -> list[Way]:
    """The ways, told apart by mode, and by model too where there are several.

    >>> [way.name for way in named([Way("a", "direct", {}, []), Way("provider/b", "direct", {}, [])])]
    ['direct, a', 'direct, b']
    """
    if len({way.model for way in ways}) < 2:
        return list(ways)
    return [
        Way(way.model, way.mode, way.right, way.usages, f"{way.mode}, {way.model.rsplit('/', 1)[-1]}") for way in ways
    ]


def as_json(ways: Sequence[Way]) -> dict[str, Any]:
    """The comparison as it is written and logged: a point a way, a pair against the first, and the frontiers."""
    points = [way.point for way in ways]
    return {
        "points": [vars(point) | {"accuracy": point.accuracy._asdict()} for point in points],
        "pairs": [vars(against(ways[0], other)) for other in ways[1:]],
        "frontier": {kind: [point.name for point in frontier(points, kind)] for kind in COSTS},
    }
