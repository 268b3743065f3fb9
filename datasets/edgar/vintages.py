"""Which facts change what earlier filings said.

    10-K of 2020   revenue of 2020: 100                              basis 0
    10-Q of 2021   revenue of 9 months of 2020: 66, was 70           basis 1: it restates

Two figures of a concept may be subtracted only if they were stated on the same basis: a year that leaves out what was sold
since, less nine months that hold it, is no fourth quarter. The basis of a fact is how many filings up to its own changed an earlier
value of its concept. It is made of earlier filings alone, so it holds on every day from the fact's own on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from finexpert.datasets.edgar.facts import Fact, Figure, rounds


class Stated(NamedTuple):
    """A fact with the basis that it is stated on, and whether it changes a value that was filed before."""

    fact: Fact
    basis: int
    restates: bool


def with_basis(facts: Iterable[Fact]) -> Iterator[Stated]:
    """The facts with their bases, without those that repeat an earlier one in rounded form."""
    by_concept: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        by_concept[fact.figure.concept, fact.figure.unit].append(fact)
    for same in by_concept.values():
        yield from _of_concept(sorted(same, key=lambda fact: fact.filing[:3]))


def _of_concept(facts: list[Fact]) -> Iterator[Stated]:
    known: dict[Figure, float] = {}
    basis = 0
    for _, filed in groupby(facts, key=lambda fact: fact.filing.accession):
        told = [fact for fact in filed if not _repeats_rounded(fact, known)]
        changed = {fact.figure for fact in told if _changes(fact, known)}
        basis += bool(changed)
        for fact in told:
            known[fact.figure] = fact.value
            yield Stated(fact, basis, fact.figure in changed)


def _repeats_rounded(fact: Fact, known: dict[Figure, float]) -> bool:
    """Whether a later text gives what was filed with fewer digits; an amendment and a single digit less are no rounding."""
    if fact.figure not in known or fact.filing.amended:
        return False
    return rounds(fact.value, known[fact.figure], fact.figure, digits=2)


def _changes(fact: Fact, known: dict[Figure, float]) -> bool:
    return known.get(fact.figure, fact.value) != fact.value
