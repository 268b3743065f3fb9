"""Measures that analysts name, by what filings print: `measures.yaml` beside this file, some sixty of them.

    >>> [measure.name for measure in named_in("Has its quick ratio improved? And FCF conversion?")]
    ['quick ratio', 'free cash flow conversion']
    >>> found = named_in("What is the DPO?")[0]
    >>> found.statements, found.phrases[0]
    (('balance sheet', 'income statement'), 'accounts payable trade payables accounts payable and accrued liabilities')

A planner is told of those that the question names, and of no others. Nothing is computed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from finexpert.plans.pages.statements import Statement

_SAID_IN_CAPITALS = 4


@dataclass(frozen=True)
class Measure:
    """One measure; `phrases` are searches for its lines under all their names."""

    name: str
    also: tuple[str, ...]
    formula: str
    lines: tuple[str, ...]
    statements: tuple[Statement, ...]
    phrases: tuple[str, ...]
    not_for: str = ""

    def told(self) -> str:
        """What a planner is told of it."""
        rest = f"; not meaningful for {self.not_for}" if self.not_for else ""
        return f"{self.name} = {self.formula} ({', '.join(self.statements)}){rest}"


@cache
def catalogue() -> tuple[Measure, ...]:
    """All measures, in the order of the file."""
    content = yaml.safe_load(files("finexpert.plans.pages").joinpath("measures.yaml").read_text(encoding="utf-8"))
    lines: dict[str, list[str]] = content["lines"]
    return tuple(_measure(entry, lines) for entry in content["measures"])


def named_in(question: str) -> list[Measure]:
    """The measures that a question names; the longest name wins where one is a part of another."""
    found: list[tuple[int, int, Measure]] = []
    for measure in catalogue():
        for name in (measure.name, *measure.also):
            match = _pattern(name).search(question)
            if match:
                found.append((match.start(), match.end(), measure))
    kept: list[tuple[int, Measure]] = []
    for start, end, measure in found:
        inside = any(a <= start and end <= b and (a, b) != (start, end) for a, b, _ in found)
        if not inside and all(measure.name != other.name for _, other in kept):
            kept.append((start, measure))
    return [measure for _, measure in sorted(kept, key=lambda each: each[0])]


def told(measures: Sequence[Measure]) -> str:
    """The measures as a prompt holds them, one a line."""
    return "\n".join(measure.told() for measure in measures)


def _measure(entry: dict[str, Any], lines: dict[str, list[str]]) -> Measure:
    phrases = tuple(" ".join([line, *lines.get(line, [])[:2]]) for line in entry["lines"])
    return Measure(
        name=entry["name"],
        also=tuple(entry["also"]),
        formula=entry["formula"],
        lines=tuple(entry["lines"]),
        statements=tuple(entry["in"]),
        phrases=phrases,
        not_for=entry.get("not_for", ""),
    )


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """A name as whole words; initials stand in capitals, or they are words of something else."""
    initials = name.isupper() and len(name) <= _SAID_IN_CAPITALS
    words = r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", name)))
    return re.compile(rf"(?<!\w){words}s?(?!\w)", 0 if initials else re.IGNORECASE)
