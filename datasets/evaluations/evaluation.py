"""What every evaluation shares: the result of a question, and the statistics over many.

A result is one question answered once on one rung:

    {"rung": "+retries", "repeat": 1, "id": "recessions-30y", "correct": true, "status": "answered", "gold": 3, ...}
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, Field
from scipy.stats import binomtest

from finexpert.core.answers import Answer, Failure, Usage
from finexpert.core.plans import Script
from finexpert.core.reviews import Review
from finexpert.storage.private_files import make_folder, write_whole


class Result(BaseModel):
    """One question, answered once, and the verdict."""

    rung: str
    repeat: int = 1
    id: str
    question: str
    category: str = ""
    needs: list[str] = Field(default_factory=list)
    status: str
    correct: bool
    also: dict[str, bool] = Field(default_factory=dict, description="verdicts by further rules, by their names")
    gold: Any = None
    answer: Any = None
    failure: Failure | None = None
    used: list[str] = Field(default_factory=list, description="terms and processes that the answer rests on")
    asked: str | None = Field(default=None, description="the term that was asked back")
    interpretation: str | None = None
    selects: dict[str, str] = Field(default_factory=dict)
    script: str | None = None
    usage: Usage = Usage()
    review: Review | None = Field(default=None, description="what critics did, in a mode that has them")

    @classmethod
    def of(cls, rung: str, question: Any, answer: Answer, /, **more: Any) -> Self:
        """The result of one answer: what every evaluation keeps of it, and `more`."""
        steps = answer.record.plan.steps if answer.record else []
        usual: dict[str, Any] = {
            "rung": rung,
            "id": question.id,
            "question": question.question,
            "status": answer.status,
            "failure": answer.failure,
            "interpretation": answer.explanation,
            "script": next((step.code for step in steps if isinstance(step, Script)), None),
            "usage": answer.usage,
        }
        return cls(**usual | more)

    @property
    def verdict(self) -> str:
        """'right', 'wrong answer', or what failed and where."""
        if self.correct:
            return "right"
        if self.asked:
            return "asked back"
        return f"{self.failure.layer}: {self.failure.kind}" if self.failure else "wrong answer"


def mean(values: Sequence[float]) -> float:
    """The mean, 0 of nothing.

    >>> mean([1.0, 2.0]), mean([])
    (1.5, 0.0)
    """
    return math.fsum(values) / len(values) if values else 0.0


class Share(NamedTuple):
    """A share with its 95 % Wilson interval."""

    right: int
    n: int
    share: float
    low: float
    high: float


def share(right: int, n: int) -> Share:
    """How many of n, with the interval.

    >>> s = share(28, 30); round(s.share, 3), round(s.low, 3), round(s.high, 3)
    (0.933, 0.787, 0.982)

    Of nothing it is 0 with an interval that says nothing, 0 to 1.
    """
    if n == 0:
        return Share(0, 0, 0.0, 0.0, 1.0)
    interval = binomtest(right, n).proportion_ci(method="wilson")
    return Share(right, n, right / n, float(interval.low), float(interval.high))


class Summary(BaseModel):
    """What one rung came to; shares as [right, n, share, low, high]."""

    rung: str
    overall: Share
    by_category: dict[str, Share]
    with_needs: Share
    without_needs: Share
    by_repeat: list[float]
    failures: dict[str, int]
    wrong: list[str]
    calls: float
    prompt_tokens: float
    completion_tokens: float
    cost_usd: float | None
    seconds: float
    outside_model_seconds: float
    prefix_share: float | None = None


def summarise(rung: str, results: Sequence[Result]) -> Summary:
    """Accuracy with intervals, failures by layer and kind, and means a question of what it cost."""

    def of(chosen: Iterable[Result]) -> Share:
        rows = list(chosen)
        return share(sum(r.correct for r in rows), len(rows))

    n = max(1, len(results))
    costs = [r.usage.cost_usd for r in results]
    shares = [r.usage.prefix_share for r in results if r.usage.prefix_share is not None]
    return Summary(
        rung=rung,
        overall=of(results),
        by_category={c: of(r for r in results if r.category == c) for c in sorted({r.category for r in results})},
        with_needs=of(r for r in results if r.needs),
        without_needs=of(r for r in results if not r.needs),
        by_repeat=[
            of(r for r in results if r.repeat == repeat).share for repeat in sorted({r.repeat for r in results})
        ],
        failures=dict(Counter(r.verdict for r in results if not r.correct).most_common()),
        wrong=sorted({r.id for r in results if not r.correct}),
        calls=sum(r.usage.calls for r in results) / n,
        prompt_tokens=sum(r.usage.prompt_tokens for r in results) / n,
        completion_tokens=sum(r.usage.completion_tokens for r in results) / n,
        cost_usd=None if None in costs else sum(c for c in costs if c is not None) / n,
        seconds=sum(r.usage.seconds for r in results) / n,
        outside_model_seconds=sum(r.usage.seconds - r.usage.model_seconds for r in results) / n,
        prefix_share=sum(shares) / len(shares) if shares else None,
    )


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> tuple[int, int, float]:
    """Cases that only the first or only the second has right, and the exact two-sided p-value.

    >>> mcnemar([True, True, True, False], [False, True, False, False])
    (2, 0, 0.5)
    """
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    n = only_first + only_second
    return only_first, only_second, float(binomtest(only_first, n).pvalue) if n else 1.0


def write_json(path: Path, content: Any) -> None:
    """Write JSON whole or not at all, readable by its owner only."""
    make_folder(path.parent)
    write_whole(path, json.dumps(content, indent=1, allow_nan=False, default=str))


@dataclass(frozen=True)
class Bin:
    """The answers whose confidence lies in one range: how sure they were, how often they were right."""

    low: int
    high: int
    count: int
    confidence: float
    accuracy: float
