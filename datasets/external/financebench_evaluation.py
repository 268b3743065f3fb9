"""FinanceBench as an evaluation: page recall without a model, answers judged, and a single call over the same pages beside.

One result is one question answered once:

    {"rung": "program", "id": "financebench_id_03029", "correct": true, "judged": "1,577 against $1577.00 by rule", "form": "10-K", ...}

A number is compared by rule. Words are judged by a model that is asked twice, with sides swapped; its reason stays with the verdict, for a
person to look at. A refusal is not right, and is counted apart from a wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from finexpert.core.answers import Answer
from finexpert.datasets.evaluations.evaluation import Result, Share, mean, share
from finexpert.datasets.external.financebench import Question, by_rule, recall_at
from finexpert.datasets.filings.bench import BASELINE, LibraryBench
from finexpert.datasets.fred.evaluation import told
from finexpert.errors import OutputError, UnknownPrompt
from finexpert.filings.library.library import Library
from finexpert.language_models.usage import Meter
from finexpert.modules.baselines.pages import SingleReading
from finexpert.modules.calling import using
from finexpert.modules.financial_expert import Options
from finexpert.modules.judging import Judging
from finexpert.plans.pages.printed import Printed, words_of
from finexpert.plans.pages.ranking import within
from finexpert.plans.pages.searching import Wanted, best_pages
from finexpert.plans.pages.shelf import Shelf

CUTS = (1, 5, 10)


class BenchResult(Result):
    """One answer, how it was judged, and where the evidence stood."""

    form: str
    judged: str = Field(description="why it is right or wrong")
    judge_calls: int = 0
    recall: dict[int, float] = Field(default_factory=dict, description="of the question's own words, no model asked")
    recall_read: dict[int, float] = Field(default_factory=dict, description="of the pages that were read first")
    explanation: str | None = None
    flags: list[str] = Field(default_factory=list)


def recall(library: Library, question: Question) -> dict[int, float]:
    """Which share of the evidence stands among the first pages for the question's own words; no model is asked."""
    pages = best_pages(library, question.question, Wanted.of_words(question.question)).pages
    return {cut: recall_at(question, pages, cut) for cut in CUTS}


class FinanceBench(LibraryBench):
    """What an evaluation runs with."""

    def ask(self, mode: str, question: Question) -> BenchResult:
        """Ask one question in one mode, and judge the answer."""
        with using(self.models):
            answer = self._baseline(question) if mode == BASELINE else self._program(question)
            with Meter() as judged:
                right, reason = by_rule(question, answer) or self._judged(question, answer)
        pages = self._read(answer)
        return BenchResult.of(
            mode,
            question,
            answer,
            category=question.question_type,
            form=question.form,
            correct=right,
            judged=reason,
            judge_calls=judged.usage().calls,
            gold=question.answer,
            answer=answer.text,
            explanation=answer.explanation,
            flags=answer.flags,
            recall=recall(self.library, question),
            recall_read={cut: recall_at(question, pages, cut) for cut in CUTS} if pages else {},
        )

    def _program(self, question: Question) -> Answer:
        options = Options(retries=self.settings.retries, library_tokens=self.settings.library_tokens)
        given = {"source": self.library, "as_of": self.today(), "options": options}
        return told(self.expert, question.question, self.models, **given)

    def _baseline(self, question: Question) -> Answer:
        """The first pages for the question's own words, read by the model in one call."""
        pages = best_pages(self.library, question.question, Wanted.of_words(question.question)).pages
        shown = within(pages, self.settings.library_tokens, set(words_of(question.question)))
        text = "\n\n".join(f"{page.parts[0].label}\n{words}" for page, words in shown)
        return told(SingleReading(), question.question, self.models, pages=text)

    def _judged(self, question: Question, answer: Answer) -> tuple[bool, str]:
        said = "\n".join(dict.fromkeys(filter(None, [answer.text, answer.explanation])))
        try:
            made = Judging()(question=question.question, reference=question.answer, answer=said)
        except (OutputError, UnknownPrompt) as error:
            return False, f"not judged: {str(error).splitlines()[0]}"
        return made.right, made.reason

    def _read(self, answer: Answer) -> list[Printed]:
        """The pages that were read in the first round."""
        if answer.record is None or not answer.record.searches:
            return []
        ids = answer.record.searches[0]["pages"]
        filings = {self.library.page(id).filing for id in ids}
        shelf = Shelf.of(self.library).pages([self.library.filing(id) for id in sorted(filings)])
        by_id = {page.id: page for page in shelf.pages}
        return [by_id[id] for id in ids]


@dataclass(frozen=True)
class BenchSummary:
    """One mode: how many are right, wrong and refused, by type and form, and means of what a question took."""

    mode: str
    overall: Share
    by_type: dict[str, Share]
    by_form: dict[str, Share]
    wrong: list[str]
    refused: list[str]
    recall: dict[int, float]
    recall_read: dict[int, float]
    calls: float
    tokens: float
    seconds: float

    def metrics(self) -> dict[str, float | None]:
        """As MLflow and JSON take it."""
        found: dict[str, float | None] = {
            "accuracy": self.overall.share,
            "wrong": float(len(self.wrong)),
            "refused": float(len(self.refused)),
            "calls": self.calls,
            "tokens": self.tokens,
            "seconds": self.seconds,
        }
        found |= {f"recall_at_{cut}": value for cut, value in self.recall.items()}
        return found | {f"recall_read_at_{cut}": value for cut, value in self.recall_read.items()}


def summarise(mode: str, results: Sequence[BenchResult]) -> BenchSummary:
    """What one mode came to."""
    rows = [row for row in results if row.rung == mode]

    def of(chosen: Sequence[BenchResult]) -> Share:
        return share(sum(row.correct for row in chosen), len(chosen))

    not_right = [row for row in rows if not row.correct]
    return BenchSummary(
        mode=mode,
        overall=of(rows),
        by_type={kind: of([r for r in rows if r.category == kind]) for kind in sorted({r.category for r in rows})},
        by_form={form: of([r for r in rows if r.form == form]) for form in sorted({r.form for r in rows})},
        wrong=sorted(row.id for row in not_right if row.status == "answered"),
        refused=sorted(row.id for row in not_right if row.status != "answered"),
        recall=_means([row.recall for row in rows]),
        recall_read=_means([row.recall_read for row in rows if row.recall_read]),
        calls=mean([float(row.usage.calls) for row in rows]),
        tokens=mean([float(row.usage.prompt_tokens + row.usage.completion_tokens) for row in rows]),
        seconds=mean([row.usage.seconds for row in rows]),
    )


def _means(rows: Sequence[dict[int, float]]) -> dict[int, float]:
    return {cut: mean([row[cut] for row in rows]) for cut in CUTS if rows}
