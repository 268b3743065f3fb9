"""The packaged questions, the form of a question file, and where gold comes from."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.evaluations.answer_matching import matches
from finexpert.datasets.fred.questions import RECESSION_DEFINITION, REFERENCES, Question, gold, load_questions
from finexpert.datasets.fred.series import TABLES
from finexpert.errors import QuestionFileError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

LINE: dict[str, Any] = {"id": "a", "question": "How many?", "as_of": "2024-09-30", "answer_format": {"kind": "integer"}}


def write(folder: Path, *lines: dict[str, Any] | str) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def test_thirty_questions() -> None:
    questions = load_questions()
    assert len({question.id for question in questions}) == len(questions) == 30
    assert Counter(question.category for question in questions) == {"complex": 11, "simple": 19}
    needing = [question for question in questions if question.needs]
    assert len(needing) == 9
    assert {question.needs for question in needing} == {("recession",)}
    assert all(question.category == "complex" and "recession" in question.question for question in needing)
    assert {question.area for question in questions} == set(TABLES)
    assert {question.as_of for question in questions} == {dt.date(2024, 9, 30)}
    kinds = {"number", "integer", "date", "year", "boolean", "text", "list"}
    assert {question.answer_format.kind for question in questions} == kinds


def test_every_packaged_question_has_a_reference_and_none_is_left_over() -> None:
    assert [question.id for question in load_questions()] == sorted(
        REFERENCES, key=[q.id for q in load_questions()].index
    )
    assert all(question.gold is None for question in load_questions())


def test_questions_that_do_not_need_a_recession_do_not_speak_of_one() -> None:
    assert not [question.id for question in load_questions() if not question.needs and "recession" in question.question]
    assert "second falling quarter" in RECESSION_DEFINITION


def test_gold_of_the_file_comes_first(tmp_path: Path, sample: DuckDBWarehouse) -> None:
    line = {**LINE, "id": "recessions_in_thirty_years", "gold": 7}
    assert gold(load_questions(write(tmp_path, line))[0], sample) == 7


def test_gold_has_the_type_of_the_format(tmp_path: Path, sample: DuckDBWarehouse) -> None:
    line = {**LINE, "answer_format": {"kind": "list", "items": "date"}, "gold": ["2020-04-01"]}
    assert gold(load_questions(write(tmp_path, line))[0], sample) == [dt.date(2020, 4, 1)]


def test_a_question_that_must_be_asked_back(tmp_path: Path, sample: DuckDBWarehouse) -> None:
    line = {**LINE, "gold": {"ask": ["calm quarter"]}, "must_not_use": ["recession"], "note": "kept"}
    question = load_questions(write(tmp_path, line))[0]
    assert gold(question, sample) == {"ask": ["calm quarter"]}
    assert question.must_not_use == ("recession",)


def test_no_gold_and_no_reference(tmp_path: Path, sample: DuckDBWarehouse) -> None:
    with pytest.raises(QuestionFileError, match=r"'a' has no gold"):
        gold(load_questions(write(tmp_path, LINE))[0], sample)


def test_a_file_of_other_questions(tmp_path: Path) -> None:
    lines: list[dict[str, Any] | str] = [
        LINE,
        "",
        {**LINE, "id": "b", "needs": ["recession"], "category": "complex", "gold": 3},
    ]
    questions = load_questions(write(tmp_path, *lines))
    assert [question.id for question in questions] == ["a", "b"]
    assert isinstance(questions[1], Question)
    assert questions[1].needs == ("recession",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"questions\.jsonl, line 2: not JSON"),
        ("[]", r"line 2: the line: "),
        ({**LINE, "id": ""}, r"line 2: id: .*at least 1 character"),
        ({**LINE, "as_of": "yesterday"}, r"line 2: as_of: .*'yesterday'"),
        ({**LINE, "category": "hard"}, r"line 2: category: .*'hard'"),
        ({**LINE, "answer_format": {"kind": "colour"}}, r"line 2: answer_format.kind: .*'colour'"),
        ({**LINE, "answer_format": {"kind": "table"}}, r"line 2: answer_format: .*cannot be matched"),
        ({**LINE, "answer_format": {"kind": "integer", "unitt": "x"}}, r"line 2: answer_format.unitt"),
        ({key: value for key, value in LINE.items() if key != "question"}, r"line 2: question: Field required"),
        ({**LINE, "id": "b", "gold": "many"}, r"line 2: gold does not fit answer_format: .*integer"),
        (LINE, r"line 2: the id 'a' stands twice"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: dict[str, Any] | str, message: str) -> None:
    with pytest.raises(QuestionFileError, match=message):
        load_questions(write(tmp_path, LINE, line))


def test_a_file_that_is_not_there_or_empty(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match="cannot be read"):
        load_questions(tmp_path / "none.jsonl")
    with pytest.raises(QuestionFileError, match="holds no question"):
        load_questions(write(tmp_path, ""))


def neighbour(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list):
        return value[:-1]
    return value + dt.timedelta(days=31) if isinstance(value, dt.date) else value + 1


@pytest.mark.parametrize("question", load_questions(), ids=lambda question: question.id)
def test_gold_matches_itself_and_not_its_neighbour(question: Question, sample: DuckDBWarehouse) -> None:
    right = gold(question, sample)
    assert matches(right, right, question.answer_format)
    assert not matches(neighbour(right), right, question.answer_format)
