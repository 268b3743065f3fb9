"""Retrieval questions, their forms, and what is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.filings.retrieval import (
    RetrievalQuestion,
    RetrievalResult,
    evaluate,
    interval,
    load_questions,
    sample,
    summarise,
)
from finexpert.datasets.filings.retrieval_forms import TEMPLATES, asked
from finexpert.errors import QuestionFileError
from finexpert.filings.companies.companies import Companies, Company
from finexpert.filings.library.index.question import request_for

COMPANIES = Companies([Company("ARB", "Arbor Mills Inc."), Company("BSL", "Basalt Energy Corporation")])


def question(number: int, page: str = "ARB/2010/page_1") -> RetrievalQuestion:
    return RetrievalQuestion(
        id=f"q{number}",
        question=f"what were net sales of mill {number}?",
        pages=(page,),
        ticker="ARB",
        fiscal_year=2010,
    )


@pytest.mark.parametrize("number", range(40))
def test_company_and_year_are_found_again_however_they_are_named(number: int) -> None:
    form = asked(question(number).question, "named", "ARB", 2010, COMPANIES, "1")
    request = request_for(form.text, COMPANIES, form.as_of)
    assert (request.tickers, request.years) == (frozenset({"ARB"}), frozenset({2010}))
    assert "net sales" in request.phrases[0]


def test_every_way_of_naming_is_used_and_the_same_each_time() -> None:
    forms = [asked(question(n).question, "named", "ARB", 2010, COMPANIES, "1") for n in range(200)]
    assert {form.template for form in forms} == set(TEMPLATES)
    assert forms == [asked(question(n).question, "named", "ARB", 2010, COMPANIES, "1") for n in range(200)]


def test_a_bare_question_stays_as_it_is() -> None:
    assert asked("what were sales?", "bare", "ARB", 2010, COMPANIES, "1").text == "what were sales?"


def test_a_year_that_is_only_named_filters_nothing() -> None:
    form = asked("what is due in 2018?", "bare", "ARB", 2015, COMPANIES, "1")
    assert request_for(form.text, COMPANIES, form.as_of).years == frozenset()


def test_recall_and_reciprocal_rank(tmp_path: Path) -> None:
    questions = [question(1), question(2, "ARB/2010/page_2"), question(3, "ARB/2010/page_9")]
    journal = Journal(tmp_path / "journal.jsonl", RetrievalResult)
    results = evaluate(lambda request, way: ["ARB/2010/page_1", "ARB/2010/page_2"], questions, COMPANIES, journal)
    assert [result.rank for result in results if (result.form, result.way) == ("bare", "fused")] == [1, 2, None]
    summaries = summarise(results)
    assert len(summaries) == 6
    assert summaries[0].recall[1].mean == pytest.approx(1 / 3)
    assert summaries[0].recall[5].mean == pytest.approx(2 / 3)
    assert summaries[0].mrr.mean == pytest.approx(0.5)


def test_questions_on_one_page_widen_the_interval() -> None:
    values = [1.0, 1.0, 0.0, 0.0] * 5
    apart = interval(values, [str(place) for place in range(20)])
    together = interval(values, [str(place % 4 < 2) for place in range(20)])
    assert together.high - together.low > apart.high - apart.low


def test_the_sample_does_not_depend_on_the_order() -> None:
    questions = [question(number) for number in range(50)]
    chosen = {q.id for q in sample(questions, 10)}
    assert len(chosen) == 10
    assert {q.id for q in sample(questions[::-1], 10)} == chosen
    assert sample(questions, None) == sample(questions, 99) == questions


@pytest.mark.parametrize("line", ["{", '{"id": "a"}', '{"id": "a", "question": "b", "filename": "c", "ticker": ""}'])
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "questions.jsonl"
    good = {"id": "a", "question": "b", "filename": "c", "ticker": "D", "fiscal_year": 2010, "program": "ignored"}
    file.write_text(f"{json.dumps(good)}\n\n{line}\n")
    with pytest.raises(QuestionFileError, match="line 3"):
        load_questions(file)
    file.write_text(json.dumps(good))
    assert load_questions(file)[0].pages == ("c",)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, r"cannot be read \(No such file or directory\): .*--questions"),
        (b"\xff", r"cannot be read \(byte 0 is no UTF-8\): .*--questions"),
        (b"", "holds no question: write one JSON object a line"),
    ],
)
def test_no_question_is_said(tmp_path: Path, content: bytes | None, told: str) -> None:
    if content is not None:
        (tmp_path / "questions.jsonl").write_bytes(content)
    with pytest.raises(QuestionFileError, match=rf"questions\.jsonl {told}"):
        load_questions(tmp_path / "questions.jsonl")
