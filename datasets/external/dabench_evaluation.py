"""Questions of InfiAgent-DABench as an evaluation: the program, and the single call beside it, each question over its own file.

One result is one question answered once in one way, with both verdicts: `correct` by the official rule, `also["ours"]` by ours.

    {"rung": "program", "id": "25", "correct": true, "also": {"ours": true}, "answer": "@bmi_distribution[normal]", ...}
"""

from __future__ import annotations

import pandas as pd

from finexpert.core.answers import Answer
from finexpert.datasets.evaluations.evaluation import Result
from finexpert.datasets.external.dabench import DabenchQuestion, response_of, right_by_ours, right_officially
from finexpert.datasets.external.paired import OURS


def judge(way: str, question: DabenchQuestion, answer: Answer) -> Result:
    """The result of one answer, by both rules; only an answer can be right."""
    table = answer.value if isinstance(answer.value, pd.DataFrame) else pd.DataFrame()
    response = response_of(table, question)
    return Result.of(
        way,
        question,
        answer,
        question=question.asked,
        category=question.level,
        correct=answer.status == "answered" and right_officially(response, question.answers),
        also={OURS: answer.status == "answered" and right_by_ours(table, question)},
        gold=" ".join(f"@{name}[{value}]" for name, value in question.answers),
        answer=response or None,
        selects={citation.source: citation.place for citation in answer.citations},
    )
