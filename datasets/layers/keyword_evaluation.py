"""Keyword rephrasing, measured apart: were the terms of the house found, and was asked exactly when needed?

    results = journal.in_order(partial(scored, rephrase), load_examples("holdout"))   rephrase(example) -> Rephrased(question, ...)
    summarise(results).asked_exactly_when_needed                        Share(right=59, n=61, share=0.967, ...)

No model is asked here: what is measured is handed in as a function.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from finexpert.datasets.evaluations.answer_matching import fold
from finexpert.datasets.evaluations.evaluation import Share, share
from finexpert.datasets.layers.keyword_examples import KeywordExample
from finexpert.errors import OutputError
from finexpert.text.terms import normalise


class Rephrased(NamedTuple):
    """What the layer made of a question: `terms` are those of the glossary that it used, `asked` what it asks about."""

    question: str
    terms: Sequence[str] = ()
    asked: Sequence[str] = ()
    calls: int = 0


class KeywordVerdict(NamedTuple):
    """What one rephrasing got right. `untouched` is None where the question has something to find or to ask."""

    found: tuple[str, ...]
    missed: tuple[str, ...]
    wrong: tuple[str, ...]
    asked_right: bool
    lost: tuple[str, ...]
    untouched: bool | None

    @property
    def right(self) -> bool:
        return self.asked_right and self.untouched is not False and not (self.missed or self.wrong or self.lost)


class KeywordResult(BaseModel):
    """One question rephrased once. `failure` is what the layer said where it gave nothing usable."""

    id: str
    split: str
    scenario: str
    kind: str
    question: str
    rephrased: str
    expected_terms: list[str]
    ask: list[str]
    asked: list[str]
    found: list[str]
    missed: list[str]
    wrong: list[str]
    asked_right: bool
    lost: list[str]
    untouched: bool | None
    right: bool
    calls: int = 0
    seconds: float = 0.0
    failure: str | None = None


RESULT = KeywordResult


class KeywordSummary(BaseModel):
    """Shares as [right, n, share, low, high]; precision and recall are over terms, the others over questions."""

    n: int
    precision: Share
    recall: Share
    asked_exactly_when_needed: Share
    asked_where_needed: Share
    asked_where_not: Share
    kept: Share
    untouched: Share
    right: Share
    by_kind: dict[str, Share]
    failed: int
    calls: float
    without_call: Share
    seconds: float
    wrong: list[str]


def judge_keywords(example: KeywordExample, rephrased: Rephrased) -> KeywordVerdict:
    """Compare a rephrasing with the label.

    A term asked about is the expected one when either stands in the other as whole words: "the turtle mode" and
    "turtle" are asking for "turtle mode", "mode turtle" is not.
    """
    needed = {normalise(term): term for term in example.expected_terms}
    used = {normalise(term): term for term in rephrased.terms}
    text = fold(rephrased.question)
    return KeywordVerdict(
        found=tuple(term for key, term in needed.items() if key in used),
        missed=tuple(term for key, term in needed.items() if key not in used),
        wrong=tuple(term for key, term in used.items() if key not in needed),
        asked_right=_same_terms(example.ask, rephrased.asked),
        lost=tuple(word for word in example.keep if fold(word) not in text),
        untouched=None
        if example.expected_terms or example.ask
        else text == fold(example.question) and not used and not rephrased.asked,
    )


def _same_terms(expected: Sequence[str], asked: Sequence[str]) -> bool:
    """Whether each term asked about is an expected one, and each expected one is asked about.

    >>> _same_terms(["turtle mode"], ["Turtle modes"]), _same_terms(["turtle mode"], ["turtle mode", "Fed"])
    (True, False)
    """

    def same(one: str, other: str) -> bool:
        first, second = f" {normalise(one)} ", f" {normalise(other)} "
        return bool(first.strip() and second.strip()) and (first in second or second in first)

    return all(any(same(a, e) for e in expected) for a in asked) and all(
        any(same(a, e) for a in asked) for e in expected
    )


def scored(rephrase: Callable[[KeywordExample], Rephrased], example: KeywordExample) -> KeywordResult:
    """Rephrase one question, and judge what came out.

    Output of a model that cannot be used leaves the question as it is, and is wrong; other errors stop the evaluation.
    """
    begun = time.perf_counter()
    failure = None
    try:
        rephrased = rephrase(example)
    except OutputError as error:
        rephrased, failure = Rephrased(example.question), str(error)
    seconds = time.perf_counter() - begun
    verdict = judge_keywords(example, rephrased)
    return KeywordResult(
        **example.model_dump(include={"id", "split", "scenario", "question", "expected_terms", "ask"}),
        **{**verdict._asdict(), "asked_right": verdict.asked_right and failure is None},
        kind=example.kind,
        rephrased=rephrased.question,
        asked=list(rephrased.asked),
        right=verdict.right and failure is None,
        calls=rephrased.calls,
        seconds=seconds,
        failure=failure,
    )


def summarise(results: Sequence[KeywordResult]) -> KeywordSummary:
    """Terms found, asking, and what was left alone, with intervals; means a question of what it cost."""
    found, wrong = sum(len(r.found) for r in results), sum(len(r.wrong) for r in results)
    asking, others = [r for r in results if r.ask], [r for r in results if not r.ask]
    free = [r for r in results if r.untouched is not None]
    n = max(1, len(results))
    return KeywordSummary(
        n=len(results),
        precision=share(found, found + wrong),
        recall=share(found, found + sum(len(r.missed) for r in results)),
        asked_exactly_when_needed=share(sum(r.asked_right for r in results), len(results)),
        asked_where_needed=share(sum(r.asked_right for r in asking), len(asking)),
        asked_where_not=share(sum(bool(r.asked) for r in others), len(others)),
        kept=share(sum(not r.lost for r in results), len(results)),
        untouched=share(sum(bool(r.untouched) for r in free), len(free)),
        right=share(sum(r.right for r in results), len(results)),
        by_kind={
            kind: share(sum(r.right for r in results if r.kind == kind), sum(r.kind == kind for r in results))
            for kind in sorted({r.kind for r in results})
        },
        failed=sum(r.failure is not None for r in results),
        calls=sum(r.calls for r in results) / n,
        without_call=share(sum(r.calls == 0 for r in results), len(results)),
        seconds=sum(r.seconds for r in results) / n,
        wrong=[r.id for r in results if not r.right],
    )
