"""`eval cache`: the table, the JSON and the MLflow runs of the labelled pairs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from finexpert.cli.evaluate_cache import cache
from finexpert.errors import DataError

SCENARIO = {
    "scenario": "one", "split": "train", "source": "fred", "as_of": "2024-09-30",
    "question": "What was GDP in 2019?", "same": ["How high was GDP in 2019?", "GDP of 2019, if I may ask?"],
    "near": [["year", "What was GDP in 2018?"]],
}  # fmt: skip


@pytest.fixture
def app(tmp_path: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")
    monkeypatch.setenv("FINEXPERT_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    (tmp_path / "pairs.jsonl").write_text(json.dumps(SCENARIO))
    made = typer.Typer()
    made.command()(cache)
    return made


def test_pairs_are_measured_shown_and_logged(app: typer.Typer, tmp_path: Path) -> None:
    out = tmp_path / "cache.json"
    arguments = ["--pairs", str(tmp_path / "pairs.jsonl"), "--json", str(out), "--show"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "1/2" in result.stdout
    assert "0/1" in result.stdout
    assert "GDP of 2019, if I may ask?\n  miss: " in result.stdout
    rows = {row["way"]: row for row in json.loads(out.read_text())["rows"]}
    assert rows["cache"]["hits"][:2] == [1, 2]
    assert rows["cache"]["false_hits"][:2] == [0, 1]
    assert rows["text"]["hits"][:2] == [0, 2]
    import mlflow

    runs = mlflow.MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/mlflow.db").search_runs(["1"])
    told = {run.data.params.get("way"): run.data.metrics for run in runs}
    assert told["cache"]["hits_share"] == 0.5
    assert told["cache"]["false_hits_share"] == 0.0


def test_a_split_without_scenarios_is_refused(app: typer.Typer, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["--pairs", str(tmp_path / "pairs.jsonl"), "--split", "holdout"])
    assert result.exit_code == 2
    assert "no scenario" in result.output


def test_what_is_saved_in_conversations_is_counted(app: typer.Typer, tmp_path: Path) -> None:
    page = {"filename": "X/2019/page_1.pdf", "pre_text": ["Sales."], "post_text": [], "table_ori": [["", "2019"], ["net sales", "5"], ["costs", "3"]]}  # fmt: skip
    page["table"] = page["table_ori"]

    def talk(number: int, questions: list[str], answers: list[float]) -> dict[str, object]:
        turns = {"dialogue_break": questions, "turn_program": [str(a) for a in answers], "exe_ans_list": answers}
        return {**page, "id": f"Single_X/2019/page_1.pdf-{number}", "annotation": turns}

    first = talk(1, ["what were net sales in 2019?", "what were they in 2018?"], [5.0, 3.0])
    # The same in other words and a repetition whose gold differs; what refers to another turn is no hit.
    second = talk(2, ["how high were net sales in 2019?", "what were they in 2018?", "what were net sales in 2019?"], [5.0, 3.0, 4.0])  # fmt: skip
    (tmp_path / "talks.json").write_text(json.dumps([first, second]))
    arguments = ["--pairs", str(tmp_path / "pairs.jsonl"), "--records", str(tmp_path / "talks.json")]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "2 conversations over 1 pages: 2 of 5 turns" in result.stdout
    assert "1 of them as gold has it" in result.stdout


def test_conversations_that_are_not_there_are_told_with_what_to_do(app: typer.Typer, tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text('{"a":')
    for name, said in (("none.json", "there is no file"), ("half.json", "is not JSON")):
        arguments = ["--pairs", str(tmp_path / "pairs.jsonl"), "--records", str(tmp_path / name)]
        with pytest.raises(DataError, match=rf"{said}.*finexpert data convfinqa.*--records FILE"):
            CliRunner().invoke(app, arguments, catch_exceptions=False)
