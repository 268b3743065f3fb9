"""Scoring answers to ConvFinQA: strict, close and lenient, by turn and by conversation.

    >>> strict(0.101246, 0.10125), close(0.1014, 0.10125), lenient(-10.12, 0.10125)
    (True, True, True)

`strict` is the official rule, equal when rounded to five decimals; `close` forgives rounding (0.5 %, or 0.0001 below 1);
`lenient` also a percentage for a fraction, and the sign. A turn without an answer is wrong. Intervals are bootstrapped
over pages, because conversations share them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from finexpert.datasets.convfinqa.conversations import Conversation, ConversationType, GoldAnswer
from finexpert.datasets.convfinqa.programs import equal_programs, execute, steps_of, tokenize
from finexpert.datasets.evaluations.answer_matching import close, plain
from finexpert.datasets.evaluations.evaluation import Bin

MEASURES = ("strict", "close", "lenient")
_RESAMPLES = 2_000


def strict(predicted: object, gold: GoldAnswer) -> bool:
    """Equal when rounded to five decimals; "yes" and "no" as they are."""
    value = plain(predicted)
    if isinstance(gold, str) or isinstance(value, str) or value is None:
        return value == gold
    return round(value, 5) == gold


def lenient(predicted: object, gold: GoldAnswer) -> bool:
    """Close, also at 100 times or a hundredth of it, and with the other sign."""
    value = plain(predicted)
    if isinstance(gold, str) or isinstance(value, str) or value is None:
        return value == gold
    return any(close(sign * factor * value, gold) for sign in (1, -1) for factor in (1.0, 100.0, 0.01))


_RULES: dict[str, Callable[[object, GoldAnswer], bool]] = {"strict": strict, "close": close, "lenient": lenient}


@dataclass(frozen=True)
class TurnResult:
    """What became of one turn. `predicted` is None where there was no answer; `program` where it has no official form."""

    conversation: str
    page: str
    turn: int
    type: ConversationType
    gold: GoldAnswer
    predicted: object
    gold_program: str | None = None
    program: tuple[str, ...] | None = None
    confidence: int | None = None

    @classmethod
    def of(
        cls,
        conversation: Conversation,
        turn: int,
        predicted: object,
        program: Sequence[str] | None = None,
        confidence: int | None = None,
    ) -> TurnResult:
        """The result of a turn, counted from 1."""
        gold = conversation.turns[turn - 1]
        if gold.answer is None:
            raise ValueError(f"turn {turn} of {conversation.id} has no public answer to score against")
        tokens = tuple(program) if program else None
        return cls(
            conversation.id,
            conversation.page,
            turn,
            conversation.type,
            gold.answer,
            predicted,
            gold.program,
            tokens,
            confidence,
        )

    def right(self, measure: str) -> bool:
        return _RULES[measure](self.predicted, self.gold)

    @property
    def steps(self) -> int:
        return steps_of(self.gold_program) if self.gold_program else 0

    @property
    def program_right(self) -> bool:
        """Whether the official program is that of the gold, algebraically."""
        if self.program is None or self.gold_program is None:
            return False
        return equal_programs(tokenize(self.gold_program), self.program)


@dataclass(frozen=True)
class Share:
    """How many of how many, with the interval that 95 of 100 resamples of the pages give."""

    right: int
    of: int
    low: float | None = None
    high: float | None = None

    @property
    def share(self) -> float:
        return self.right / self.of if self.of else math.nan


@dataclass(frozen=True)
class Summary:
    """The table of one run. `given` is the accuracy of later turns by whether the turn before was right."""

    turns: dict[str, Share]
    conversations: dict[str, Share]
    answered: Share
    programs: Share
    program_execution: Share
    by_turn: dict[int, Share]
    by_type: dict[str, Share]
    by_steps: dict[int, Share]
    given: dict[str, Share]


def summarise(
    results: Sequence[TurnResult], measure: str = "close", tables: Callable[[str], Any] | None = None
) -> Summary:
    """All figures of a run; the breakdowns are by `measure`. `tables` gives a conversation's table to its programs."""
    by_conversation = _grouped(results, lambda r: r.conversation)
    whole = {name: [all(r.right(name) for r in turns) for turns in by_conversation.values()] for name in MEASURES}
    pages = [turns[0].page for turns in by_conversation.values()]
    with_program = [r for r in results if r.program is not None]
    executed = [
        strict(execute(r.program or (), tables(r.conversation) if tables else ()), r.gold) for r in with_program
    ]
    return Summary(
        turns={name: _share([r.right(name) for r in results], [r.page for r in results]) for name in MEASURES},
        conversations={name: _share(whole[name], pages) for name in MEASURES},
        answered=_share([r.predicted is not None for r in results]),
        programs=_share([r.program_right for r in results]),
        program_execution=Share(sum(executed), len(results)),
        by_turn=_broken_down(results, measure, lambda r: r.turn),
        by_type=_broken_down(results, measure, lambda r: r.type),
        by_steps=_broken_down(results, measure, lambda r: r.steps),
        given=_given_the_turn_before(by_conversation.values(), measure),
    )


def interval(right: Sequence[bool], pages: Sequence[str], seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of an accuracy, resampling whole pages.

    >>> interval([True, True, False, True], ["a", "a", "b", "c"])
    (0.0, 1.0)
    """
    names = {page: place for place, page in enumerate(dict.fromkeys(pages))}
    counts = np.zeros((len(names), 2))
    for value, page in zip(right, pages, strict=True):
        counts[names[page]] += (value, 1)
    drawn = np.random.default_rng(seed).integers(len(names), size=(_RESAMPLES, len(names)))
    sums = counts[drawn].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])
    return float(low), float(high)


def reliability(results: Iterable[TurnResult], measure: str = "close", bins: int = 10) -> tuple[list[Bin], float]:
    """The reliability table and the expected calibration error, over the turns that have a confidence."""
    judged = [(r.confidence, r.right(measure)) for r in results if r.confidence is not None]
    if not judged:
        return [], math.nan
    edges = [round(100 * place / bins) for place in range(bins + 1)]
    table = []
    for low, high in pairwise(edges):
        inside = [(c, right) for c, right in judged if low <= c < high or (high == 100 and c == 100)]
        if inside:
            sure = sum(c for c, _ in inside) / len(inside) / 100
            table.append(Bin(low, high, len(inside), sure, sum(right for _, right in inside) / len(inside)))
    error = sum(b.count * abs(b.confidence - b.accuracy) for b in table) / len(judged)
    return table, error


def _share(right: Sequence[bool], pages: Sequence[str] | None = None) -> Share:
    if not right or pages is None:
        return Share(sum(right), len(right))
    return Share(sum(right), len(right), *interval(right, pages))


def _grouped(results: Iterable[TurnResult], key: Callable[[TurnResult], Any]) -> dict[Any, list[TurnResult]]:
    groups: dict[Any, list[TurnResult]] = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    return groups


def _broken_down(results: Iterable[TurnResult], measure: str, key: Callable[[TurnResult], Any]) -> dict[Any, Share]:
    groups = _grouped(results, key)
    return {name: _share([r.right(measure) for r in groups[name]]) for name in sorted(groups)}


def _given_the_turn_before(conversations: Iterable[Sequence[TurnResult]], measure: str) -> dict[str, Share]:
    after: dict[str, list[bool]] = {"right": [], "wrong": []}
    for turns in conversations:
        ordered = sorted(turns, key=lambda r: r.turn)
        for before, result in pairwise(ordered):
            after["right" if before.right(measure) else "wrong"].append(result.right(measure))
    return {name: _share(right) for name, right in after.items()}
