"""The forms in which a long process is given, and the questions over other spans."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.datasets.desk import memory_evaluation as evaluation
from finexpert.datasets.desk.house import recession_transcript
from finexpert.datasets.desk.transcripts import read_transcript
from finexpert.datasets.evaluations.evaluation import Result
from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.fred.evaluation import evaluate
from finexpert.datasets.fred.questions import Question
from finexpert.datasets.fred.tables import FredTables
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.settings import Settings
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

STEP = ProcessStep(text="Count the falling quarters.", sql="SELECT date FROM sales")
SUMMARISED = Process(heading="Recession Calculation", aliases=["slumps"], steps=[STEP], status="active")
TODAY = dt.date(2024, 9, 30)


@pytest.fixture
def forms() -> dict[str, Process]:
    return evaluation.forms(SUMMARISED, read_transcript(recession_transcript()))


def test_three_forms_of_one_lesson(forms: dict[str, Process]) -> None:
    said = [line.message for line in read_transcript(recession_transcript()) if line.message]
    assert tuple(forms) == evaluation.FORMS
    assert forms[evaluation.MODEL] == SUMMARISED
    human, nudged = forms[evaluation.HUMAN], forms[evaluation.NUDGED]
    assert [step.text for step in human.steps] == said
    assert [step.text for step in nudged.steps[1:]] == said
    assert "one after the other" in nudged.steps[0].text
    assert len({process.heading for process in forms.values()}) == 1
    assert not [step for process in (human, nudged) for step in process.steps if step.sql or step.code]


def test_questions_have_the_gold_of_the_reference(sample: DuckDBWarehouse) -> None:
    asked = evaluation.questions(sample, TODAY)
    assert len({question.id for question in asked}) == len(asked) == 12
    every = FredTables(sample, TODAY).recessions
    for question in asked:
        first, last = (int(part) for part in question.id.split("_")[1:])
        assert f"in the years {first} to {last}" in question.question
        years = question.gold[::3]
        assert years == sorted(years)
        assert len(question.gold) % 3 == 0
        assert all(first <= year <= last for year in years)
        assert all(months % 3 == 0 for months in question.gold[2::3])
        assert len(years) <= len(every)
    assert [question for question in asked if question.gold]


def test_each_form_is_the_only_knowledge(desk: Any, forms: dict[str, Process], tmp_path: Path) -> None:
    desk.says("planning", desk.plan("answer = [2001, 1, 6]", "list"))
    settings = Settings(cache=False, retries=0, embedder="words")
    bench = evaluation.MemoryBench(desk.warehouse, desk.sandbox, desk.models, settings, processes=forms)
    asked = Question(
        id="recessions_2000_2005",
        question="Which recessions?",
        category="complex",
        needs=("recession",),
        answer_format=AnswerFormat(kind="list", items="integer"),
        gold=[2001, 1, 6],
    )
    results = evaluate(bench, [asked], evaluation.FORMS, Journal(tmp_path / "j.jsonl", Result), threads=1)
    assert [(r.rung, r.correct) for r in results] == [(form, True) for form in evaluation.FORMS]
    for prompt, form in zip(desk.prompts, evaluation.FORMS, strict=True):
        assert forms[form].recipe() in prompt
        assert ("Count the falling quarters." in prompt) == (form == evaluation.MODEL)
    assert len(desk.calls) == 3
