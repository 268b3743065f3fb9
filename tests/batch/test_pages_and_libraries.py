"""A batch over a page and over a library: the same rows, journal and records as over tables, and no sandbox."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.answers import replaying
from finexpert.answers.records import Record
from finexpert.batch import surroundings as asking
from finexpert.batch.ask_all import ask_all
from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.settings import Settings
from finexpert.testing import LanguageModels, ScriptedModel, fields

TABLE = (("( in millions )", "2020", "2019"), ("net sales", "$ 1,234", "$ 1,181"), ("net income", "95", "90"))
NAMES = {"BRK": "Brackwater Rail", "NOR": "Norfeld Foods"}


def said(messages: Any) -> str:
    """What a model says: of sales and income it names the cell; of all else that the page lacks it, and what to search next."""
    asked = messages[-1]["content"]
    if "field `[[ ## interpretation" in asked:
        part = {
            "kind": "search",
            "id": 1,
            "company": "BRK",
            "year": 2020,
            "quarter": None,
            "question": "What was the backlog?",
        }
        return fields(interpretation="as asked", steps=[part], answer="step 1")
    if "field `[[ ## phrases" in asked:
        return fields(phrases=["order backlog"], years=[])
    row = next((row for row in ("net sales", "net income") if row in asked.split("[[ ## question ## ]]")[-1]), None)
    if row is None:
        return fields(answers="false", entity="no such row", steps=[], answer="")
    steps = [{"kind": "cell", "id": 1, "row": row, "column": "2020"}]
    return fields(answers="true", entity=row, steps=steps, answer="step 1")


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(said)


@pytest.fixture
def page() -> Filing:
    return Filing("BRK/2020/page_1", ["it is audited ."], TABLE, [])


@pytest.fixture
def library(tmp_path: Path, own_home: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "library", embedder=embedder("words"), make=True) as made:
        for ticker, name in NAMES.items():
            id = f"{ticker}/2020"
            one = LibraryPage(f"{id}/page_1", id, name, ticker, 2020, None, "10-K", "", 1, (f"{name} .",), TABLE, ())
            made.add([one], FilingInfo(id, name, ticker, 2020, None, "10-K", "", "", id, 1, dt.datetime.now(dt.UTC)))
        yield made


def batch(source: Any, questions: Any, model: ScriptedModel, **given: Any) -> pd.DataFrame:
    settings = Settings(memory=False, cache=False, as_of=dt.date(2021, 6, 1), **given.pop("settings", {}))
    return ask_all(source, questions, models=LanguageModels(model), settings=settings, **{"threads": 3} | given)


def test_questions_of_a_page_cite_their_cells(
    page: Filing, model: ScriptedModel, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "Sandbox", None)  # pages need none
    questions = pd.DataFrame(
        {
            "question": [
                "What were net sales in 2020?",
                "What was net income in 2020?",
                "What were net sales in 2020?",
            ],
            "answer_format": ["number", '{"kind": "number", "unit": "USD"}', '{"kind": "date"}'],
        }
    )
    answers = batch(page, questions, model, out=tmp_path / "answers.parquet")
    assert answers.status.tolist() == ["answered", "answered", "failed"]
    assert answers.text[:2].tolist() == ["1,234.00 million USD", "95,000,000.00 USD"]
    assert answers.failed_kind[2] == "answer_format"
    assert answers.citations[0] == ["BRK/2020/page_1: net sales / 2020: $ 1,234"]
    assert pd.read_parquet(tmp_path / "answers.parquet").citations[0].tolist() == answers.citations[0]
    for id in answers.record[:2]:
        kept = Record.load(own_home / "records" / f"{id}.json")
        assert replaying.replay_filing(kept, page).differences == []
    assert list((own_home / "batch").iterdir()) == []


def test_questions_of_a_library_are_asked_side_by_side(
    library: Library, model: ScriptedModel, own_home: Path, tmp_path: Path
) -> None:
    questions = [
        f"What were the {row} of {name} in 2020?" for name in NAMES.values() for row in ("net sales", "net income")
    ]
    answers = batch(library, [*questions, questions[0]], model, out=tmp_path / "answers.jsonl")
    assert answers.status.tolist() == ["answered"] * 5
    assert answers.value.tolist() == ["1234.0", "95.0"] * 2 + ["1234.0"]
    assert answers.unit.tolist() == ["million USD"] * 5
    assert (len(model.prompts), answers.calls.tolist()) == (4, [1, 1, 1, 1, 0])
    assert "Norfeld Foods" in answers.citations[2][0]
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert [line["record"] for line in lines] == answers.record.tolist()
    kept = Record.load(own_home / "records" / f"{answers.record[0]}.json")
    assert replaying.replay_library(kept, library).differences == []


def test_what_no_page_answers_is_not_found(library: Library, model: ScriptedModel) -> None:
    answers = batch(library, ["What was the backlog of Brackwater Rail in 2020?"], model, settings={"retries": 0})
    assert (answers.status[0], answers.value[0]) == ("not_found", None)
    assert "not found in the library" in answers.reason[0]


def test_a_library_that_grew_starts_over(library: Library, model: ScriptedModel, own_home: Path) -> None:
    questions = [f"What were the net sales of {name} in 2020?" for name in NAMES.values()]
    first = batch(library, questions, model, threads=1, settings={"budget_run_calls": 1})
    assert first.status.tolist() == ["answered", "not_asked"]
    assert batch(library, questions, model).status.tolist() == ["answered"] * 2
    assert len(model.prompts) == 2
    batch(library, questions, model, threads=1, settings={"budget_run_calls": 1})
    library.remove("NOR/2020")
    batch(library, questions, model)
    # Twice in the runs that ended early, and once anew.
    assert sum("net sales of Brackwater" in prompt[-1]["content"] for prompt in model.prompts) == 3
