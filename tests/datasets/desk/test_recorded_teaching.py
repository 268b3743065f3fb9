"""The recorded completions still answer: what the README says of teaching can be computed again without a key.

They are found by the exact prompt, so a change of wording, of the schema card, or of what a layer is shown ends them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from finexpert.datasets.desk.house import house_questions, house_transcripts, recession_transcript
from finexpert.datasets.desk.references import gold
from finexpert.datasets.desk.teaching import teach_all
from finexpert.datasets.desk.transcripts import read_transcript
from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.fred import evaluation as fred_evaluation
from finexpert.datasets.fred.database import open_fred
from finexpert.datasets.fred.questions import load_questions
from finexpert.datasets.layers import keyword_evaluation, keyword_examples, lookup_evaluation, lookup_examples
from finexpert.datasets.layers.evaluation import glossaries, lookup_function, rephrase_function
from finexpert.embeddings.embedding import embedder
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.keyword_rephrasing import KeywordRephrasing
from finexpert.modules.memory_lookup import MemoryLookup
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings

AS_OF = dt.date(2024, 9, 30)


@pytest.fixture
def settings() -> Settings:
    return Settings(lm="recorded", as_of=AS_OF)


@pytest.fixture
def models(settings: Settings) -> LanguageModels:
    return LanguageModels.from_settings(settings)


@pytest.fixture
def taught(tmp_path: Path) -> Iterator[Taught]:
    with Taught.open(tmp_path / "knowledge.sqlite", embedder()) as taught:
        yield taught


def test_keywords_are_rephrased_as_recorded(tmp_path: Path, models: LanguageModels) -> None:
    asked = keyword_examples.load_examples("holdout")
    stores = glossaries(tmp_path, embedder())
    function = rephrase_function(KeywordRephrasing(), stores, models)
    journal = Journal(tmp_path / "journal.jsonl", keyword_evaluation.KeywordResult)
    results = journal.in_order(partial(keyword_evaluation.scored, function), asked, threads=1)
    assert keyword_evaluation.summarise(results).wrong == []
    for store in stores.values():
        store.close()


def test_processes_are_recalled_as_recorded(tmp_path: Path, taught: Taught, models: LanguageModels) -> None:
    asked = lookup_examples.load_examples("holdout")[::4]
    lookup_examples.fill(taught.memory, lookup_examples.load_processes(), by="test")
    function = lookup_function(MemoryLookup(), taught.memory, models)
    journal = Journal(tmp_path / "journal.jsonl", lookup_evaluation.LookupResult)
    results = journal.in_order(partial(lookup_evaluation.scored, function), asked, threads=1)
    summary = lookup_evaluation.summarise(results)
    assert summary.recall_at_1.share >= 0.95
    assert summary.false_recalls.right == 0


def test_recessions_are_taught_and_used_as_recorded(
    settings: Settings, models: LanguageModels, taught: Taught, sandbox: Sandbox
) -> None:
    source = open_fred(None, settings=settings)
    lesson = recession_transcript()
    played = teach_all({lesson: read_transcript(lesson)}, source, settings, models=models, taught=taught)[lesson]
    assert [line.status for line in played] == [*["answered"] * 5, "as expected", "active"]
    bench = fred_evaluation.QuestionBench(source, sandbox, models, settings, taught=taught)
    for question in [q for q in load_questions() if q.needs][::3]:
        answer = bench.answer(fred_evaluation.MEMORY, question)
        assert answer.processes == ["Recession Calculation"]
        assert fred_evaluation.judge(fred_evaluation.MEMORY, 1, question, answer, gold(question, source)).correct


def test_a_house_is_taught_and_asked_as_recorded(
    settings: Settings, models: LanguageModels, taught: Taught, sandbox: Sandbox
) -> None:
    source = open_fred(None, settings=settings)
    lessons = {path: read_transcript(path) for path in house_transcripts()}
    played = teach_all(lessons, source, settings, threads=2, models=models, taught=taught)
    assert {lines[-1].status for lines in played.values()} == {"active", "defined"}
    bench = fred_evaluation.QuestionBench(source, sandbox, models, settings, taught=taught)
    for question in house_questions()[::12]:
        answer = bench.answer(fred_evaluation.MEMORY, question)
        result = fred_evaluation.judge(fred_evaluation.MEMORY, 1, question, answer, gold(question, source))
        assert result.correct, (question.id, answer.text)
