"""`finexpert library companies`: a table is taken whole or not at all, and names are understood by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from sample_library import write_sample
from typer.testing import CliRunner

from finexpert.cli.library.companies import companies
from finexpert.embeddings.embedding import embedder
from finexpert.errors import LibraryError
from finexpert.filings.library.adding import add_files
from finexpert.filings.library.library import Library

app = typer.Typer()
app.command()(companies)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_sample(tmp_path / "sample")[1]


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_table_is_taken_and_used(tmp_path: Path, table: Path) -> None:
    folder = tmp_path / "library"
    assert "6 companies taken" in run(table, "--library", folder)
    found = json.loads(run("--library", folder, "--find", "Did Quillstone beat HRBX?", "--json"))
    assert [(one["words"], one["ticker"]) for one in found] == [("Quillstone", "QLTN"), ("HRBX", "HRBX")]
    assert "Oakgate" in run("--library", folder)
    assert {one["filings"] for one in json.loads(run("--library", folder, "--json"))} == {False}
    assert "Nobody" in run("--library", folder, "--find", "rain")


def test_pages_that_were_added_before_their_table_are_added_again(tmp_path: Path, table: Path) -> None:
    folder, pages = tmp_path / "library", tmp_path / "pages.jsonl"
    record = {"filename": "QLTN/2020/page_1.pdf", "pre_text": ["all is well ."], "table": [], "post_text": []}
    pages.write_text(json.dumps(record), encoding="utf-8")
    with Library.open(folder, embedder=embedder("words"), make=True) as made:
        assert [added.outcome for added in add_files(made, [pages])] == ["added"]
    assert f"library add {pages}, into this library, for 1 filings" in " ".join(run(table, "--library", folder).split())
    with Library.open(folder, embedder=embedder("words")) as known:
        assert [added.outcome for added in add_files(known, [pages])] == ["replaced"]
        assert "Quillstone" in known.filings()[0].company
    assert "--find NAME" in run(table, "--library", folder)


def test_a_bad_table_leaves_the_earlier_one(tmp_path: Path, table: Path) -> None:
    folder = tmp_path / "library"
    run(table, "--library", folder)
    bad = tmp_path / "bad.csv"
    bad.write_text("Symbol\nX\n", encoding="utf-8")
    with pytest.raises(LibraryError, match="no column Security"):
        run(bad, "--library", folder)
    assert (folder / "companies.csv").read_bytes() == table.read_bytes()
    assert [path.name for path in folder.glob(".*")] == []
