"""Questions over a library of filings as an evaluation: the program, and a single call on the first pages beside it.

One result is one question answered once in one mode:

    {"rung": "program", "id": "unp_fcf_2013", "correct": true, "category": "simple search", "ranked": ["UNP/2013/page_24.pdf"],
     "citations_right": 1, "citations": 1, "rounds": 1, "difficulty": "direct", ...}

Which page a search gives first is measured on the question as it stands, by the search that both modes begin with.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from finexpert.core.answers import Answer
from finexpert.core.workspace import Workspace
from finexpert.datasets.evaluations.evaluation import Result, Share, mean, share
from finexpert.datasets.filings.bench import BASELINE, LibraryBench
from finexpert.datasets.filings.questions import FilingQuestion, gold
from finexpert.datasets.filings.scoring import CitedPages, recall_at, reciprocal_rank, score
from finexpert.datasets.fred.evaluation import told
from finexpert.filings.library.index.question import request_for
from finexpert.filings.page.filing import Filing
from finexpert.modules.baselines.page import PageInOneCall
from finexpert.modules.financial_expert import Options

CUTS = (1, 3, 5, 10)
# So many pages the baseline reads in its one call.
PAGES_READ = 3

CONVENTIONS = """\
Values stay in the page's own unit: in a table in millions they are millions. A value with a percent sign is a fraction (13.4% is 0.134).
A percentage change, share or ratio is the plain quotient, a fraction. A change is later minus earlier, with its sign."""


class FilingResult(Result):
    """One answer over a library, and what was searched for it."""

    ranked: list[str] = Field(default_factory=list, description="pages that the first search gives, best first")
    page_recall: float | None = Field(default=None, description="share of the right pages among the citations")
    citations_right: int = 0
    citations: int = 0
    rounds: int = Field(default=0, description="searches made")
    pages_read: int = 0
    stops: list[str] = Field(default_factory=list)
    confidence: int | None = None


@dataclass
class FilingBench(LibraryBench):
    """What an evaluation runs with; `knowledge` goes with every question."""

    knowledge: str = CONVENTIONS

    def given(self) -> Sequence[object]:
        return (self.knowledge,)

    def ask(self, mode: str, question: FilingQuestion) -> FilingResult:
        """Ask one question in one mode, and score it."""
        today = self.today(question.as_of)
        ranked = self._ranked(question.question, today)
        answer = self._answer(mode, question, today, ranked)
        right = gold(question, self.library)
        scored = score(question, right, answer, CitedPages(self.library))
        searches = answer.record.searches if answer.record is not None else []
        return FilingResult.of(
            mode,
            question,
            answer,
            category=scored.category,
            correct=scored.right,
            gold=right,
            answer=answer.value,
            ranked=ranked,
            page_recall=scored.found,
            citations_right=scored.citations_right,
            citations=scored.citations,
            rounds=sum(len(search.get("rounds", [1])) for search in searches),
            pages_read=sum(len(search.get("read", search.get("pages", []))) for search in searches),
            stops=[str(search.get("stop", search.get("missing", ""))) for search in searches],
            confidence=answer.confidence,
        )

    def _ranked(self, question: str, today: dt.date) -> list[str]:
        request = request_for(question, self.library.companies, today, limit=max(CUTS))
        return [hit.page.id for hit in self.library.search(request)]

    def _answer(self, mode: str, question: FilingQuestion, today: dt.date, ranked: Sequence[str]) -> Answer:
        if mode == BASELINE:
            return self._read(question.question, today, ranked[:PAGES_READ])
        given = {"source": self.library, "as_of": today, "knowledge": self.knowledge}
        options = Options(retries=self.settings.retries)
        return told(self.expert, question.question, self.models, options=options, **given)

    def _read(self, question: str, today: dt.date, ranked: Sequence[str]) -> Answer:
        """The first pages as one page, read by the model."""
        pages = [self.library.page(id) for id in ranked]
        text = [f"[{page.label}]\n{page.as_filing().page_text()}" for page in pages]
        source = Filing("first pages", text, [], [])
        given = {"source": source, "workspace": Workspace(), "knowledge": self.knowledge}
        return told(PageInOneCall(names=True), f"{question} (today is {today})", self.models, **given)


@dataclass(frozen=True)
class FilingSummary:
    """One mode: accuracy by category, search, citations, and means of what a question took."""

    mode: str
    overall: Share
    by_category: dict[str, Share]
    recall: dict[int, float]
    mrr: float
    citation_precision: Share
    page_recall: float
    calls: float
    tokens: float
    seconds: float
    rounds: float
    pages_read: float
    wrong: list[str]

    def metrics(self) -> dict[str, float | None]:
        return {
            "accuracy": self.overall.share,
            **{f"accuracy/{name}": part.share for name, part in self.by_category.items()},
            **{f"recall_at_{k}": value for k, value in self.recall.items()},
            "mrr": self.mrr,
            "citation_precision": self.citation_precision.share,
            "cited_page_recall": self.page_recall,
            "calls_per_question": self.calls,
            "tokens_per_question": self.tokens,
            "seconds_per_question": self.seconds,
            "searches_per_question": self.rounds,
            "pages_read_per_question": self.pages_read,
        }


def summarise(mode: str, results: Sequence[FilingResult], questions: Sequence[FilingQuestion]) -> FilingSummary:
    """The row of one mode."""
    by_id = {question.id: question for question in questions}
    rows = [result for result in results if result.rung == mode]
    paged = [row for row in rows if by_id[row.id].pages]

    def of(chosen: Sequence[FilingResult]) -> Share:
        return share(sum(row.correct for row in chosen), len(chosen))

    return FilingSummary(
        mode=mode,
        overall=of(rows),
        by_category={name: of([r for r in rows if r.category == name]) for name in sorted({r.category for r in rows})},
        recall={k: mean([recall_at(by_id[row.id], row.ranked, k) for row in paged]) for k in CUTS},
        mrr=mean([reciprocal_rank(by_id[row.id], row.ranked) for row in paged]),
        citation_precision=share(sum(row.citations_right for row in rows), sum(row.citations for row in rows)),
        page_recall=mean([row.page_recall for row in rows if row.page_recall is not None and row.citations]),
        calls=mean([float(row.usage.calls) for row in rows]),
        tokens=mean([float(row.usage.prompt_tokens + row.usage.completion_tokens) for row in rows]),
        seconds=mean([row.usage.seconds for row in rows]),
        rounds=mean([float(row.rounds) for row in rows]),
        pages_read=mean([float(row.pages_read) for row in rows]),
        wrong=sorted(row.id for row in rows if not row.correct),
    )
