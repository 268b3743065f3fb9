"""DABench's form: loading, the table that is asked for, how its values are written, and both rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.datasets.external.dabench import (
    DabenchQuestion,
    digest,
    load_questions,
    response_of,
    right_by_ours,
    right_officially,
)
from finexpert.errors import QuestionFileError


def question(form: str, answers: list[list[str]] | None = None, **more: Any) -> DabenchQuestion:
    given = {"id": 1, "question": "?", "format": form, "file_name": "x.csv", "answers": answers or []}
    return DabenchQuestion.model_validate(given | more)


def test_both_layouts_are_read(tmp_path: Path) -> None:
    (tmp_path / "da-dev-tables").mkdir()
    (tmp_path / "da-dev-tables" / "x.csv").write_text("a\n1\n")
    record = {"id": 7, "question": "?", "constraints": "", "format": "@n[n]", "file_name": "x.csv", "level": "easy"}
    (tmp_path / "da-dev-questions.jsonl").write_text(json.dumps(record))
    (tmp_path / "da-dev-labels.jsonl").write_text(json.dumps({"id": 7, "common_answers": [["n", "1"]]}))
    (only,) = load_questions(tmp_path)
    assert (only.id, only.answers) == ("7", (("n", "1"),))
    first = digest(tmp_path, [only])
    (tmp_path / "da-dev-tables" / "x.csv").write_text("a\n2\n")
    assert digest(tmp_path, [only]) != first


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "no question"),
        ([{"id": 1, "question": "?", "format": "@n[n]", "file_name": "x.csv"}], "line 1: no answer is known"),
        ([{"id": 1, "question": "?", "format": "a number", "file_name": "x.csv", "answers": [["n", "1"]]}], "names no value"),
        ([{"id": 1, "question": "?", "format": "@n[n]", "file_name": "x.csv", "answers": [["n", "1"]]}] * 2, "line 2: the id 1 stands twice"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(tmp_path: Path, lines: list[dict[str, Any]], said: str) -> None:
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(QuestionFileError, match=said):
        load_questions(tmp_path)


@pytest.mark.parametrize(
    ("form", "row", "written"),
    [
        ('@m[v] @s[w] where "v" and "w" are rounded to 2 decimal places', {"m": 2 / 3, "s": 1.0}, "@m[0.67] @s[1.00]"),
        ('@n[n], @m[v] where "n" is an integer, "v" and "w" are rounded to two decimals', {"n": 3.0, "m": 2.5}, "@n[3] @m[2.50]"),
        ("@r[r] @p[p] rounded to four decimal places", {"r": 0.12341, "p": 1e-9}, "@r[0.1234] @p[0.0000]"),
        ('@top[month, year, mean] where "mean" is rounded to two decimal places', {"month": 1, "year": 2018, "mean": 88.316}, "@top[1, 2018, 88.32]"),
        ("@outliers[list]", {"outliers": "3, 5"}, "@outliers[3, 5]"),
        ("@outliers[list]", {"outliers": None}, "@outliers[]"),
        ("@nan[boolean]", {"nan": True}, "@nan[True]"),
        ("@A[x] @B[y]", {"first": 1, "second": 2}, "@A[1] @B[2]"),
        ("@A[x] @B[y]", {"B": 1, "a": 2}, "@A[2] @B[1]"),
        ("@A[x] @B[y]", {"A": 1}, "@A[1]"),
    ],
)  # fmt: skip
def test_a_row_is_written_in_the_form_that_is_asked_for(form: str, row: dict[str, Any], written: str) -> None:
    assert response_of(pd.DataFrame([row]), question(form)) == written


def test_several_rows_or_none_are_no_answer() -> None:
    two = pd.DataFrame({"n": [1, 2]})
    assert response_of(two, question("@n[n]")) == response_of(two.head(0), question("@n[n]")) == ""


def test_the_official_rule() -> None:
    assert right_officially("@p[0.0000] @t[linear] @more[1]", [("p", "0.0"), ("t", "linear")])
    assert not right_officially("@t[Linear]", [("t", "linear")])
    assert not right_officially("@p[0.01]", [("p", "0.02")])
    assert not right_officially("", [("outliers", "")])
    assert right_officially("@outliers[]", [("outliers", "")])


def test_our_rule_rounds_and_folds_but_forgives_no_value() -> None:
    asked = question("@m[v] @t[w]", [["m", "0.67"], ["t", "Linear"]])
    assert right_by_ours(pd.DataFrame([{"m": 2 / 3, "t": "linear "}]), asked)
    assert not right_by_ours(pd.DataFrame([{"m": 0.68, "t": "linear"}]), asked)
    assert not right_by_ours(pd.DataFrame([{"m": 0.67}]), asked)
    assert right_by_ours(pd.DataFrame([{"a": 1, "b": 2018}]), question("@top[a, b]", [["top", "1, 2018"]]))
