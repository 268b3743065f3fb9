"""How good an answer over a library is, by four marks from 0 to 1 that are computed and not felt.

    completeness   how many of the parts were found
    specificity    how many values stand on a page of the company and the period asked for
    accuracy       how many are not contradicted: by the flags of their page, by other filings that print the same
    clarity        whether the answer says its unit and its period

A model is asked for none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from finexpert.core.plans import Plan, Search
from finexpert.core.workspace import Value
from finexpert.filings.records import LibraryPage

# A report prints its own year and up to four before it.
YEARS_BACK = 4
DISAGREES = "another filing: "


class Scores(NamedTuple):
    """The four marks."""

    completeness: float
    specificity: float
    accuracy: float
    clarity: float

    @property
    def overall(self) -> float:
        """The mean of the four."""
        return sum(self) / len(self)


def scores(plan: Plan, values: Mapping[int, Value], pages: Mapping[int, LibraryPage], answer: Value) -> Scores:
    """The marks of an answer: `values` and `pages` by the search step that gave them."""
    parts = [step for step in plan.steps if isinstance(step, Search)]
    if not parts:
        return Scores(1.0, 1.0, 1.0, _clarity(answer))
    found = [step for step in parts if step.id in values]
    specific = [step for step in found if step.id in pages and fits(step, pages[step.id])]
    sound = [step for step in found if not any(flag.startswith(DISAGREES) for flag in values[step.id].flags)]
    return Scores(len(found) / len(parts), len(specific) / len(parts), len(sound) / len(parts), _clarity(answer))


def fits(step: Search, page: LibraryPage) -> bool:
    """Whether a page is one that may print the year asked for."""
    if step.year is None or page.fiscal_year is None:
        return True
    return step.year <= page.fiscal_year <= step.year + YEARS_BACK


def agreement(value: Value, others: Sequence[tuple[LibraryPage, Value]]) -> list[str]:
    """What other pages print for the same row and year: a flag for each that differs by more than rounding."""
    flags = []
    for page, other in others:
        if _differ(value, other):
            flags.append(f"{DISAGREES}{page.label} prints {other.value:,.6g} there")
    return flags


def _differ(one: Value, other: Value) -> bool:
    if not isinstance(one.value, int | float) or not isinstance(other.value, int | float):
        return False
    a, b = abs(one.value * one.scale), abs(other.value * other.scale)
    # The scale may be told on one page only.
    return abs(a - b) > 0.005 * max(a, b) and abs(abs(one.value) - abs(other.value)) > 0.005 * max(
        abs(one.value), abs(other.value)
    )


def _clarity(answer: Value) -> float:
    if isinstance(answer.value, str | bool):
        return 1.0
    return 1.0 - 0.25 * (answer.unit is None and answer.scale == 1.0) - 0.25 * (answer.period is None)
