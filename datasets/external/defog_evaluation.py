"""Defog's questions as an evaluation: the program, and the single call beside it, over databases of PostgreSQL.

One result is one question answered once in one way, with both verdicts: `correct` by the rule of sql-eval, `also["ours"]` by ours.

    {"rung": "program", "id": "adv05", "correct": true, "also": {"ours": true}, "selects": {"answer": "SELECT ..."}, ...}

sql-eval reads what a SELECT gives by itself, so its rule is applied to the rows of the answer's SELECT as pandas reads them; where a
script made the answer, to its table. Ours is applied to the table that the user gets, and an answer is right by neither rule where
that table is not what its SELECT gives: rows that a warehouse hides or cuts must not be forgiven because the SQL is right.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from finexpert.answers import Answer, AnswerFormat
from finexpert.datasets.evaluation import Journal, Result, side_by_side
from finexpert.datasets.external.defog import Database, DefogQuestion
from finexpert.datasets.external.table_matching import alternatives, right_by_sql_eval, same_table
from finexpert.datasets.fred_evaluation import BASELINE, Bench, told
from finexpert.language_models.budget import Budget
from finexpert.modules.financial_expert import Options
from finexpert.modules.single_call import SingleCall
from finexpert.plans import Script
from finexpert.records import encode

PROGRAM = "program"
WAYS = (PROGRAM, BASELINE)
OURS = "ours"
TABLE = AnswerFormat(kind="table")


@dataclass
class DefogBench(Bench):
    """What an evaluation runs with: as for FRED, with a database for each question. `source` stands for all of them."""

    databases: Mapping[str, Database] = field(default_factory=dict)
    digest: str = ""

    @property
    def title(self) -> str:
        return f"PostgreSQL: {', '.join(self.databases)}"

    def given(self) -> list[str]:
        return [self.digest]

    def solve(self, way: str, question: DefogQuestion) -> Answer:
        """The answer of one question, as a table."""
        given: dict[str, Any] = {
            "source": self.databases[question.db].warehouse,
            "answer_format": TABLE,
            "knowledge": question.knowledge,
        }
        if way == BASELINE:
            # Today as the program takes it, by which nothing is hidden.
            given |= {"as_of": dt.date.today(), "as_of_given": False}
            return told(SingleCall(), question.question, self.models, **given)
        given |= {"sandbox": self.sandbox, "options": Options.of(self.settings)}
        return told(self.expert, question.question, self.models, **given)


def evaluate(
    bench: DefogBench,
    questions: Sequence[DefogQuestion],
    ways: Sequence[str],
    journal: Journal[Result],
    *,
    threads: int = 4,
    on_result: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Ask every question in every way, except what the journal holds already; the golds are run first."""
    golds = {q.id: [bench.databases[q.db].rows(select) for select in alternatives(q.gold_sql)] for q in questions}
    done = {(result.rung, result.id) for result in journal.results}
    jobs = [(way, question) for question in questions for way in ways if (way, question.id) not in done]

    def one(way: str, question: DefogQuestion) -> None:
        with Budget.of(bench.settings, "answer"):
            answer = bench.solve(way, question)
        result = judge(way, question, answer, golds[question.id], bench.databases[question.db])
        journal.add(result)
        on_result(result)

    side_by_side(one, jobs, threads)
    return journal.results


def judge(
    way: str, question: DefogQuestion, answer: Answer, golds: Sequence[pd.DataFrame], database: Database
) -> Result:
    """The result of one answer, by both rules; only an answer can be right."""
    steps = answer.record.plan.steps if answer.record else []
    script = next((step.code for step in steps if isinstance(step, Script)), None)
    selects = {citation.source: citation.place for citation in answer.citations}
    right, ours = False, False
    if answer.status == "answered":
        read = answer.value if script is not None or len(selects) != 1 else database.rows(*selects.values())
        kept = same_table(read, answer.value)
        right = kept and any(right_by_sql_eval(gold, read, question.question) for gold in golds)
        ours = kept and any(same_table(gold, answer.value) for gold in golds)
    return Result(
        rung=way,
        id=question.id,
        question=question.question,
        category=question.category.partition("_")[0],
        status=answer.status,
        correct=right,
        also={OURS: ours},
        gold=[encode(gold) for gold in golds],
        answer=encode(answer.value),
        failure=answer.failure,
        interpretation=answer.explanation,
        selects=selects,
        script=script,
        usage=answer.usage,
    )
