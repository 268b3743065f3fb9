"""Verified queries in a file: no cell of a CSV is run as a formula, and what was written is read again."""

from __future__ import annotations

import csv
import datetime as dt
from pathlib import Path

import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.knowledge.verified.files import export_queries, rows_of
from finexpert.knowledge.verified.query import Source, VerifiedQuery

QUESTIONS = ("=1+1 of 2023", "@fees", "'=fees", "Fees in 2023")


def query(question: str) -> VerifiedQuery:
    return VerifiedQuery(
        question=question,
        select="SELECT 1 AS a",
        source=Source(name="+desk", dialect="duckdb"),
        answer_format=AnswerFormat(unit="=USD"),
        frame="f",
        columns=["a"],
        as_of=dt.date(2024, 1, 31),
        tables={},
        taught_by="-mallory",
    )


@pytest.mark.parametrize("kind", ["csv", "json", "yaml"])
def test_what_is_written_is_read_again(tmp_path: Path, kind: str) -> None:
    file = export_queries([query(each) for each in QUESTIONS], tmp_path / f"out.{kind}")
    rows = [row for _, row in rows_of(file)]
    assert [row["question"] for row in rows] == sorted(QUESTIONS)
    assert {row["unit"] for row in rows} == {"=USD"}


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    file = export_queries([query(each) for each in QUESTIONS], tmp_path / "out.csv")
    with file.open(encoding="utf-8", newline="") as lines:
        cells = [cell for row in csv.reader(lines) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
