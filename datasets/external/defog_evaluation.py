"""Defog's questions as an evaluation: the program, and the single call beside it, over databases of PostgreSQL.

One result is one question answered once in one way, with both verdicts: `correct` by the rule of sql-eval, `also["ours"]` by ours.

    {"rung": "program", "id": "adv05", "correct": true, "also": {"ours": true}, "selects": {"answer": "SELECT ..."}, ...}

sql-eval reads what a SELECT gives by itself, so its rule is applied to the rows of the answer's SELECT as pandas reads them; where a
script made the answer, to its table. Ours is applied to the table that the user gets, and an answer is right by neither rule where
that table is not what its SELECT gives: rows that a warehouse hides or cuts must not be forgiven because the SQL is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from finexpert.core.answers import Answer
from finexpert.core.encoding import encode
from finexpert.core.plans import Script
from finexpert.datasets.evaluations.evaluation import Result
from finexpert.datasets.external.defog import Database, DefogQuestion
from finexpert.datasets.external.paired import OURS
from finexpert.datasets.external.table_matching import alternatives, right_by_sql_eval, same_table

Judge = Callable[[str, DefogQuestion, Answer], Result]


def judge_of(databases: Mapping[str, Database], questions: Sequence[DefogQuestion]) -> Judge:
    """What judges the answers of these questions; their golds are run here, so that a wrong one stops before any model is asked."""
    golds = {q.id: [databases[q.db].rows(select) for select in alternatives(q.gold_sql)] for q in questions}

    def judged(way: str, question: DefogQuestion, answer: Answer) -> Result:
        return judge(way, question, answer, golds[question.id], databases[question.db])

    return judged


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
    return Result.of(
        way,
        question,
        answer,
        category=question.category.partition("_")[0],
        correct=right,
        also={OURS: ours},
        gold=[encode(gold) for gold in golds],
        answer=encode(answer.value),
        selects=selects,
    )
