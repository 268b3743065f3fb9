"""Transcripts: their form, what is wrong with a line, and the expectations that they carry."""

from __future__ import annotations

import datetime as dt
import importlib.resources
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.datasets.desk.house import house_transcripts
from finexpert.datasets.desk.transcripts import Line, read_transcript, resolve_expect
from finexpert.datasets.fred.recessions import recessions
from finexpert.datasets.fred.tables import FredTables
from finexpert.errors import QuestionFileError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

AS_OF = dt.date(2024, 9, 30)
RECESSION = Path(str(importlib.resources.files("finexpert.datasets") / "lessons" / "recession.jsonl"))
ALL = [RECESSION, *house_transcripts()]
COUNT = {"kind": "integer"}


def write(folder: Path, *lines: dict[str, Any] | str) -> Path:
    path = folder / "lesson.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def test_every_kind_of_line(tmp_path: Path) -> None:
    lines = read_transcript(
        write(
            tmp_path,
            {"message": "Count the warm months of 2004.", "expect": 3, "answer_format": COUNT, "as_of": "2010-01-31"},
            {"reply": "By warm I mean above the mean."},
            "",
            {"remember": None},
            {"define": {"term": "warm month", "meaning": "A month above the mean.", "aliases": ["month of warmth"]}},
            {"clash": "keep both as Warm Month of the Year"},
        )
    )
    assert [line.action for line in lines] == ["message", "reply", "remember", "define", "clash"]
    assert [line.text for line in lines[:3]] == [
        "Count the warm months of 2004.",
        "By warm I mean above the mean.",
        None,
    ]
    assert [line.expects for line in lines] == [True, False, False, False, False]
    assert lines[0].as_of == dt.date(2010, 1, 31)
    assert lines[3].define is not None
    assert lines[3].define.aliases == ("month of warmth",)
    assert lines[4].second_heading == "Warm Month of the Year"


@pytest.mark.parametrize("clash", ["replace", "ignore"])
def test_a_clash_that_keeps_one(clash: str) -> None:
    assert Line(clash=clash).second_heading is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"lesson\.jsonl, line 2: not JSON"),
        ("[]", r"line 2: .*dictionary"),
        ({}, r"line 2: a line does one of .*; this one does none"),
        ({"message": "a", "remember": "B"}, r"line 2: .*this one does message and remember"),
        ({"message": None}, r"line 2: message is null"),
        ({"message": ""}, r"line 2: message: .*at least 1 character"),
        ({"say": "a"}, r"line 2: say: "),
        ({"define": {"term": "a"}}, r"line 2: define.meaning: Field required"),
        ({"define": {"term": "a", "meaning": "b", "unit": "c"}}, r"line 2: define.unit: "),
        ({"clash": "keep both"}, r"line 2: clash is 'replace'.*not 'keep both'"),
        ({"remember": "A", "expect": 3, "answer_format": COUNT}, r"line 2: answer_format, expect belongs to a message"),
        ({"message": "a", "expect": 3}, r"line 2: expect needs an answer_format"),
        ({"message": "a", "expect": 3, "answer_format": {"kind": "table"}}, r"line 2: .*any kind but 'table'"),
        ({"message": "a", "expect": "many", "answer_format": COUNT}, r"line 2: expect does not fit .*integer"),
        ({"message": "a", "expect": {"name": "b"}, "answer_format": COUNT}, r'line 2: expect is a value, or {"refer'),
        ({"message": "a", "expect": {"reference": 3}, "answer_format": COUNT}, r"line 2: expect is a value, or"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: dict[str, Any] | str, message: str) -> None:
    with pytest.raises(QuestionFileError, match=message):
        read_transcript(write(tmp_path, {"message": "Hello."}, line))


def test_a_file_that_is_not_there_or_empty(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match=r"none\.jsonl cannot be read"):
        read_transcript(tmp_path / "none.jsonl")
    with pytest.raises(QuestionFileError, match="holds no line"):
        read_transcript(write(tmp_path, ""))


def test_a_literal_has_the_type_of_its_format(sample: DuckDBWarehouse) -> None:
    days = AnswerFormat(kind="list", items="date")
    line = Line(message="When?", expect=["2020-04-01"], answer_format=days)
    assert resolve_expect(line, sample) == [dt.date(2020, 4, 1)]
    assert resolve_expect(Line(message="When?"), sample) is None
    assert resolve_expect(Line(remember="When"), sample) is None


def test_a_reference_reads_the_data_as_of_the_day(sample: DuckDBWarehouse) -> None:
    expect, numbers = {"reference": "latest_recession"}, AnswerFormat(kind="list", items="integer")
    line = Line(message="When?", expect=expect, answer_format=numbers)
    assert resolve_expect(line, sample) == [2018, 7, 6]
    assert resolve_expect(line, sample, dt.date(2012, 1, 1)) == [2009, 4, 12]
    earlier = Line(message="When?", expect=expect, answer_format=numbers, as_of=dt.date(2005, 1, 1))
    assert resolve_expect(earlier, sample, dt.date(2012, 1, 1)) == [2001, 4, 3]


def test_an_unknown_reference_is_named(sample: DuckDBWarehouse) -> None:
    line = Line(message="How many?", expect={"reference": "moons"}, answer_format=AnswerFormat(kind="integer"))
    with pytest.raises(QuestionFileError, match="no reference 'moons'"):
        resolve_expect(line, sample)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_packaged_transcript_teaches_one_thing_and_its_expectations_hold(path: Path, sample: DuckDBWarehouse) -> None:
    lines = read_transcript(path)
    *before, last = lines
    assert last.action in ("remember", "define")
    assert {line.action for line in before} <= {"message", "reply"}
    assert last.action == "define" or sum(line.expects for line in before) in (1, 2)
    for line in lines:
        assert (resolve_expect(line, sample, AS_OF) not in (None, [])) == line.expects


def test_the_recession_is_taught_as_the_questions_define_it(sample: DuckDBWarehouse) -> None:
    lines = read_transcript(RECESSION)
    assert len(lines) == 7
    assert [line.expects for line in lines] == [False] * 5 + [True, False]
    assert lines[6].remember == "Recession Calculation"
    assert resolve_expect(lines[5], sample, AS_OF) == by_running_count(sample)


def by_running_count(sample: DuckDBWarehouse) -> list[int]:
    """The rule in the words of the transcript: a running count, a start where it becomes 2, an end before 0."""
    real = FredTables(sample, AS_OF)["GDPC1"].loc["1999-10-01":]
    quarters, values = list(real.index), list(real)
    counts = [0]
    for before, now in pairwise(values):
        counts.append(counts[-1] + 1 if now < before else 0)
    starts = [day for day, count in zip(quarters, counts, strict=True) if count == 2]
    ends = [
        day for day, count, after in zip(quarters, counts, [*counts[1:], 0], strict=True) if count >= 2 and after == 0
    ]
    found: list[int] = []
    for start, end in zip(starts, ends, strict=True):
        months = (end.year - start.year) * 12 + end.month + 3 - start.month
        found += [start.year, start.month, end.year, end.month, months]
    assert len(found) == 5 * len([r for r in recessions(real) if r.start.year >= 2000])
    return found
