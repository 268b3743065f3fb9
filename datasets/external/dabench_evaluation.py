"""Questions of InfiAgent-DABench as an evaluation: the program, and the single call beside it, each question over its own file.

One result is one question answered once in one way, with both verdicts: `correct` by the official rule, `also["ours"]` by ours.

    {"rung": "program", "id": "25", "correct": true, "also": {"ours": true}, "answer": "@bmi_distribution[normal]", ...}
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from finexpert.answers import Answer
from finexpert.datasets.evaluation import Journal, Result, side_by_side
from finexpert.datasets.external.dabench import DabenchQuestion, response_of, right_by_ours, right_officially
from finexpert.datasets.fred_evaluation import BASELINE, Bench, told
from finexpert.language_models.budget import Budget
from finexpert.modules.financial_expert import Options
from finexpert.modules.single_call import SingleCall
from finexpert.plans import Script
from finexpert.warehouse.warehouse import Warehouse

PROGRAM = "program"
WAYS = (PROGRAM, BASELINE)
OURS = "ours"


@dataclass
class DabenchBench(Bench):
    """What an evaluation runs with: as for FRED, with a warehouse for each file. `source` stands for all of them."""

    files: Mapping[str, Warehouse] = field(default_factory=dict)
    digest: str = ""

    def given(self) -> list[str]:
        return [self.digest]

    def solve(self, way: str, question: DabenchQuestion) -> Answer:
        """The answer of one question, as a table of one row."""
        given: dict[str, Any] = {"source": self.files[question.file_name], "answer_format": question.answer_format}
        if way == BASELINE:
            # Today as the program takes it, by which nothing is hidden.
            given |= {"as_of": dt.date.today(), "as_of_given": False}
            return told(SingleCall(), question.asked, self.models, **given)
        given |= {"sandbox": self.sandbox, "options": Options.of(self.settings)}
        return told(self.expert, question.asked, self.models, **given)


def evaluate(
    bench: DabenchBench,
    questions: Sequence[DabenchQuestion],
    ways: Sequence[str],
    journal: Journal[Result],
    *,
    threads: int = 4,
    on_result: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Ask every question in every way, except what the journal holds already."""
    done = {(result.rung, result.id) for result in journal.results}
    jobs = [(way, question) for question in questions for way in ways if (way, question.id) not in done]

    def one(way: str, question: DabenchQuestion) -> None:
        with Budget.of(bench.settings, "answer"):
            answer = bench.solve(way, question)
        result = judge(way, question, answer)
        journal.add(result)
        on_result(result)

    side_by_side(one, jobs, threads)
    return journal.results


def judge(way: str, question: DabenchQuestion, answer: Answer) -> Result:
    """The result of one answer, by both rules; only an answer can be right."""
    steps = answer.record.plan.steps if answer.record else []
    table = answer.value if isinstance(answer.value, pd.DataFrame) else pd.DataFrame()
    response = response_of(table, question)
    return Result(
        rung=way,
        id=question.id,
        question=question.asked,
        category=question.level,
        status=answer.status,
        correct=answer.status == "answered" and right_officially(response, question.answers),
        also={OURS: answer.status == "answered" and right_by_ours(table, question)},
        gold=" ".join(f"@{name}[{value}]" for name, value in question.answers),
        answer=response or None,
        failure=answer.failure,
        interpretation=answer.explanation,
        selects={citation.source: citation.place for citation in answer.citations},
        script=next((step.code for step in steps if isinstance(step, Script)), None),
        usage=answer.usage,
    )
