"""Scoring over a library: what counts as right, which pages were found, which citations stand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from sample_library import SampleLibrary, load_sample_questions

from finexpert.core.answers import Answer, AnswerFormat, Citation
from finexpert.datasets.filings.questions import FilingQuestion, gold
from finexpert.datasets.filings.scoring import (
    CitedPages,
    recall,
    recall_at,
    reciprocal_rank,
    right,
    score,
    stands,
)

PAGE = "HRBX/2022/page_4.pdf"
LABEL = "Harborlight Ferries Inc., FY 2022, p. 4"
MILLIONS = AnswerFormat(kind="number", unit="USD million")
SHARE = AnswerFormat(kind="number", unit="fraction")
NUMBER = AnswerFormat(kind="number")


@pytest.fixture(scope="module")
def cited() -> CitedPages:
    return CitedPages(SampleLibrary())


def sample(id: str) -> FilingQuestion:
    return next(question for question in load_sample_questions() if question.id == id)


@pytest.mark.parametrize(
    ("value", "expected", "form", "is_right"),
    [
        (412.0, 412.0, MILLIONS, True),
        (413.9, 412.0, MILLIONS, True),
        (415.0, 412.0, MILLIONS, False),
        ("$ 412 million", 412.0, MILLIONS, True),
        ("USD 0.412 billion", 412.0, MILLIONS, True),
        ("412 thousand", 412.0, MILLIONS, False),
        ("between 400 and 412", 412.0, MILLIONS, False),
        (-412.0, 412.0, MILLIONS, False),
        ("( 412 )", -412.0, MILLIONS, True),
        (0.0478, 0.04782, SHARE, True),
        (4.78, 0.04782, SHARE, True),
        ("4.78%", 0.04782, SHARE, True),
        (4.78, 0.04782, NUMBER, False),
        ("4.78 percent", 0.04782, NUMBER, True),
        ("15.8 points", 15.8, AnswerFormat(unit="points"), True),
        (True, 1.0, NUMBER, False),
        (None, 1.0, NUMBER, False),
        ("none", 1.0, NUMBER, False),
        ("Apple Inc.", "apple", AnswerFormat(kind="text"), True),
        ("The Goldman Sachs Group, Inc.", "Goldman Sachs", AnswerFormat(kind="text"), True),
        ("Goldman", "Goldman Sachs", AnswerFormat(kind="text"), False),
        ("New Orleans,  LOUISIANA", "New Orleans, Louisiana", AnswerFormat(kind="text"), True),
        ("yes", True, AnswerFormat(kind="boolean"), True),
        (False, "yes", AnswerFormat(kind="boolean"), False),
        ("maybe", "no", AnswerFormat(kind="boolean"), False),
        (412.0, "412", NUMBER, True),
        ([1.0, 2.0], [1, 2], AnswerFormat(kind="list", items="number"), True),
        ([2.0, 1.0], [1, 2], AnswerFormat(kind="list", items="number"), False),
        ([1.0], [1, 2], AnswerFormat(kind="list", items="number"), False),
    ],
)
def test_right(value: Any, expected: Any, form: AnswerFormat, is_right: bool) -> None:
    assert right(value, expected, form) is is_right


@pytest.mark.parametrize(
    ("source", "place", "value", "expected"),
    [
        (PAGE, "net revenue / 2022", "$ 412", True),
        (LABEL, "net revenue / 2022", "$ 412", True),
        (LABEL.lower(), "net revenue / 2022", 412.0, True),
        (PAGE, "net revenue / 2021", "$ 412", False),
        (PAGE, "net revenue / 2022", "$ 388", False),
        (PAGE, "operating costs / 2022", "412", False),
        ("HRBX/2023/page_4.pdf", "net revenue / 2022", "$ 412", True),
        ("HRBX/2021/page_4.pdf", "net revenue / 2022", "$ 412", False),
        (PAGE, "at the end of 2022 we employed 2204 people", "2204", True),
        (PAGE, "at the end of 2022 we employed 2205 people", "2205", False),
        ("Nobody, FY 2022, p. 4", "net revenue / 2022", "$ 412", False),
        ("companies", "SELECT founded FROM companies", 1911, None),
    ],
)
def test_a_citation_stands(cited: CitedPages, source: str, place: str, value: Any, expected: bool | None) -> None:
    assert stands(Citation(source=source, place=place, value=value), cited) is expected


@pytest.mark.parametrize(
    ("status", "value", "id", "is_right"),
    [
        ("answered", 412.0, "harborlight_revenue_2022", True),
        ("answered", 388.0, "harborlight_revenue_2022", False),
        ("not_found", None, "harborlight_revenue_2022", False),
        ("not_found", None, "harborlight_2030", True),
        ("answered", 455.0, "harborlight_2030", False),
        ("failed", None, "harborlight_2030", False),
    ],
)
def test_an_answer_is_scored(cited: CitedPages, status: Any, value: Any, id: str, is_right: bool) -> None:
    question = sample(id)
    citations = [Citation(source=LABEL, place="net revenue / 2022", value="$ 412")] if value else []
    answer = Answer(question=question.question, status=status, value=value, citations=citations)
    result = score(question, gold(question, SampleLibrary()), answer, cited)
    assert result.right is is_right
    assert (result.citations_right, result.citations) == (len(citations), len(citations))
    assert result.found == (None if not question.pages else float(bool(citations)))


def test_a_page_with_the_same_numbers_counts() -> None:
    two = sample("tessaline_cagr").model_copy(update={"alternatives": {"TESL/2021/page_4.pdf": ("A",)}})
    assert recall(two, ["A", "B"]) == 0.5
    assert recall(two, ["A", "TESL/2023/page_4.pdf"]) == 1
    assert recall(two, ["A", "TESL/2021/page_4.pdf"]) == 0.5
    assert recall_at(two, ["B", "A", "TESL/2023/page_4.pdf"], 2) == 0.5
    assert reciprocal_rank(two, ["B", "A"]) == 0.5
    assert reciprocal_rank(two, ["B"]) == 0
    assert math.isnan(recall(sample("harborlight_2030"), ["A"]))
