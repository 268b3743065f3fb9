"""Memory lookup, measured apart: were the right processes recalled, and no wrong one?

    results = journal.in_order(partial(scored, lookup), load_examples("holdout"))   lookup(question, conversation) -> what it recalled
    summarise(results).recall_at_1                                    Share(right=86, n=90, share=0.956, ...)

No model is asked here: what is measured is handed in as a function.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel

from finexpert.datasets.evaluations.evaluation import Share, share
from finexpert.datasets.layers.lookup_examples import LookupExample
from finexpert.errors import OutputError
from finexpert.text.terms import normalise

Tier = Literal["none", "named", "whole", "part"]
Lookup = Callable[[str, str], tuple[Sequence[str], Tier, int]]


class LookupVerdict(NamedTuple):
    """What one lookup got right: `hit` is None, and the rest of needs is empty, where nothing was needed."""

    hit: bool | None
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    tier_right: bool

    @property
    def right(self) -> bool:
        return not self.missing and not self.extra


class LookupResult(BaseModel):
    """One question looked up once. `failure` is what the layer said where it gave nothing usable."""

    id: str
    split: str
    scenario: str
    kind: str
    question: str
    expected: list[str]
    found: list[str]
    tier: str
    hit: bool | None
    missing: list[str]
    extra: list[str]
    tier_right: bool
    right: bool
    calls: int = 0
    seconds: float = 0.0
    failure: str | None = None


RESULT = LookupResult


class LookupSummary(BaseModel):
    """Shares as [right, n, share, low, high]. `false_recalls` and `wrong_extra` are shares of errors."""

    n: int
    recall_at_1: Share
    recall_of_needed: Share
    all_needed: Share
    false_recalls: Share
    wrong_extra: Share
    tier: Share
    right: Share
    by_kind: dict[str, Share]
    by_scenario: dict[str, Share]
    failed: int
    calls: float
    without_call: Share
    seconds: float
    wrong: list[str]


def judge_lookup(expected: Sequence[str], whole: bool, found: Sequence[str], tier: Tier) -> LookupVerdict:
    """Compare what was recalled with what is needed, in any order but for the first.

    It is a hit when the first process recalled is a needed one. Tier `named` is right wherever something is needed.

    >>> judge_lookup(["Recession periods"], False, ["Output gap", "Recession periods"], "part")
    LookupVerdict(hit=False, missing=(), extra=('Output gap',), tier_right=True)
    >>> judge_lookup([], False, [], "none").right
    True
    """
    needed = {normalise(heading) for heading in expected}
    recalled = {normalise(heading) for heading in found}
    right_tiers = {"none"} if not needed else {"named", "whole" if whole else "part"}
    return LookupVerdict(
        hit=(bool(found) and normalise(found[0]) in needed) if needed else None,
        missing=tuple(heading for heading in expected if normalise(heading) not in recalled),
        extra=tuple(dict.fromkeys(heading for heading in found if normalise(heading) not in needed)),
        tier_right=tier in right_tiers,
    )


def scored(lookup: Lookup, example: LookupExample) -> LookupResult:
    """Look one question up, and judge what was recalled.

    `lookup(question, conversation)` gives the headings recalled, the tier, and how often a model was called. Output
    of a model that cannot be used counts as nothing recalled, and wrong; other errors stop the evaluation.
    """
    begun = time.perf_counter()
    found: Sequence[str] = []
    tier: Tier = "none"
    calls, failure = 0, None
    try:
        found, tier, calls = lookup(example.question, example.conversation)
    except OutputError as error:
        failure = str(error)
    seconds = time.perf_counter() - begun
    verdict = judge_lookup(example.expected, example.whole, found, tier)
    return LookupResult(
        **example.model_dump(include={"id", "split", "scenario", "question", "expected"}),
        **{**verdict._asdict(), "tier_right": verdict.tier_right and failure is None},
        kind=example.kind,
        found=list(found),
        tier=tier,
        right=verdict.right and failure is None,
        calls=calls,
        seconds=seconds,
        failure=failure,
    )


def summarise(results: Sequence[LookupResult]) -> LookupSummary:
    """Recall and false recalls with intervals; means a question of what it cost."""
    needing = [r for r in results if r.expected]
    free = [r for r in results if not r.expected]
    needed = sum(len(r.expected) for r in needing)
    recalled = sum(len(set(r.found)) for r in results)
    n = max(1, len(results))

    def right(chosen: Sequence[LookupResult]) -> Share:
        return share(sum(r.right for r in chosen), len(chosen))

    return LookupSummary(
        n=len(results),
        recall_at_1=share(sum(bool(r.hit) for r in needing), len(needing)),
        recall_of_needed=share(needed - sum(len(r.missing) for r in needing), needed),
        all_needed=share(sum(not r.missing for r in needing), len(needing)),
        false_recalls=share(sum(bool(r.found) for r in free), len(free)),
        wrong_extra=share(sum(len(r.extra) for r in results), recalled),
        tier=share(sum(r.tier_right for r in results), len(results)),
        right=right(results),
        by_kind={kind: right([r for r in results if r.kind == kind]) for kind in ("whole", "part", "none")},
        by_scenario={s: right([r for r in results if r.scenario == s]) for s in sorted({r.scenario for r in results})},
        failed=sum(r.failure is not None for r in results),
        calls=sum(r.calls for r in results) / n,
        without_call=share(sum(r.calls == 0 for r in results), len(results)),
        seconds=sum(r.seconds for r in results) / n,
        wrong=[r.id for r in results if not r.right],
    )
