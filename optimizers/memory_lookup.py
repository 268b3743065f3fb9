"""Compiling memory lookup: the right processes, and no wrong one, out of a memory of 49."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import dspy

from finexpert.datasets.layers import lookup_examples
from finexpert.datasets.layers.lookup_evaluation import Tier, judge_lookup
from finexpert.datasets.layers.records import LookupRecord
from finexpert.embeddings.embedding import embedder
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.taught import Taught
from finexpert.optimizers.compiling.metrics import DONE, Judged
from finexpert.optimizers.compiling.tasks import Task
from finexpert.signatures import rules
from finexpert.text.terms import normalise

# Most that a lookup is worth which is not all right.
PARTLY = 0.5
_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


class Recalled(NamedTuple):
    """What one lookup gave."""

    headings: Sequence[str]
    tier: Tier


class MemoryLookupTask(Task):
    """One lookup for an example: two calls, or fewer where no model is needed."""

    layer = "memory_lookup"

    @cached_property
    def memory(self) -> Memory:
        """All processes of the example set in one memory."""
        taught = Taught.open(self.bench.folder / "lookup.sqlite", embedder(self.bench.settings.embedder))
        if taught.memory.empty:
            lookup_examples.fill(taught.memory, lookup_examples.load_processes())
        return taught.memory

    def prepare(self) -> None:
        self.memory  # noqa: B018  (made when first looked at)

    def ask(self, layer: dspy.Module, record: LookupRecord) -> Recalled:
        found = layer(
            question=record.question,
            memory=self.memory,
            conversation=record.conversation or rules.NONE,
            judge=self.bench.settings.judge,
        )
        return Recalled([process.heading for process in found.processes], found.tier)

    def judge(self, record: LookupRecord, result: Recalled) -> Judged:
        verdict = judge_lookup(record.expected, record.whole, result.headings, result.tier)
        if verdict.right:
            return DONE
        words = [f"{', '.join(verdict.missing)} has to be followed too"] if verdict.missing else []
        words += [f"{', '.join(verdict.extra)} must not be recalled"] if verdict.extra else []
        hits = len(record.expected) - len(verdict.missing)
        score = PARTLY * 2 * hits / (len(record.expected) + hits + len(verdict.extra))
        return Judged(score, f"{' and '.join(words)}: judge by what is computed, not by shared words")

    def right(self, record: LookupRecord, place: str, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        expected = list(record.expected)
        if place == "generalise":
            # Of a question that needs nothing the set does not say how it would be headed.
            named = {"variants": expected, "parts": []} if record.whole else {"variants": [], "parts": expected}
            return named if expected else {"variants": [], "parts": []}
        chosen = [number for heading in expected for number in numbers_of(heading, inputs["processes"])]
        if len(chosen) < len(expected):
            return None
        return {"chosen": chosen, "whole": record.whole}

    def demonstrations(self, layer: dspy.Module, record: LookupRecord) -> dict[str, dspy.Example]:
        found = super().demonstrations(layer, record)
        if not record.expected:
            found.pop("generalise", None)
        return found


def numbers_of(name: str, numbered: str) -> list[int]:
    """The number under which a name stands in a numbered list of a prompt, none if it does not.

    >>> numbers_of("output gap", "1. Recession periods: ...\\n2. Output gap (also slack): ...")
    [2]
    """
    wanted = normalise(name)
    for number, line in _NUMBERED.findall(numbered):
        names = re.split(r" \(also |, |\)?: | / ", line)
        if wanted in {normalise(each) for each in names if each.strip()}:
            return [int(number)]
    return []


TASK = MemoryLookupTask
