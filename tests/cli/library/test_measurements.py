"""`eval retrieval` and `bench library`, over made-up filings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from finexpert.cli.bench.library import library
from finexpert.cli.eval.retrieval import retrieval
from finexpert.filings.library.index.made_up import filings
from finexpert.filings.library.store import LibraryStore


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(library)
    made.command()(retrieval)
    return made


def test_a_bench_reports_times_and_throughput(app: typer.Typer, tmp_path: Path) -> None:
    arguments = ["library", "--chunks", "200", "-n", "3", "--library", str(tmp_path), "--json"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    report = json.loads(result.stdout)
    assert report["pages"] == 40
    assert report["chunks"] >= 160
    assert set(report["searches"]) == {
        "one phrase", "three wordings", "one company and year", "words alone", "meaning alone",
    }  # fmt: skip


def test_retrieval_is_measured_and_logged(
    app: typer.Typer, tmp_path: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")
    monkeypatch.setenv("FINEXPERT_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    store = LibraryStore(tmp_path / "library", make=True)
    info, pages = next(filings(1))
    store.put(info, pages)
    store.close()
    lines = [
        {"id": page.id, "filename": page.id, "ticker": page.ticker, "fiscal_year": 2000, "question": page.pre_text[0]}
        for page in pages[:5]
    ]
    questions, out = tmp_path / "questions.jsonl", tmp_path / "out.json"
    questions.write_text("\n".join(map(json.dumps, lines)))
    arguments = ["retrieval", "--questions", str(questions), "--library", str(tmp_path / "library")]
    result = CliRunner().invoke(app, [*arguments, "--limit", "4", "--json", str(out)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    report = json.loads(out.read_text())
    assert report["config"]["questions"] == 4
    rows = {(row["form"], row["way"]): row["recall"]["1"][0] for row in report["rows"]}
    assert len(rows) == 6
    assert rows[("bare", "fused")] == 1.0
    left = CliRunner().invoke(app, [*arguments, "--limit", "4", "--rest", "--json", str(out)], catch_exceptions=False)
    assert left.exit_code == 0
    assert json.loads(out.read_text())["config"]["questions"] == 1
