"""Questions over a library: the packaged ones keep their promises, lines are checked, gold comes from the pages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sample_library import SampleLibrary, load_sample_questions

from finexpert.datasets.filings.questions import (
    NOT_FOUND,
    FilingQuestion,
    PageCell,
    gold,
    load_questions,
    missing_pages,
    parse_questions,
)
from finexpert.errors import DataError, QuestionFileError

PAGE = "HRBX/2022/page_4.pdf"
CELL: dict[str, Any] = {"kind": "cell", "id": 1, "page": PAGE, "row": "net revenue", "column": "2022"}
SAMPLE_GOLD = {
    "harborlight_revenue_2022": 412.0,
    "verdamere_people": 8600,
    "tesl_sensors_2021": 27.0,
    "quillstone_growth_2023": 896 / 941 - 1,
    "northwick_margin_2022": (301 - 196) / 301,
    "oakgate_cost_rise": 149 - 146,
    "ferries_or_sensors": "Tessaline Instruments",
    "verdamere_people_since_2021": 8600 - 8350,
    "tessaline_cagr": (811 / 530) ** (1 / 3) - 1,
    "oldest_company_revenue": 219.0,
    "ohio_bank_founded": 1926,
    "harborlight_2030": NOT_FOUND,
}


def line(**changes: Any) -> str:
    return json.dumps({"id": "one", "question": "What?", "pages": [PAGE], "program": [CELL], **changes})


def question(**changes: Any) -> FilingQuestion:
    return parse_questions(line(**changes), "here")[0]


def test_the_packaged_questions() -> None:
    questions = load_questions()
    counts = Counter(one.category for one in questions)
    searched = {"simple search": 20, "simple calculation": 20, "complex calculation": 20, "attribute": 12}
    assert counts == {**searched, "not found": 8}
    train = Counter(one.category for one in questions if one.split == "train")
    assert train == dict.fromkeys(searched, 6)
    assert all((one.gold == NOT_FOUND) is (one.category == "not found") for one in questions)
    assert all(bool(one.program) is (one.gold != NOT_FOUND) for one in questions)
    assert all(len(one.pages) <= 1 for one in questions if one.category.startswith("simple"))  # type: ignore[union-attr]
    assert all(len(one.pages) > 1 for one in questions if one.category == "complex calculation")
    assert len({one.question for one in questions}) == len(questions)
    assert sum(one.as_of is not None for one in questions) >= 8


@pytest.mark.parametrize("one", load_sample_questions(), ids=lambda one: str(one.id))
def test_gold_of_the_sample(one: FilingQuestion) -> None:
    assert gold(one, SampleLibrary()) == (
        pytest.approx(want) if isinstance(want := SAMPLE_GOLD[one.id], float) else want
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": ""}, "id: String should have at least 1 character"),
        ({"split": "test"}, "split: Input should be 'train' or 'dev'"),
        ({"gold": 3}, "a gold or a program, not both"),
        ({"pages": []}, "pages and program do not name the same pages: HRBX"),
        ({"pages": [PAGE, "X/2020/page_1.pdf"]}, "do not name the same pages: X/2020"),
        ({"alternatives": {"X": [PAGE]}}, "alternatives are given for X"),
        ({"program": [{**CELL, "kind": "script"}]}, "program.0: Input tag 'script'"),
        ({"program": [{"kind": "compute", "id": 1, "operation": "sum", "arguments": ["step 2"]}]}, "refers to step 2"),
        ({"program": [CELL, CELL]}, "two steps 1"),
        (
            {
                "program": [
                    CELL,
                    {"kind": "choose", "id": 2, "pick": "max", "names": ["a", "b", "c"], "arguments": ["step 1"] * 2},
                ]
            },
            "3 names, but 2 arguments",
        ),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(line(id="fine") + "\n" + line(**changes) + "\n", encoding="utf-8")
    with pytest.raises(QuestionFileError, match=r"mine\.jsonl, line 2: .*") as caught:
        load_questions(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: not JSON"),
        ("\n\n", "holds no question"),
        (line() + "\n" + line(), "line 2: the id 'one' stands twice"),
    ],
)
def test_a_bad_file_is_named(text: str, message: str) -> None:
    with pytest.raises(QuestionFileError, match=message):
        parse_questions(text, "here")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match=r"cannot be read \(No such file or directory\): .*--questions"):
        load_questions(tmp_path / "none.jsonl")


def test_a_line_of_others_needs_little() -> None:
    other = parse_questions('{"id": "a", "question": "b", "gold": 3.5, "difficulty": "hard"}', "theirs")[0]
    assert gold(other, SampleLibrary()) == 3.5
    assert other.model_extra == {"difficulty": "hard"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"program": [{**CELL, "row": "dividends"}]}, "step 1: no row is called 'dividends'"),
        (
            {"pages": ["X/2020/page_1.pdf"], "program": [{**CELL, "page": "X/2020/page_1.pdf"}]},
            "step 1: there is no page",
        ),
        ({"program": [], "pages": []}, "neither gold nor program"),
        (
            {
                "pages": [],
                "program": [{"kind": "select", "id": 1, "select": "SELECT max(ticker) FROM companies", "expect": "X"}],
            },
            "gives 'VDMR', but the program rests on 'X'",
        ),
        ({"pages": [], "program": [{"kind": "select", "id": 1, "select": "SELECT ticker FROM companies"}]}, "6 rows"),
        (
            {
                "program": [
                    CELL,
                    {"kind": "choose", "id": 2, "pick": "max", "names": ["a", "b"], "arguments": ["step 1"] * 2},
                ]
            },
            "412 is the value of several of a, b",
        ),
    ],
)
def test_gold_that_cannot_be_computed(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        gold(question(**changes), SampleLibrary())


def test_missing_pages_are_listed_once() -> None:
    strange = question(pages=["X/2020/page_1.pdf"], program=[{**CELL, "page": "X/2020/page_1.pdf"}])
    assert missing_pages([question(), strange, strange], SampleLibrary()) == ["X/2020/page_1.pdf"]
    assert isinstance(question().program[0], PageCell)
