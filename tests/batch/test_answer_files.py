"""Answers as rows and as files: nothing is rounded, nothing is made up where there is no answer."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from finexpert.batch import answer_files
from finexpert.batch.answer_rows import COLUMNS, AnswerRow, check_names, joined, row_of
from finexpert.core.answers import Answer, AnswerFormat, Clarification, Failure, Kind
from finexpert.errors import ConfigurationError, DataError


def answered(value: Any, kind: Kind, **given: Any) -> AnswerRow:
    return row_of(Answer(question="?", status="answered", value=value, format=AnswerFormat(kind=kind, **given)))


@pytest.mark.parametrize(
    ("value", "kind", "text", "number", "date"),
    [
        (3.9444444444, "number", "3.9444444444", 3.9444444444, None),
        (0, "integer", "0", 0.0, None),
        (2**53 + 1, "integer", "9007199254740993", None, None),
        (2020, "year", "2020", 2020.0, None),
        (True, "boolean", "true", None, None),
        (dt.date(2020, 2, 1), "date", "2020-02-01", None, dt.date(2020, 2, 1)),
        ("north", "text", "north", None, None),
        ([1.5, 2.0], "list", "[1.5, 2.0]", None, None),
        (pd.DataFrame({"a": [1]}), "table", '{"columns": ["a"], "data": [[1]]}', None, None),
    ],
)
def test_a_value_is_text_and_where_it_is_one_a_number_or_a_date(
    value: Any, kind: Kind, text: str, number: float | None, date: dt.date | None
) -> None:
    row = answered(value, kind)
    assert (row.value, row.number, row.date, row.kind) == (text, number, date, kind)


def test_without_an_answer_there_is_a_reason_and_no_value() -> None:
    failure = Failure(layer="planning", kind="output", message="no plan")
    failed = row_of(Answer(question="?", status="failed", failure=failure))
    unclear = Clarification(term="harbour months", question="What are harbour months?")
    open_ = row_of(Answer(question="?", status="needs_clarification", clarification=unclear))
    for row in (failed, open_):
        assert {row.text, row.value, row.number, row.date, row.kind} == {None}
    assert (failed.failed_layer, failed.failed_kind, failed.reason) == ("planning", "output", "no plan")
    assert open_.reason == "What are harbour months?"


ROWS = [
    answered(0.1, "number", unit="percent").model_copy(update={"flags": ["a", "b"], "record": "20241122-ab12cd"}),
    AnswerRow(status="not_asked", reason="=1+1"),
]
TABLE = joined(pd.DataFrame({"id": [9007199254740993, None], "question": ["a?", "b?"]}, dtype=object), ROWS)


def test_every_form_holds_the_same(tmp_path: Path) -> None:
    for ending in ("parquet", "csv", "xlsx", "jsonl"):
        path = tmp_path / f"answers.{ending}"
        answer_files.write(TABLE, path)
        assert path.stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "answers.csv",
        "answers.jsonl",
        "answers.parquet",
        "answers.xlsx",
    ]
    parquet = pq.read_table(tmp_path / "answers.parquet").to_pylist()
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert parquet == lines
    assert parquet[0]["id"] == 9007199254740993
    assert (parquet[0]["number"], parquet[0]["flags"], parquet[1]["number"]) == (0.1, ["a", "b"], None)
    csv = pd.read_csv(tmp_path / "answers.csv", dtype=str, keep_default_na=False)
    assert (csv.id.tolist(), csv.number.tolist(), csv["flags"][0]) == (["9007199254740993", ""], ["0.1", ""], "a; b")
    excel = pd.read_excel(tmp_path / "answers.xlsx", engine="calamine", dtype=str)
    assert (excel.id[0], excel.reason[1], excel.value[0]) == ("9007199254740993", "=1+1", "0.1")
    # A spreadsheet runs a text of a CSV file that begins as a formula.
    assert csv.reason[1] == "'=1+1"
    assert list(csv.columns) == list(excel.columns) == ["id", "question", *COLUMNS]


def test_the_types_in_parquet_do_not_depend_on_the_answers(tmp_path: Path) -> None:
    for name, rows in (("a", ROWS[:1]), ("b", ROWS[1:])):
        table = joined(pd.DataFrame({"question": ["a?"]}), rows, "answer_")
        answer_files.write(table, tmp_path / f"{name}.parquet", "answer_")
    first, second = (pq.read_schema(tmp_path / f"{name}.parquet") for name in "ab")
    assert first == second
    assert str(first.field("answer_date").type) == "date32[day]"


def test_numbers_in_a_csv_file_are_numbers_also_below_zero(tmp_path: Path) -> None:
    table = joined(pd.DataFrame({"question": ["@SUM(A1)"]}), [answered(-2.5, "number", unit="percent")])
    answer_files.write(table, tmp_path / "a.csv")
    csv = pd.read_csv(tmp_path / "a.csv", dtype=str)
    assert csv[["question", "text", "value", "number"]].to_numpy().tolist() == [
        [
            "'@SUM(A1)",
            "-2.50 percent",
            "-2.5",
            "-2.5",
        ]
    ]


def test_what_is_carried_along_may_hold_anything(tmp_path: Path) -> None:
    kept = [1, "one", None, {"a": dt.date(2020, 1, 1)}, [float("inf")]]
    table = joined(pd.DataFrame({"question": ["?"] * 5, "mixed": kept}, dtype=object), [AnswerRow(status="failed")] * 5)
    for ending in ("parquet", "csv", "xlsx", "jsonl"):
        answer_files.write(table, tmp_path / f"a.{ending}")
    texts = ["1", "one", None, '{"a": "2020-01-01"}', '["inf"]']
    assert pq.read_table(tmp_path / "a.parquet")["mixed"].to_pylist() == texts


def test_a_text_too_long_for_excel_is_refused_not_dropped(tmp_path: Path) -> None:
    long = joined(pd.DataFrame({"question": ["?"]}), [answered("x" * 40_000, "text")])
    with pytest.raises(DataError, match=r"row 1 has 40,000 characters in text"):
        answer_files.write(long, tmp_path / "a.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_places_and_names_are_checked_before_anything_is_asked(tmp_path: Path) -> None:
    for path, said in (("a.txt", "ends in none of"), ("no/a.csv", "is not there"), (".", "ends in none of")):
        with pytest.raises(ConfigurationError, match=said):
            answer_files.check(tmp_path / path)
    with pytest.raises(ConfigurationError, match=r"a column 'status'.*--prefix answer_"):
        check_names(pd.DataFrame(columns=["question", "status"]), "")
    check_names(pd.DataFrame(columns=["question", "status"]), "answer_")
