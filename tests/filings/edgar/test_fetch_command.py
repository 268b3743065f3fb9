"""`finexpert library fetch`: from EDGAR, or from a list, into a library that can be searched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from finexpert.cli.library.command import library_app
from finexpert.errors import ConfigurationError, DataError, LibraryError
from finexpert.filings.edgar import fetching

Run = Callable[..., Result]
HARBOUR = "FORM 10-K\nFor the fiscal year ended June 30, 2018\n\nSales of flour rose to 1,234.\n"


@pytest.fixture
def run(here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(fetching, "EDGAR", here.addresses)
    monkeypatch.setenv("FINEXPERT_EDGAR_USER_AGENT", "Ada Example ada@example.com")
    monkeypatch.setenv("FINEXPERT_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *words: CliRunner().invoke(library_app, [str(word) for word in words])


def filings(run: Run) -> list[tuple[Any, ...]]:
    """What the library knows of its filings."""
    ran = run("list", "--json")
    assert ran.exit_code == 0, ran.output
    return [(f["id"], f["company"], f["kind"], f["fiscal_year"], f["quarter"]) for f in json.loads(ran.stdout)]


def test_fetch_list_search_and_again(run: Run, here: Any, own_home: Path) -> None:
    ran = run("fetch", "ALDR", "brc-b", "--forms", "10-K,10-Q", "--years", "2016,2022-2024")
    assert ran.exit_code == 0, ran.output
    assert f"5 fetched; {own_home / 'filings'}" in ran.stdout
    assert "note: ALDR has no 10-K for 2016, 2024" in ran.stdout
    assert "5 added; 5 pages" in ran.stdout
    assert filings(run) == [
        ("ALDR/2022/10-K", "Alder Works Inc.", "10-K", 2022, None),
        ("ALDR/2023/10-K", "Alder Works Inc.", "10-K", 2023, None),
        # The quarter after September, as the filing tags it; its symbol of then is not that of now.
        ("ALDR/2024Q1/10-Q", "Alder Works Inc.", "10-Q", 2024, 1),
        ("BRC-B/2016/10-K", "BIRCH STORES CORP", "10-K", 2016, None),
        # No tags: October is in the third quarter of a year that ends with January.
        ("BRC-B/2017Q3/10-Q", "BIRCH STORES CORP", "10-Q", 2017, 3),
    ]
    found = run("search", "net sales of lumber", "--company", "Alder", "--year", "2023")
    assert "ALDR/2023/10-K" in found.stdout
    assert "400" in found.stdout
    requests = sum(here.requests.values())
    ran = run("fetch", "ALDR", "--years", "2022-2023")
    assert ran.exit_code == 0, ran.output
    assert f"2 there already; {own_home / 'filings'}" in ran.stdout
    assert "2 in the library already; 0 pages" in ran.stdout
    # The first run read the older list of Alder, for what it has not; that list is kept.
    assert sum(here.requests.values()) == requests


def test_a_filing_of_before_documents_is_the_text_of_all_its_parts(run: Run) -> None:
    ran = run("fetch", "BRC-B", "--years", "1997", "--words-only")
    assert ran.exit_code == 0, ran.output
    assert filings(run) == [("BRC-B/1997/10-K", "BIRCH STORES CORP", "10-K", 1997, None)]


def test_a_company_without_symbol_by_its_cik(run: Run, here: Any) -> None:
    here.content["/files/company_tickers.json"] = b'{"0": {"cik_str": 7, "ticker": "X", "title": "X"}}'
    ran = run("fetch", "2002", "--json")
    assert ran.exit_code == 0, ran.output
    (fetched,) = json.loads(ran.stdout)["fetched"]
    assert (fetched["file"], fetched["symbol"]) == ("CIK0000002002_10-K_2016-01-30.htm", "")
    assert filings(run) == [("birch-stores-corp/2016/10-K", "BIRCH STORES CORP", "10-K", 2016, None)]


def test_what_is_missing_is_said_and_the_rest_added(run: Run, here: Any, tmp_path: Path) -> None:
    here.faults["aldr-20220924.htm"] = ["404"]
    ran = run("fetch", "ALDR", "BRC-B", "--years", "2022-2023", "--out", tmp_path / "out")
    assert ran.exit_code == 1
    assert "missing: BRC-B has no 10-K for 2022-2023; EDGAR lists it for 1997, 2016" in ran.stdout
    assert "failed: the 10-K of ALDR for 2022-09-24 could not be fetched" in ran.stdout
    assert f"1 fetched, 1 failed; {tmp_path / 'out'}" in ran.stdout
    assert [id for id, *_ in filings(run)] == ["ALDR/2023/10-K"]


def test_nothing_found_makes_no_library(run: Run, tmp_path: Path) -> None:
    ran = run("fetch", "ALDR", "--forms", "20-F")
    assert ran.exit_code == 1
    assert "missing: ALDR has no 20-F" in ran.stdout
    assert not (tmp_path / "library").exists()


def test_a_changed_file_is_said_and_not_added(run: Run, tmp_path: Path) -> None:
    run("fetch", "ALDR", "--out", tmp_path / "out")
    (tmp_path / "out" / "ALDR_10-K_2023-09-30.htm").write_text("<p>Net sales were 999</p>")
    ran = run("fetch", "ALDR", "--out", tmp_path / "out", "--library", tmp_path / "other")
    assert ran.exit_code == 1
    assert "1 changed on disk" in ran.stdout
    assert not (tmp_path / "other").exists()
    ran = run("fetch", "--from-index", tmp_path / "out" / "manifest.ndjson", "--library", tmp_path / "other")
    assert ran.exit_code == 1
    assert "its checksum is another one" in ran.stdout


def test_a_manifest_is_added_without_a_network(run: Run, here: Any, tmp_path: Path, monkeypatch: Any) -> None:
    run("fetch", "BRC-B", "--forms", "10-Q", "--out", tmp_path / "out", "--library", tmp_path / "first")
    monkeypatch.delenv("FINEXPERT_EDGAR_USER_AGENT")
    requests = sum(here.requests.values())
    ran = run("fetch", "--from-index", tmp_path / "out" / "manifest.ndjson")
    assert ran.exit_code == 0, ran.output
    assert filings(run) == [("BRC-B/2017Q3/10-Q", "BIRCH STORES CORP", "10-Q", 2017, 3)]
    assert sum(here.requests.values()) == requests


def test_a_folder_of_fetched_files_can_be_added_as_any_other(run: Run, tmp_path: Path) -> None:
    run("fetch", "ALDR", "--out", tmp_path / "out", "--library", tmp_path / "first")
    ran = run("add", tmp_path / "out")
    assert ran.exit_code == 0, ran.output
    assert "1 added" in ran.stdout


def test_a_table_goes_before_what_a_file_says(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(HARBOUR)
    table = tmp_path / "list.csv"
    table.write_text(
        '\ufeffPath,Ticker,Company,Form,Fiscal year,Note\nin/a.txt,hrbm,"Harbour Mills, Inc.",10-K/A,FY2019,x\n,,,,,\n'
    )
    ran = run("fetch", "--from-index", table)
    assert ran.exit_code == 0, ran.output
    assert filings(run) == [("HRBM/2019/10-K-A", "Harbour Mills, Inc.", "10-K/A", 2019, None)]


def test_a_file_of_a_table_that_is_not_there_does_not_stop_the_others(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(HARBOUR)
    (tmp_path / "list.csv").write_text("path,symbol\nnone.txt,X\na.txt,HRBM\n")
    ran = run("fetch", "--from-index", tmp_path / "list.csv")
    assert ran.exit_code == 1
    assert "cannot read" in ran.stdout
    assert [id for id, *_ in filings(run)] == ["HRBM/2018/10-K"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "file name,symbol\na.txt,X\n", "has no column `path`, but file name, symbol"),
        ("a.csv", "path,year\na.txt,soon\n", "line 2 of .*'soon' is no fiscal year"),
        ("a.csv", "path,quarter\na.txt,5\n", "line 2 of .*'5' is no quarter"),
        ("a.csv", "path,company\na.txt,Alder, Inc.\n", "line 2 of .* more cells .*quotes"),
        ("a.csv", "path,symbol\n,X\n", "line 2 of .* has no path"),
        ("a.csv", "path,sha256\na.txt,12\n", "line 2 of .* is no SHA-256"),
        ("a.csv", "path\n", "names no file"),
        ("a.csv", "", "has no column `path`"),
        ("a.csv", b"path\n\xff\xfe\n", "is no table of CSV in UTF-8"),
        ("a.tsv", "path\n", "neither a manifest .* nor a table"),
        ("a.ndjson", "{}\n", "line 1 of .* none of a manifest"),
        ("a.ndjson", None, "cannot use .*a.ndjson"),
        ("a.csv", None, "cannot read .*a.csv"),
    ],
)  # fmt: skip
def test_a_list_that_is_none(run: Run, tmp_path: Path, name: str, text: str | bytes | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = run("fetch", "--from-index", tmp_path / name)
    with pytest.raises(LibraryError, match=said):
        raise ran.exception or AssertionError(ran.output)
    assert not (tmp_path / "library").exists()


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (("NOPE",), DataError, "EDGAR lists no company under 'NOPE'"),
        (("ALDR", "--years", "2024-2021"), DataError, "'2024-2021' names no years"),
        (("ALDR", "--forms", ","), DataError, "names no forms"),
    ],
)
def test_what_cannot_be_asked(run: Run, here: Any, words: tuple[str, ...], error: type[Exception], said: str) -> None:
    ran = run("fetch", *words)
    with pytest.raises(error, match=said):
        raise ran.exception or AssertionError(ran.output)
    assert set(here.requests) <= {"company_tickers.json"}


def test_without_a_user_agent(run: Run, here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FINEXPERT_EDGAR_USER_AGENT")
    assert isinstance(run("fetch", "ALDR").exception, ConfigurationError)
    assert not here.requests


@pytest.mark.parametrize("words", [(), ("ALDR", "--from-index", "a.csv")])
def test_symbols_or_a_list(run: Run, words: tuple[str, ...]) -> None:
    assert run("fetch", *words).exit_code == 2
