"""`finexpert report`: the report of the docs over the sample economy, and what is refused before anything is asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from finexpert.answers.sources import opening
from finexpert.batch.reports.reading import own_sources, read

DOCS = Path(__file__).parents[2] / "docs"
RECORDED = ("--lm", "recorded", "--as-of", "2024-09-30")


def test_the_report_of_the_docs_is_made_and_made_again_without_a_model(
    finexpert: Any, home: Path, tmp_path: Path
) -> None:
    ran = finexpert("report", str(DOCS / "economy.yaml"), *RECORDED)
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == ["3 of 3 answered, 0 changed; 3 model calls", "wrote economy.html and economy.xlsx"]
    page = (tmp_path / "economy.html").read_text()
    assert ">3 recessions<" in page
    assert "sample economy: made-up numbers" in page
    assert page.count("data:image/png;base64,") == 2
    assert not re.search(r"https?://|<script|<link|url\(", page)
    book = openpyxl.load_workbook("economy.xlsx")
    assert book.sheetnames == ["report", "answer 2", "answer 3"]
    assert "0 changed; 0 model calls" in finexpert("report", str(DOCS / "economy.yaml"), *RECORDED, "--out", "b").out
    assert (tmp_path / "b.html").is_file()


def test_what_is_not_answered_is_in_the_report_with_exit_code_3(finexpert: Any, tmp_path: Path) -> None:
    (tmp_path / "tea.yaml").write_text(
        "title: Tea\nparameters: {what: tea}\nquestions:\n  - What is the price of {what}?\n"
    )
    ran = finexpert("report", "tea.yaml", *RECORDED)
    assert ran.code == 3
    assert "What is the price of tea?: this prompt is not among the recorded ones" in ran.out
    assert "this prompt is not among the recorded ones" in (tmp_path / "tea.html").read_text()
    refused = finexpert("report", "tea.yaml", "--set", "wat=milk", *RECORDED)
    assert (refused.code, "of the parameters of tea.yaml: what" in refused.err) == (1, True)
    (tmp_path / "tea.yaml").write_text("title: Tea\nquestions:\n  - What is the price of {what}?\n")
    refused = finexpert("report", "tea.yaml", *RECORDED)
    assert (refused.code, "tea.yaml, line 3: {what} is no parameter" in refused.err) == (1, True)


@pytest.mark.parametrize("place", [
    "postgresql://ann:pw@elsewhere.example:5611/x", "postgresql:/elsewhere.example/x", "./postgresql://elsewhere.example/x",
    "mysql+pymysql://elsewhere.example/x", "https://elsewhere.example/a.csv?token=pw", "s3://elsewhere/a.csv",
    "postgresql://localhost:5/x?schema=a@elsewhere.example/y", "mysql+pymysql://127.0.0.1/x?read_default_file=~/.my.cnf",
    "mysql+pymysql://gateway.example/x?init_command=DELETE%20FROM%20t", "postgresql://gateway.example/x?hostaddr=10.0.0.1",
])  # fmt: skip
def test_a_server_in_the_report_of_somebody_else_is_not_asked(
    finexpert: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", '["gateway.example"]')
    monkeypatch.setattr(opening, "open_data", lambda *given, **options: pytest.fail("it was opened"))
    (tmp_path / "r.yaml").write_text(f"title: x\nsources: [a.csv, '{place}']\nquestions: [How many rows?]\n")
    (tmp_path / "a.csv").write_text("n\n1\n")
    ran = finexpert("report", "r.yaml", *RECORDED)
    assert (ran.code, "r.yaml names the source" in ran.err, "with --data" in ran.err) == (1, True, True), ran.err
    assert "pw" not in ran.err.replace("pymysql", "")


@pytest.mark.parametrize("place", ["postgresql://gateway.example/x?schema=a", "mysql+pymysql://localhost/x", "https://gateway.example/a.csv", "sqlite:///x.db"])  # fmt: skip
def test_a_server_in_a_report_is_asked_where_its_host_is_trusted(tmp_path: Path, place: str) -> None:
    (tmp_path / "r.yaml").write_text(f"title: x\nsources: [a.csv, '{place}']\nquestions: [How many rows?]\n")
    assert own_sources(read(tmp_path / "r.yaml"), tmp_path / "r.yaml", ["gateway.example"])[1] == place
