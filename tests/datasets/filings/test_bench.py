"""An evaluation over a library that was interrupted goes on with its own answers alone."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import dspy
import pytest

from finexpert.datasets.external.financebench import Question
from finexpert.datasets.external.financebench_evaluation import FinanceBench
from finexpert.datasets.filings.bench import LibraryBench
from finexpert.datasets.filings.evaluation import FilingBench
from finexpert.embeddings.embedding import WordHashing
from finexpert.filings.library.library import Library
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.settings import Settings
from finexpert.testing import LanguageModels, ScriptedModel


def compiled() -> FinancialExpert:
    expert = FinancialExpert()
    expert.library_reading.read.demos = [dspy.Example(question="q", answer="a")]
    return expert


QUESTION = Question(
    financebench_id="1", company="A", doc_name="A_2022_10K", question_type="t", question="?", answer="$1", evidence=[]
)


@pytest.fixture
def bench(tmp_path: Path) -> LibraryBench:
    library = Library.open(tmp_path / "library", embedder=WordHashing(), make=True)
    return FinanceBench(library, LanguageModels(ScriptedModel([])), Settings())


@pytest.mark.parametrize(
    "change",
    [
        {"expert": compiled()},
        {"settings": Settings(retries=0)},
        {"settings": Settings(as_of=dt.date(2020, 1, 1))},
        {"settings": Settings(library_tokens=4_000)},
    ],
    ids=["program", "retries", "day", "tokens"],
)
@pytest.mark.parametrize("kind", [FinanceBench, FilingBench])
def test_another_way_of_answering_begins_anew(bench: LibraryBench, kind: Any, change: dict[str, Any]) -> None:
    given = {name: getattr(bench, name) for name in ("library", "models", "settings", "expert")}
    first, other = kind(**given), kind(**given | change)
    assert first.fingerprint([QUESTION], ["program"]) == kind(**given).fingerprint([QUESTION], ["program"])
    assert first.fingerprint([QUESTION], ["program"]) != other.fingerprint([QUESTION], ["program"])
