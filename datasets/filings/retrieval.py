"""Retrieval, measured apart: is the page that answers a question among the first that a search finds?

A question file holds one JSON object a line; more fields may stand there and are not read:

    {"id": "ETR/2016/page_23.pdf-2", "filename": "ETR/2016/page_23.pdf", "ticker": "ETR", "fiscal_year": 2016,
     "question": "what is the net change in net revenue during 2015 for entergy corporation?"}

`pages` with a list may stand in the place of `filename`; ticker and year are then those of the first page. Every question is
searched for as it stands and with company and year named (see `retrieval_forms`), by words alone, by meaning alone, and
fused. Intervals are bootstrapped over pages, because questions share them. No model but the embedder is asked.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.evaluations.question_lines import records_of, text_of
from finexpert.datasets.filings.retrieval_forms import FORMS, Form, asked
from finexpert.filings.companies.companies import Companies
from finexpert.filings.library.index.question import request_for
from finexpert.filings.records import SearchRequest

Way = Literal["words", "meaning", "fused"]
WAYS: tuple[Way, ...] = ("words", "meaning", "fused")
CUTS = (1, 5, 10)
SEED = 600
SHOWN = 20
_DRAWS = 2000
__all__ = ["CUTS", "FORMS", "WAYS", "evaluate", "interval", "load_questions", "sample", "summarise"]

Search = Callable[[SearchRequest, Way], Sequence[str]]


class RetrievalQuestion(BaseModel):
    """One line of a question file."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    pages: tuple[str, ...] = Field(min_length=1)
    ticker: str = Field(min_length=1)
    fiscal_year: int

    @model_validator(mode="before")
    @classmethod
    def _page(cls, line: Any) -> Any:
        if isinstance(line, dict) and "pages" not in line and "filename" in line:
            return line | {"pages": [line["filename"]]}
        return line


class RetrievalResult(BaseModel):
    """One question searched for in one form by one way; `rank` counts from 1, None is not among the first 20."""

    id: str
    form: Form
    way: Way
    template: str
    question: str
    page: str
    rank: int | None
    found: list[str]
    seconds: float


class Interval(NamedTuple):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


class RetrievalSummary(BaseModel):
    """One row: recall at each cut and the mean reciprocal rank, and the time of a search."""

    form: Form
    way: Way
    n: int
    recall: dict[int, Interval]
    mrr: Interval
    p50_ms: float
    p95_ms: float
    by_template: dict[str, tuple[int, int]]


def load_questions(path: Path) -> list[RetrievalQuestion]:
    """The questions of a file; QuestionFileError names the line that is none."""
    text = text_of(path, "name a file of questions with --questions")
    return [question for _, question in records_of(text, str(path), RetrievalQuestion, "question")]


def sample(questions: Sequence[RetrievalQuestion], limit: int | None) -> list[RetrievalQuestion]:
    """That many of the questions, by a fixed seed; the same whatever their order in the file."""
    if limit is None or limit >= len(questions):
        return list(questions)
    chosen = set(random.Random(SEED).sample(sorted(question.id for question in questions), limit))
    return [question for question in questions if question.id in chosen]


def evaluate(
    search: Search,
    questions: Sequence[RetrievalQuestion],
    companies: Companies,
    journal: Journal[RetrievalResult],
    *,
    threads: int = 1,
    on_result: Callable[[RetrievalResult], None] = lambda result: None,
) -> list[RetrievalResult]:
    """Search for every question in every form by every way; one after the other, where times are to mean something."""
    asked = [(question, form, way) for question in questions for form in FORMS for way in WAYS]
    jobs = {(question.id, form, way): (search, question, form, way, companies) for question, form, way in asked}
    return journal.fill(_searched, jobs, lambda r: (r.id, r.form, r.way), threads=threads, on_result=on_result)


def _searched(
    search: Search, question: RetrievalQuestion, form: Form, way: Way, companies: Companies
) -> RetrievalResult:
    text = asked(question.question, form, question.ticker, question.fiscal_year, companies, str(SEED))
    begun = time.perf_counter()
    request = request_for(text.text, companies, text.as_of, SHOWN)
    found = list(search(request, way))
    seconds = time.perf_counter() - begun
    ranks = [found.index(page) + 1 for page in question.pages if page in found]
    return RetrievalResult(
        id=question.id,
        form=form,
        way=way,
        template=text.template,
        question=text.text,
        page=question.pages[0],
        rank=min(ranks, default=None),
        found=found[:5],
        seconds=seconds,
    )


def summarise(results: Sequence[RetrievalResult]) -> list[RetrievalSummary]:
    """One row for each form and way."""
    return [
        _summary(form, way, rows)
        for form in FORMS
        for way in WAYS
        if (rows := [result for result in results if (result.form, result.way) == (form, way)])
    ]


def _summary(form: Form, way: Way, rows: Sequence[RetrievalResult]) -> RetrievalSummary:
    pages = [row.page for row in rows]
    milliseconds = [1000 * row.seconds for row in rows]
    templates = dict.fromkeys(row.template for row in rows)
    return RetrievalSummary(
        form=form,
        way=way,
        n=len(rows),
        recall={cut: interval([float(_within(row, cut)) for row in rows], pages) for cut in CUTS},
        mrr=interval([1.0 / row.rank if row.rank else 0.0 for row in rows], pages),
        p50_ms=float(np.percentile(milliseconds, 50)),
        p95_ms=float(np.percentile(milliseconds, 95)),
        by_template={
            name: (sum(_within(row, 1) for row in rows if row.template == name), sum(r.template == name for r in rows))
            for name in templates
        },
    )


def _within(row: RetrievalResult, cut: int) -> bool:
    return row.rank is not None and row.rank <= cut


def interval(values: Sequence[float], groups: Sequence[str]) -> Interval:
    """The mean, and its 95 % bootstrap interval where whole groups are drawn.

    >>> interval([1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"])
    Interval(mean=0.5, low=0.0, high=1.0)
    """
    names, place = np.unique(np.array(groups), return_inverse=True)
    sums = np.bincount(place, weights=np.array(values))
    counts = np.bincount(place)
    drawn = np.random.default_rng(SEED).integers(0, len(names), (_DRAWS, len(names)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(np.mean(values)), float(low), float(high))
