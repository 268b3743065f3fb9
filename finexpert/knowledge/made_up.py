"""Made-up processes, to measure a store that holds many: the same ones every time, and nothing that means anything.

    fill(Memory(entries, MadeUpEmbedder()), 100_000)
    "Copper supply band 00417", also "supply streak of copper 00417 1", with two steps

A text's vector is the sum of one random vector a word, so texts that share words are near each other, as with sentences,
and no model is asked. How well anything is found cannot be measured with them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from finexpert.embeddings.vectors import Vectors
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.text.terms import words_of

TOGETHER = 5_000
_GOODS = (
    "grain", "copper", "freight", "timber", "cotton", "silver", "barley", "tin", "wool", "sugar", "rubber", "zinc",
    "coffee", "steel", "cocoa", "wheat",
)  # fmt: skip
_KINDS = (
    "carry", "basis", "roll", "stock", "credit", "margin", "storage", "delivery", "hedge", "term", "volume", "demand",
    "supply", "price", "quality",
)  # fmt: skip
_MEASURES = (
    "spread", "band", "share", "rank", "gap", "trend", "cycle", "level", "streak", "ratio", "drawdown", "turnover",
    "surplus",
)  # fmt: skip


class MadeUpEmbedder:
    """An `Embedder` of random words.

    >>> one, like, other = MadeUpEmbedder().embed(["grain carry spread", "carry spread of grain", "tin ratio"])
    >>> bool(one @ like > 0.8), bool(one @ other < 0.3)
    (True, True)
    """

    dimensions = 384
    name = f"made-up-{dimensions}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words_of(text) or [""]:
                row += _of_word(word)
            row /= np.linalg.norm(row)
        return rows


@lru_cache(maxsize=4096)
def _of_word(word: str) -> Vectors:
    random = np.random.RandomState(zlib.crc32(word.encode()))
    return random.standard_normal(MadeUpEmbedder.dimensions).astype(np.float32)


def process(number: int, phrases: int = 3) -> Process:
    """The process with this number, found by `phrases` texts: a heading, aliases, and all of them with the steps.

    >>> process(417).phrases
    ('Copper supply band 00417', 'supply streak of copper 00417 1')
    >>> len(process(417).searched)
    3
    """
    good, kind, measure = _words(number)
    other = _MEASURES[(number // 7 + 1) % len(_MEASURES)]
    steps = [
        ProcessStep(text=f"Get the {kind} of {good} by month from <start>.", sql=f"SELECT date, {kind} FROM {good}"),
        ProcessStep(text=f"Compute its {measure} over {number % 36 + 1} months.", code="answer = frame.mean()"),
    ]
    aliases = [f"{kind} {other} of {good} {number:05} {alias}" for alias in range(1, phrases - 1)]
    heading = f"{good.capitalize()} {kind} {measure} {number:05}"
    return Process(heading=heading, aliases=aliases, steps=steps, status="active")


def question(number: int) -> str:
    """A question with words of the processes, which names none of them.

    >>> question(1)
    'How did the basis of copper move against the band of tin in 1991?'
    """
    good, kind, measure = _words(number)
    other, year = _GOODS[(number + 6) % len(_GOODS)], 1990 + number % 30
    return f"How did the {kind} of {good} move against the {measure} of {other} in {year}?"


def fill(memory: Memory, count: int, phrases: int = 3, done: Callable[[int], None] = lambda number: None) -> None:
    """Add processes until there are `count`; `done` is told how many were added."""
    for start in range(memory.size, count, TOGETHER):
        numbers = range(start, min(count, start + TOGETHER))
        memory.add_all([process(number, phrases) for number in numbers], "nobody")
        done(len(numbers))


def _words(number: int) -> tuple[str, str, str]:
    """Every combination before one comes again: the lengths of the lists have no common factor."""
    return _GOODS[number % len(_GOODS)], _KINDS[number % len(_KINDS)], _MEASURES[number % len(_MEASURES)]
