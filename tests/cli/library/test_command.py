from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from finexpert.cli.library.command import library_app

Run = Callable[..., Result]

REPORT = """FORM 10-K
For the fiscal year ended June 30, 2018

HARBOUR MILLS INC
(Exact name of registrant as specified in its charter)

Flour sales rose.

                  2018       2017
Net sales        1,234      1,181
Feed               500        480
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    (tmp_path / "filings").mkdir()
    path = tmp_path / "filings" / "HRBM_10-K_2018.txt"
    path.write_text(REPORT)
    return path


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("FINEXPERT_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *words: CliRunner().invoke(library_app, [str(word) for word in words])


def as_json(ran: Result) -> Any:
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def test_add_list_show_search_remove(run: Run, report: Path) -> None:
    ran = run("add", report.parent)
    assert ran.exit_code == 0, ran.output
    assert "1 added; 1 pages" in ran.stdout
    assert re.search(
        r"^1 pages added in .* s, .* a second; \d chunks indexed in .* s, .* a second$", ran.stdout, re.MULTILINE
    )
    (filing,) = as_json(run("list", "--json"))
    assert (filing["id"], filing["company"], filing["fiscal_year"]) == ("HRBM/2018/10-K", "HARBOUR MILLS INC", 2018)
    assert "FY 2018" in run("list").stdout
    assert "HRBM/2018/10-K/page_1" in run("show", "HRBM/2018/10-K").stdout
    assert "r1: c0=Net sales | c1=1,234 | c2=1,181" in run("show", "HRBM/2018/10-K/page_1").stdout
    (hit,) = as_json(run("search", "net sales", "--company", "Harbour Mills", "--year", "2018", "--json"))
    assert hit["page"] == "HRBM/2018/10-K/page_1"
    assert "HARBOUR MILLS INC, FY 2018, p. 1" in run("search", "net sales", "--company", "hrbm").stdout
    assert "removed: HRBM/2018/10-K, 1 page\n" in run("remove", "HRBM/2018/10-K").stdout
    assert "The library is empty. Next: finexpert library add PATH" in run("list").stdout
    assert "Nothing was found" in run("search", "net sales").stdout


def test_adding_again_says_what_is_the_same(run: Run, report: Path) -> None:
    run("add", report)
    copy = report.with_name("copy.txt")
    copy.write_text(REPORT)
    ran = run("add", report.parent)
    assert f"in the library already: HRBM/2018/10-K: same as HRBM/2018/10-K ({report})" in ran.stdout
    assert ran.stdout.endswith("2 in the library already; 0 pages\n")


def test_a_broken_file_is_named_at_the_end_with_exit_code_1(run: Run, report: Path) -> None:
    broken = report.with_name("broken.pdf")
    broken.write_bytes(b"%PDF-1.4 nothing")
    ran = run("add", report.parent)
    assert ran.exit_code == 1
    assert f"failed: {broken}: cannot read {broken}: it is broken or no PDF" in ran.stdout
    assert "1 failed, 1 added; 1 pages" in ran.stdout or "1 added, 1 failed; 1 pages" in ran.stdout
    assert len(as_json(run("list", "--json"))) == 1


def test_what_is_given_goes_before_what_the_file_says(run: Run, report: Path) -> None:
    run("add", report, "--year", "2020", "--ticker", "hm", "--company", "Harbour", "--kind", "annual report")
    (filing,) = as_json(run("list", "--json"))
    assert (filing["id"], filing["company"], filing["kind"]) == ("HM/2020/annual-report", "Harbour", "annual report")


def test_the_size_of_chunks_is_that_of_the_library(run: Run, report: Path) -> None:
    assert run("add", report, "--chunk-size", "500").exit_code == 0
    ran = run("add", report, "--chunk-size", "800")
    assert "chunks of 500 characters with an overlap of 100, not 800/160" in str(ran.exception)
    assert "chunks of 0 characters" in str(run("add", report, "--chunk-size", "0").exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list",), "there is no library in"),
        (("search", "sales"), "there is no library in"),
        (("add", "empty"), "/empty: these are read: .htm, .html"),
    ],
)
def test_what_is_missing_is_said(run: Run, words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = run(*(tmp_path / word if word == "empty" else word for word in words))
    assert message in str(ran.exception)
    assert not (tmp_path / "library").exists()


def test_a_filter_that_names_nothing_is_refused(run: Run, report: Path) -> None:
    run("add", report)
    assert "no company 'Qwertz' is known" in str(run("search", "sales", "--company", "Qwertz").exception)
    assert "--kind is table or text, not picture" in run("search", "sales", "--kind", "picture").output
