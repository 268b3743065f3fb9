"""The file of a report: parameters in questions, lists, and what is wrong on which line."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from finexpert.batch.reports.reading import read
from finexpert.errors import QuestionFileError

GOOD = """\
title: Prices
parameters:
  month: 2024-03
  day: 2024-03-31
  companies: [Verizon, 3M]
sources: [fred.duckdb, "postgresql://db/x"]
questions:
  - What was unemployment in {month}?
  - name: Margins
    question: What was the margin of {companies} in {month}?
    as_of: "{day}"
    answer_format: number
"""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    (tmp_path / "prices.yaml").write_text(GOOD)
    return tmp_path / "prices.yaml"


def test_parameters_stand_in_the_questions_and_a_list_asks_for_each(written: Path) -> None:
    report = read(written, ["month=2024-04", "companies=Verizon, 3M ,Boeing"])
    assert [each.question.question for each in report.asked] == [
        "What was unemployment in 2024-04?",
        *(f"What was the margin of {name} in 2024-04?" for name in ("Verizon", "3M", "Boeing")),
    ]
    assert report.asked[1].question.as_of == dt.date(2024, 3, 31)
    assert report.sources == [str(written.parent / "fred.duckdb"), "postgresql://db/x"]
    # The places are those of another month, so that runs are compared.
    assert [each.place for each in read(written).asked] == [each.place for each in report.asked][:3]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{month}?", "{moth}?", "line 8: {moth} is no parameter of the report (month, day, companies)"),
        ("answer_format: number", "answer_format: nummer", "line 9: answer_format is 'nummer'"),
        ("as_of: ", "asof: ", "line 11: questions.1.asof: Extra inputs"),
        ('"{day}"', "{day}", "line 11"),
        ("  month: 2024-03", "  month: 2024-03\n  month: 2024-04", "line 4: 'month' stands twice"),
        ("  day:", "  - day:", "line 4"),
        ("  day:", "  idle: 3\n  day:", "line 4: no question has {idle}"),
        ("[Verizon, 3M]", "[]", "line 5: the list companies is empty"),
        ("[Verizon, 3M]", "[true, x]", "line 5: parameters.companies"),
        ("[Verizon, 3M]", "yes\n  on: true", "line 6: parameters.on"),
        ("day: 2024-03-31", "day: 2024-02-30", "line 4: '2024-02-30' is no day or time"),
        ("day: 2024-03-31", f"day: {'x' * 20_000}", "line 9: with its parameters it is longer than 20,000 characters"),
        (
            "[Verizon, 3M]",
            f"{list(range(1_001))}",
            "line 9: its lists make 1,001 questions of it, and a report has at most 1,000",
        ),
        ("title: Prices", "titel: Prices", "line 1"),
        ("name: Margins", "name: What was unemployment in {month}?", "stands twice"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(written: Path, old: str, new: str, said: str) -> None:
    text = GOOD.replace(old, new, 1)
    if "stands twice" in said and "name" in new:
        text = GOOD.replace("of {companies} in {month}?", "in {day} {month}?").replace("[Verizon, 3M]", "x")
        text = text.replace("name: Margins", "name: '{companies}'").replace(
            "unemployment in {month}?", "x?\n  - What was x?"
        )
    written.write_text(text)
    with pytest.raises(QuestionFileError) as error:
        read(written)
    assert said in str(error.value)


@pytest.mark.parametrize("lists", [2, 3, 9, 60])
def test_the_product_of_lists_is_bounded(tmp_path: Path, lists: int) -> None:
    names = [f"p{number}" for number in range(lists)]
    lines = [f"  {name}: {list(range(40))}" for name in names]
    asked = "".join(f"{{{name}}}" for name in names)
    file = tmp_path / "many.yaml"
    file.write_text("\n".join(["title: Many", "parameters:", *lines, "questions:", f"  - 'What of {asked}?'"]))
    with pytest.raises(QuestionFileError, match=f"line {lists + 4}: its lists make {40**lists:,} questions"):
        read(file)


def test_many_questions_together_are_bounded(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    file.write_text("title: Many\nquestions:\n" + "".join(f"  - What of {number}?\n" for number in range(1_001)))
    with pytest.raises(QuestionFileError, match="at most 1,000 questions: split it"):
        read(file)


def test_values_stand_in_questions_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "plain.yaml"
    file.write_text(
        "title: x\nparameters: {country: [NO, on], at: 12:30, id: 007}\nquestions: ['{country} {at} {id}?']\n"
    )
    assert [each.question.question for each in read(file).asked] == ["NO 12:30 007?", "on 12:30 007?"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("month=03/2024", "line 3 is a month such as 2024-03, and '03/2024' is none"),
        ("day=tomorrow", "line 4 is a day such as 2024-03-01, and 'tomorrow' is not"),
        ("companies=", "line 5 is a text, and '' is not"),
        ("companies=Verizon,", "line 5 is a text, and '' is not"),
        ("year=2024", "of the parameters of"),
        ("month", "give NAME=VALUE"),
    ],
)
def test_a_parameter_that_does_not_fit_is_said_with_its_line(written: Path, given: str, said: str) -> None:
    with pytest.raises(QuestionFileError) as error:
        read(written, [given])
    assert said in str(error.value)


def test_no_file_and_no_yaml(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match="cannot be read"):
        read(tmp_path / "none.yaml")
    (tmp_path / "none.yaml").write_text("")
    with pytest.raises(QuestionFileError, match="line 1"):
        read(tmp_path / "none.yaml")
