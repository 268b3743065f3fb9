"""Questions over data of others, asked in two ways and paired: the program, and the single call of the same model beside it.

A question file of others has a form of its own and a rule of its own; what they share stands here: each question is asked of a source
that it names, without a day (rows are hidden by declared dates alone), and what was answered before an interruption stays.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from finexpert.core.answers import Answer, AnswerFormat
from finexpert.datasets.evaluations.evaluation import Result
from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.fred.evaluation import BASELINE, QuestionBench, told
from finexpert.language_models.budget import Budget
from finexpert.modules.baselines.select import SingleCall
from finexpert.modules.financial_expert import Options
from finexpert.warehouse.warehouse import Warehouse

PROGRAM = "program"
WAYS = (PROGRAM, BASELINE)
OURS = "ours"


class Outside(Protocol):
    """A question of others: `asked` is its text as it is put, `source_name` says of which source."""

    @property
    def id(self) -> str: ...
    @property
    def asked(self) -> str: ...
    @property
    def source_name(self) -> str: ...
    @property
    def answer_format(self) -> AnswerFormat: ...
    @property
    def knowledge(self) -> str: ...


Q = TypeVar("Q", bound=Outside)


@dataclass
class PairedBench(QuestionBench):
    """What an evaluation runs with: as for FRED, with a source for each question. `source` stands for all of them."""

    sources: Mapping[str, Warehouse] = field(default_factory=dict)
    digest: str = ""

    @property
    def title(self) -> str:
        return ", ".join(sorted({f"{source.name} ({source.dialect})" for source in self.sources.values()}))

    def given(self) -> list[str]:
        return [self.digest]

    def solve(self, way: str, question: Outside) -> Answer:
        """The answer of one question in one way."""
        given: dict[str, Any] = {
            "source": self.sources[question.source_name],
            "answer_format": question.answer_format,
            "knowledge": question.knowledge,
        }
        if way == BASELINE:
            # Today as the program takes it, by which nothing is hidden.
            given |= {"as_of": dt.date.today(), "as_of_given": False}
            return told(SingleCall(), question.asked, self.models, **given)
        given |= {"sandbox": self.sandbox, "options": Options.of(self.settings)}
        return told(self.expert, question.asked, self.models, **given)


def evaluate(
    bench: PairedBench,
    questions: Sequence[Q],
    ways: Sequence[str],
    journal: Journal[Result],
    judge: Callable[[str, Q, Answer], Result],
    *,
    threads: int = 4,
    on_result: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Ask every question in every way, except what the journal holds already; `judge` makes the result of an answer."""

    def one(way: str, question: Q) -> Result:
        with Budget.of(bench.settings, "answer"):
            answer = bench.solve(way, question)
        return judge(way, question, answer)

    jobs = {(way, question.id): (way, question) for question in questions for way in ways}
    return journal.fill(one, jobs, lambda r: (r.rung, r.id), threads=threads, on_result=on_result)
