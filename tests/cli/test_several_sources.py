"""`finexpert ask` with several sources, its replay, and what is refused."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path
from typing import Any

import pytest

from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.language_models.roles import LanguageModels

TABLE = (("(in millions)", "2021", "2020"), ("Net sales", "$ 500", "$ 400"))
QUESTION = "How many fees were there for a million of Oakgate Water's net sales in 2021?"


@pytest.fixture
def places(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    Path("fees.csv").write_text("day,fee\n2021-01-04,1.5\n2021-01-05,2.5\n")
    with Library.open(Path("filings"), embedder=embedder("words"), make=True) as made:
        page = LibraryPage("a/1", "a", "Oakgate Water Inc.", "", 2021, None, "10-K", "", 1, ("Sales",), TABLE, ())
        info = FilingInfo(
            "a", "Oakgate Water Inc.", "", 2021, None, "10-K", "", "a.pdf", "1", 1, dt.datetime.now(dt.UTC)
        )
        made.add([page], info)
    return tmp_path


@pytest.fixture
def planned(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LanguageModels, "from_settings", lambda settings: desk.models)
    desk.lend_sandbox(monkeypatch, "finexpert.session.base", "finexpert.sandbox")
    fees = {"source": "fees", "name": "paid", "question": "how many fees", "columns": [{"name": "n"}]}
    fees["select"] = "SELECT count(*) AS n FROM fees"
    sales = {
        "source": "filings",
        "name": "sales",
        "question": "net sales in 2021",
        "years": [2021],
        "searches": ["net sales"],
    }
    sales["columns"] = [{"name": "year", "kind": "year"}, {"name": "amount", "unit": "million USD"}]
    said = {
        "understood": "fees over sales",
        "unclear": "",
        "missing": "",
        "parts": [fees, sales],
        "answer_kind": "number",
    }
    desk.says("source_planning", desk.fields(**said, unit="", combine="SELECT paid.n / sales.amount FROM paid, sales"))
    number = {"name": "s", "page": "P1", "quote": "Net sales | $ 500", "number": "$ 500"}
    read = {"missing": "", "numbers": [number], "computed": [], "statements": [], "rows": [["2021", "{s}"]]}
    desk.says("library_table", desk.fields(**read, answers="true", searches=[]))


def test_data_and_library_together_and_replay_without_a_model(
    places: Path, planned: None, finexpert: Any, desk: Any, own_home: Path
) -> None:
    ran = finexpert("ask", "--data", "fees.csv", "--library", "filings", QUESTION, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["value"] == 2 / 500
    assert ran.json["sources"] == ["fees", "filings"]
    calls = len(desk.calls)
    record = Path(ran.json["record"])
    again = finexpert("replay", str(record), "--json")
    assert (again.code, again.json["same"], again.json["differences"]) == (0, True, [])
    shown = finexpert("replay", record.stem)
    assert "same answer: 0.00" in shown.out
    assert len(desk.calls) == calls
    refused = finexpert("export", record.stem)
    assert refused.code == 1
    assert "several sources" in refused.err
    moved = finexpert("replay", record.stem, "--data", "fees.csv")
    assert "leave --data" in moved.err


def test_other_rows_of_a_part_are_said(places: Path, planned: None, finexpert: Any) -> None:
    ran = finexpert("ask", "--data", "fees.csv", "--library", "filings", QUESTION, "--json")
    Path("fees.csv").write_text("day,fee\n2021-01-04,1.5\n2021-01-05,2.5\n2021-01-06,2.5\n")
    os.utime("fees.csv", (1, 1))
    again = finexpert("replay", ran.json["record"], "--json")
    assert again.code == 3
    assert "the part paid of fees has other rows than then" in again.json["differences"]


def test_shown_with_sources_selects_and_pages(places: Path, planned: None, finexpert: Any) -> None:
    Path("finexpert.toml").write_text('sources = ["fees.csv", "filings"]\n')
    ran = finexpert("ask", QUESTION)
    assert ran.code == 0, ran.err
    assert "Sources: fees, filings" in ran.out
    assert "SELECT count(*) AS n FROM fees" in ran.out
    assert "Oakgate Water Inc., FY 2021, p. 1" in ran.out


def test_a_page_is_not_asked_together(places: Path, finexpert: Any) -> None:
    ran = finexpert("ask", "--data", "fees.csv", "--filing", "page.json", QUESTION)
    assert ran.code == 2
    assert "finexpert library add page.json" in " ".join(ran.err.split())


@pytest.fixture
def in_part(planned: None, desk: Any) -> None:
    read = {"missing": "net sales", "numbers": [], "computed": [], "statements": [], "rows": []}
    desk.says("library_table", desk.fields(**read, answers="false", searches=[]))


def test_a_part_of_an_answer_ends_with_exit_code_4(places: Path, in_part: None, finexpert: Any) -> None:
    asked = ("ask", "--data", "fees.csv", "--library", "filings", QUESTION)
    ran = finexpert(*asked, "--json", "--csv", "part.csv", "--out", "part")
    assert ran.code == 4, ran.err
    assert (ran.json["status"], ran.json["value"]["data"]) == ("partial", [[2]])
    assert [each["source"] for each in ran.json["missing"]] == ["filings"]
    for file in ("part.csv", "part/answer.csv", "part/answer.md"):
        assert "missing from filings: net sales in 2021" in Path(file).read_text()
    shown = finexpert(*asked)
    assert shown.code == 4
    assert "Answered in part" in shown.out
    assert "Note: missing from filings: net sales in 2021 (not found in the library: net sales" in shown.out
    again = finexpert("replay", ran.json["record"], "--json")
    assert (again.code, again.json["same"], again.json["status"]) == (4, True, "partial")
    assert again.json["missing"] == ran.json["missing"]
    assert "missing from filings: net sales" in finexpert("replay", ran.json["record"]).out


def test_so_do_a_batch_and_a_report_with_one(places: Path, in_part: None, finexpert: Any) -> None:
    Path("finexpert.toml").write_text('sources = ["fees.csv", "filings"]\n')
    Path("questions.csv").write_text(f"question\n{QUESTION}\n")
    ran = finexpert("batch", "questions.csv", "--out", "answers.jsonl")
    assert ran.code == 4, ran.err
    assert "0 of 1 answered, 1 partial" in ran.out
    assert "row 1: missing from filings: net sales in 2021" in ran.out
    row = json.loads(Path("answers.jsonl").read_text())
    assert (row["status"], json.loads(row["value"])["data"]) == ("partial", [[2]])
    assert row["reason"].startswith("missing from filings")
    Path("report.yaml").write_text(f'title: Fees\nquestions: ["{QUESTION}"]\n')
    ran = finexpert("report", "report.yaml")
    assert ran.code == 4, ran.err
    page = Path("report.html").read_text()
    assert "<b>Answered in part.</b> missing from filings" in page
    assert ">2<" in page
    assert "0 of 1 answered" in page
