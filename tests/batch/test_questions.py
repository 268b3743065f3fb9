"""Tables of questions: what is read, and what is refused before a question is paid for."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from finexpert.batch.questions import BatchQuestion, questions_of, table_of
from finexpert.core.answers import AnswerFormat
from finexpert.errors import QuestionFileError


def read(path: Path) -> tuple[pd.DataFrame, list[BatchQuestion]]:
    table, name = table_of(path)
    return table, questions_of(table, name)


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_is_text_as_it_stands_there(tmp_path: Path, delimiter: str) -> None:
    lines = [
        ["id", "question", "as_of", "answer_format"],
        ["007", '"How many, in 2020; or\nso?"', "2020-12-31", "integer"],
    ]
    path = written(tmp_path, "q.csv", "\ufeff" + "\n".join(delimiter.join(line) for line in lines) + "\n\n")
    table, (question,) = read(path)
    assert table.id.tolist() == ["007"]
    assert question.question == "How many, in 2020; or\nso?"
    assert (question.as_of, question.answer_format) == (dt.date(2020, 12, 31), AnswerFormat(kind="integer"))


def test_json_lines_and_parquet_keep_every_digit(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "q.jsonl",
        '{"question": "How many?", "big": 9007199254740993, "answer_format": {"kind": "list", "items": "date"}}\n'
        '{"question": "And now?", "as_of": null}\n',
    )
    table, asked = read(path)
    assert (table.big[0], table.columns.tolist()) == (9007199254740993, ["question", "big", "answer_format", "as_of"])
    assert asked[0].answer_format == AnswerFormat(kind="list", items="date")
    assert asked[1] == BatchQuestion("And now?")
    frame = pd.DataFrame({"question": ["a?", "b?"], "big": pd.array([9007199254740993, None], "Int64")})
    frame["as_of"] = [dt.date(2020, 1, 31), None]
    frame.to_parquet(tmp_path / "q.parquet")
    table, asked = read(tmp_path / "q.parquet")
    assert table.big[0] == 9007199254740993
    assert [question.as_of for question in asked] == [dt.date(2020, 1, 31), None]


def test_texts_and_frames_are_questions(tmp_path: Path) -> None:
    import pyarrow as pa

    for given in (["a?", "b?"], pa.table({"question": ["a?", "b?"]}), pd.DataFrame({"question": ["a?", "b?"]})):
        table, name = table_of(given)
        assert [question.question for question in questions_of(table, name)] == ["a?", "b?"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.csv", "question\nHow many in 2020, 2021?\n", "line 2 has 2 fields, and the heading 1: put quotes around"),
        ("q.csv", 'question\n"How many?\n', "line 2"),
        ("q.csv", "frage\nWie viele?\n", "has no column 'question', but frage"),
        ("q.csv", "question,question\na?,b?\n", "'question' stands twice"),
        ("q.csv", "question\n", "holds no question"),
        ("q.csv", "", "has no column 'question', but none"),
        ("q.csv", "id,question\n1,a?\n2, \n", "row 2: the question is empty"),
        ("q.csv", "question,as_of\na?,30.9.2024\n", "row 1: as_of is '30.9.2024': write it as 2024-09-30"),
        ("q.csv", "question,answer_format\na?,percent\n", "row 1: answer_format is 'percent'"),
        ("q.csv", 'question,answer_format\na?,"{""kind"": "\n', "row 1: answer_format is"),
        ("q.jsonl", '{"question": 3}\n', "row 1: the question is 3, which is no text"),
        ("q.jsonl", '{"question": "a?"}\n[1]\n', "line 2"),
        ("q.jsonl", '{"question": "a?", "answer_format": 3}\n', "row 1: answer_format is 3"),
        ("q.parquet", "no parquet", "cannot be read"),
        ("q.txt", "a?", "ends in none of .csv"),
    ],
)
def test_what_cannot_be_asked_is_named(tmp_path: Path, name: str, content: str, said: str) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(QuestionFileError) as raised:
        read(path)
    assert said in str(raised.value)
    assert name in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("q.csv", "q.jsonl", "q.parquet"):
        with pytest.raises(QuestionFileError, match="cannot be read"):
            read(tmp_path / name)


@pytest.mark.parametrize(
    "other", [{"as_of": dt.date(2020, 1, 1)}, {"knowledge": "x"}, {"answer_format": AnswerFormat()}]
)
def test_what_is_said_with_a_question_makes_it_another(other: dict[str, Any]) -> None:
    assert BatchQuestion("a  b?").key == BatchQuestion("a b?").key
    assert BatchQuestion("a b?", **other).key != BatchQuestion("a b?").key


@pytest.mark.parametrize("columns", [["question"], ["question", "note"]])
def test_a_small_file_of_much_is_refused(tmp_path: Path, columns: list[str]) -> None:
    """Half a million times the same long text is a file of some kilobytes."""
    path = tmp_path / "much.parquet"
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 500_000, pa.int32()), ["x" * 100_000])
    plain = pa.array(["How many?"] * 500_000)
    arrays = {"question": plain, "note": long} if "note" in columns else {"question": long}
    pq.write_table(pa.table(arrays), path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(QuestionFileError, match="256 MB"):
        read(path)
